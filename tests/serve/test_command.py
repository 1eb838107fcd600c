"""``thalweg serve``: its options, its start and its end."""

import gc
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

import thalweg as tw
from tests.serve.server_process import post_json, serving
from thalweg.cli.main import app
from thalweg.cli.serve import parse_learner, read_token
from thalweg.errors import InvalidParameterError
from thalweg.keyed import KeyedModels


@pytest.fixture
def run():
    """Run the command in this process, whose collector is then as it was."""
    thresholds = gc.get_threshold()
    yield lambda *arguments: CliRunner().invoke(app, ["serve", *map(str, arguments)])
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_and_what_was_acknowledged_stays(tmp_path, end):
    path = tmp_path / "m.sqlite"
    learner = "RecursiveLeastSquares(discount=0.9)"
    with serving(path, "--learner", learner) as (address, process):
        answer = post_json(
            f"{address}/v1/models/k/observe", {"x": [1.0], "y": 2.0, "seq": 5}
        )
        assert answer["outcome"] == "learnt"
        events = urllib.request.urlopen(f"{address}/v1/models/k/events", timeout=30)
        assert events.readline().startswith(b"data: ")  # a page that is open
        process.send_signal(end)
        assert process.wait(20) in (128 + end, -end)
        assert "Traceback" not in process.stderr.read()
    with KeyedModels(path) as models:
        assert models.learner == tw.RecursiveLeastSquares(discount=0.9)
        assert models.last_seq("k") == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "--token-file"),
        (["--learner", "Nobody"], "--learner takes the name of a learner"),
        (["--missing", "perhaps"], "--missing takes"),
        (["--token-file", "no-such-file"], "No such file"),
        (["--token-file", "short"], "at least 16 characters"),
    ],
)
def test_what_is_wrong_with_an_option_is_a_sentence(
    tmp_path, monkeypatch, run, arguments, words
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("secret\n")
    done = run("m.sqlite", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr.replace("\n", " ") and "secret" not in done.stderr
    assert not (tmp_path / "m.sqlite").exists()


def test_a_file_that_is_in_use_is_a_sentence(tmp_path, run):
    with KeyedModels(tmp_path / "m"):
        done = run(tmp_path / "m")
    assert done.exit_code == 2 and str(tmp_path / "m") in done.stderr


def test_a_port_that_is_taken_is_a_sentence(tmp_path, run):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run(tmp_path / "m", "--port", port)
    assert done.exit_code == 2 and f"port {port}" in done.stderr
    KeyedModels(tmp_path / "m").close()  # the file is free again


def test_the_extra_is_named_where_fastapi_is_missing(tmp_path):
    code = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['thalweg', 'serve', "
        f"{str(tmp_path / 'm')!r}]; from thalweg.cli.program import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'thalweg[serve]'" in done.stderr


def test_the_token_may_come_from_the_environment(monkeypatch):
    assert read_token(None) is None
    monkeypatch.setenv("THALWEG_TOKEN", "a-token-of-a-good-length\n")
    assert read_token(None) == "a-token-of-a-good-length"


@pytest.mark.parametrize(
    "learner",
    [
        tw.Tracker(),
        tw.RecursiveLeastSquares(half_life=20.0, floor=0.1),
        tw.learners.SlidingWindow(30),
    ],
)
def test_what_a_learner_prints_is_an_option(learner):
    assert parse_learner(repr(learner)) == learner


@pytest.mark.parametrize(
    "text",
    ["", "Learner", "Tracker(", "Tracker(1)", "Tracker(nothing=1)", "__import__('os')",
     "RecursiveLeastSquares(discount=__import__('os'))", "tw.Tracker()"],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidParameterError, match="--learner takes"):
        parse_learner(text)


def test_a_setting_out_of_range_is_refused_by_the_learner():
    with pytest.raises(InvalidParameterError, match="discount"):
        parse_learner("RecursiveLeastSquares(discount=2)")
