"""Whatever surrounds a command, it ends with results or with one sentence."""

import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tests.cli.streams import rows, thalweg, written
from thalweg.cli.main import app
from thalweg.runs.session import TrackerRun

ARGUMENTS = ("run", "s.csv", "-t", "y", "--no-report")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "s.csv", rows())
    return tmp_path


def with_environment(*arguments, charset="utf-8", **environment):
    """The outcome of a command where streams have this encoding."""
    runner = CliRunner(charset=charset, env={"TERM": "dumb", **environment})
    return runner.invoke(app, arguments)


def refused(*arguments):
    """The one sentence by which a command refuses to work."""
    done = thalweg(*arguments)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert done.stderr.count("\n") == 1
    return done.stderr


def in_process(*arguments, closed=(), **pipes):
    """The outcome of a command in a process of its own, without some of its streams."""

    def close_streams():
        for descriptor in closed:
            os.close(descriptor)

    return subprocess.run(
        [sys.executable, "-m", "thalweg.cli", *arguments, "--no-report"],
        preexec_fn=close_streams, text=True, **pipes,
    )  # fmt: skip


@pytest.fixture
def no_tracker(monkeypatch):
    """A Tracker would need its memory: none is made."""

    def fail(*arguments):
        pytest.fail("a Tracker was made")

    monkeypatch.setattr(TrackerRun, "__init__", fail)


def test_a_file_of_a_hundred_thousand_columns_is_refused(here, no_tracker):
    names = ",".join(f"c{k}" for k in range(100_000))
    row = ",".join(["1"] * 100_000)
    (here / "wide.csv").write_text(f"{names},y\n{row},1\n{row},2\n{row},3\n")
    message = refused("run", "wide.csv", "-t", "y")
    assert message.startswith("wide.csv has 100,001 columns. A table may have at most ")


def test_a_delay_for_which_no_memory_suffices_is_refused(here, no_tracker):
    message = refused(*ARGUMENTS, "--delay", "1000000000000")
    assert message.startswith("A delay of 1,000,000,000,000 rows would need ")
    assert "Give a smaller --delay" in message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--lags 1,2,3", "s.csv gives 14 features"),
        ("--categories 100000", "s.csv gives 100,007 features"),
        ("--lags none --delay 100", "A delay of 100 rows would need"),
    ],
)
def test_what_does_not_fit_in_the_memory_that_is_free_is_refused(
    here, no_tracker, monkeypatch, options, words
):
    monkeypatch.setattr("thalweg.runs.memory.free_memory", lambda: 1_200_000)
    assert words in refused(*ARGUMENTS, *options.split())


def test_too_few_rows_for_the_lags_are_refused_before_a_tracker_is_made(
    here, no_tracker
):
    lags = ",".join(map(str, range(1, 3001)))
    assert refused(*ARGUMENTS, "--lags", lags) == (
        "s.csv has 300 rows; with lags up to 3,000, at least 3,002 are needed.\n"
    )


def test_memory_that_runs_out_is_one_sentence(here, monkeypatch):
    def fail(*arguments):
        raise MemoryError("Unable to allocate 640. TiB")

    monkeypatch.setattr(TrackerRun, "__init__", fail)
    assert refused(*ARGUMENTS) == (
        "There is not enough memory: Unable to allocate 640. TiB. Use fewer columns "
        "(--features), lags or categories, or a shorter delay.\n"
    )


def test_standard_input_that_is_closed_is_named(here):
    done = in_process("run", "-", "-t", "y", closed=(0,), capture_output=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Standard input is closed: there is nothing to read.\n"


def test_predictions_of_a_pipe_need_standard_output(here):
    done = in_process(
        "run", "-", "-t", "y", "--no-report", closed=(1,),
        stderr=subprocess.PIPE, input="".join(rows(60)),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2,
        "Standard output is closed, and the predictions go there. If nobody needs "
        "them, send them to /dev/null.\n",
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_a_run_over_a_file_needs_no_streams(here, closed):
    done = in_process(*ARGUMENTS, closed=closed, capture_output=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stdout + done.stderr
    assert (here / "out/s/study.json").exists()


@pytest.mark.parametrize("arguments", [ARGUMENTS, ("--help",), ("run", "--help")])
def test_ascii_is_enough_to_show_results(here, arguments):
    wide = with_environment(*arguments, COLUMNS="80")
    done = with_environment(*arguments, charset="ascii", COLUMNS="80")
    assert done.exit_code == 0, done.output
    assert done.output.isascii() and "\\u" not in done.output
    assert words(done.output) >= words(wide.output)


def words(text):
    return set(re.findall("[A-Za-z]{4,}", text))


def test_names_that_ascii_lacks_are_escaped(here):
    lines = rows(60)
    lines[0] = lines[0].replace("y", "größe")
    done = subprocess.run(
        [sys.executable, "-m", "thalweg.cli", "run", "-", "-t", "größe", "-t", "a",
         "--no-report"],
        input="".join(lines).encode(), capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"row,time,gr\\xf6\\xdfe prediction,")


@pytest.mark.parametrize("arguments", [ARGUMENTS, ("--help",), ("run", "--help")])
@pytest.mark.parametrize("columns", ["0", "1", "7"])
def test_a_terminal_without_width_is_written_to(here, arguments, columns):
    done = with_environment(*arguments, COLUMNS=columns)
    assert done.exit_code == 0, done.exception
    assert "run" in done.output or "s.csv" in done.output


def test_no_columns_are_the_usual_ones(here):
    usual = with_environment("run", "--help", COLUMNS="80").output
    assert with_environment("run", "--help", COLUMNS="0").output == usual
