"""Outputs that exist and are no regular files are refused before any row is read."""

import subprocess

import pytest

from tests.cli.streams import rows, started, thalweg, written
from tests.persistence.special_files import KINDS, identity, make_special_file
from thalweg.runs.session import Session


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "s.csv", rows())
    return tmp_path


def refused(here, *arguments):
    """The error message of a command that must change nothing."""
    before = {path: identity(path) for path in here.rglob("*")}
    done = thalweg(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert {path: identity(path) for path in here.rglob("*")} == before
    return done.stderr


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "what", "options"),
    [
        ("m", "model", "--model m"),
        ("p.csv", "predictions", "--predictions p.csv"),
        ("p.parquet", "predictions", "--predictions p.parquet"),
        ("p.parquet.part", "lines of predictions", "--predictions p.parquet"),
        ("study.json", "study", "--out ."),
        ("report.html", "page", "--out ."),
    ],
)
def test_a_run_refuses_an_output_that_is_no_regular_file(
    here, kind, name, what, options, monkeypatch
):
    make_special_file(here, kind, name)
    monkeypatch.setattr(Session, "play", None)  # no row is played before
    message = refused(here, "run", "s.csv", "-t", "y", *options.split())
    assert message == (
        f"The {what} ({name}) cannot be written: it is {KINDS[kind]}, and only a "
        f"regular file is replaced. Write elsewhere: --out, --predictions or --model.\n"
    )


@pytest.mark.parametrize("name", ["study.json", "report.html"])
def test_compare_refuses_an_output_that_is_no_regular_file(here, name, monkeypatch):
    make_special_file(here, "socket", name)
    monkeypatch.setattr("thalweg.runs.compare_command.compare_with_progress", None)
    message = refused(here, "compare", "s.csv", "-t", "y", "--out", ".")
    assert f"({name}) cannot be written: it is a socket" in message


def test_a_report_refuses_a_page_that_is_no_regular_file(here):
    (here / "study.json").write_text("[]")
    make_special_file(here, "socket", "report.html")
    message = refused(here, "report", "study.json")
    assert "The page (report.html) cannot be written: it is a socket" in message


def test_standard_output_takes_no_model(here):
    with (here / "log").open("wb") as log:
        run = started(
            "run", "s.csv", "-t", "y", "--model", "/dev/stdout",
            cwd=here, stdout=log, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        complaint = run.communicate()[1]
    assert run.returncode == 2 and (here / "log").read_bytes() == b""
    assert complaint == (
        "The model (/dev/stdout) would replace what standard output goes to. Write "
        "elsewhere: --out, --predictions or --model.\n"
    )
    assert not (here / "out").exists()
