"""Nothing that is read is written over, and no file has two writers."""

import errno
import os
import resource
import signal
import subprocess

import pytest

from tests.cli.streams import rows, started, thalweg, written
from thalweg.errors import StorageError
from thalweg.persistence.lock import FileLock
from thalweg.runs.prediction_columns import PredictionColumns
from thalweg.runs.prediction_file import PredictionFile
from thalweg.runs.storage import FileLocks

LINES = rows()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "s.csv", LINES)
    (tmp_path / "m").mkdir()
    written(tmp_path / "m/predictions.csv", LINES)
    written(tmp_path / "m/study.json", LINES)
    (tmp_path / "link.csv").symlink_to("s.csv")
    os.link(tmp_path / "s.csv", tmp_path / "hard.csv")
    return tmp_path


def refused(here, *arguments):
    """The error message of a command that must write nothing."""
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    done = thalweg(*arguments)
    after = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert (done.exit_code, done.stdout) == (2, "")
    assert after == before
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "what", "path", "source"),
    [
        ("s.csv --predictions s.csv", "predictions", "s.csv", "s.csv"),
        ("s.csv --predictions m/../s.csv", "predictions", "m/../s.csv", "s.csv"),
        ("s.csv --predictions link.csv", "predictions", "link.csv", "s.csv"),
        ("link.csv --predictions s.csv", "predictions", "s.csv", "link.csv"),
        ("s.csv --predictions hard.csv", "predictions", "hard.csv", "s.csv"),
        ("s.csv --model s.csv", "model", "s.csv", "s.csv"),
        (
            "m/predictions.csv --out m",
            "predictions", "m/predictions.csv", "m/predictions.csv",
        ),
        ("m/study.json --format csv --out m", "study", "m/study.json", "m/study.json"),
    ],
)  # fmt: skip
def test_the_source_is_not_written_over(here, arguments, what, path, source):
    assert refused(here, "run", *arguments.split(), "-t", "y") == (
        f"The {what} ({path}) would replace the source ({source}): they are one file. "
        f"Write elsewhere: --out, --predictions or --model.\n"
    )


def test_two_outputs_are_two_files(here):
    both = ("--predictions", "a.csv", "--model", "a.csv")
    assert refused(here, "run", "s.csv", "-t", "y", *both).startswith(
        "The predictions (a.csv) would replace the model (a.csv): they are one file."
    )
    part = ("--predictions", "a.parquet", "--model", "a.parquet.part")
    assert "they are one file" in refused(here, "run", "s.csv", "-t", "y", *part)
    study = ("--out", "new", "--model", "new/study.json")
    assert "The study" in refused(here, "run", "s.csv", "-t", "y", *study)


def test_what_comes_through_a_pipe_from_a_file_is_not_written_over(here):
    with (here / "s.csv").open("rb") as source:
        run = started(
            "run", "-", "-t", "y", "--predictions", "s.csv",
            cwd=here, stdin=source, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        complaint = run.communicate()[1]
    assert run.returncode == 2 and "would replace the source (-)" in complaint
    assert (here / "s.csv").read_text() == "".join(LINES)


def test_predictions_of_the_run_before_are_not_written_over(here):
    assert thalweg("run", "s.csv", "-t", "y", "--no-report").exit_code == 0
    resume = ("--resume", "out/s/model.thalweg", "--out", "new")
    model = ("--model", "out/s/predictions.csv")
    complaint = refused(here, "run", "s.csv", *resume, *model)
    assert "would replace the predictions of the run before" in complaint


def test_compare_does_not_write_over_its_source(here):
    compared = ("compare", "m/study.json", "--format", "csv", "-t", "y", "--out", "m")
    assert refused(here, *compared) == (
        "The study (m/study.json) would replace the source (m/study.json): they are "
        "one file. Write elsewhere: --out.\n"
    )


def test_a_page_does_not_replace_its_study(here):
    assert thalweg("run", "s.csv", "-t", "y", "--no-report").exit_code == 0
    (here / "out/s/study.json").rename(here / "report.html")
    complaint = refused(here, "report", "report.html")
    assert complaint.startswith("The page (report.html) would replace the study (")


def waiting_run(here, *options):
    """A run in a process of its own, which has saved some rows and waits for more."""
    run = started(
        "run", "-", "-t", "y", "--no-report", *options,
        cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    run.stdin.write("".join(LINES[:101]))
    run.stdin.flush()
    for _ in range(101):
        run.stdout.readline()
    while not (here / "n/model.thalweg").exists():
        assert run.poll() is None
    return run


def test_a_folder_has_one_run_at_a_time_and_a_killed_one_is_none(here):
    run = waiting_run(here, "--out", "n", "--predictions", "n/predictions.csv")
    for where in (("--out", "n"), ("--resume", "n/model.thalweg", "--next")):
        assert refused(here, "run", "s.csv", "-t", "y", *where) == (
            f"Another run, process {run.pid}, writes "
            f"{'predictions.csv' if where[0] == '--out' else 'model.thalweg'} in the "
            f"folder n. Wait until it ends, or write elsewhere: --out, --predictions "
            f"or --model.\n"
        )
    other = ("--out", "o", "--predictions", "n/predictions.csv")
    assert "writes predictions.csv" in refused(here, "run", "s.csv", "-t", "y", *other)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    resume = ("--resume", "n/model.thalweg", "--from-start", "--no-report")
    resumed = thalweg("run", "s.csv", *resume)
    assert resumed.exit_code == 0, resumed.output
    whole = ("--out", "w", "--no-report", "--missing", "skip")
    assert thalweg("run", "s.csv", "-t", "y", *whole).exit_code == 0
    both = [(here / name / "predictions.csv").read_bytes() for name in ("n", "w")]
    assert both[0] == both[1]
    assert not list(here.rglob("*.lock"))


def test_a_file_is_claimed_once_and_let_go_without_a_trace(tmp_path):
    path, beside = tmp_path / "x", tmp_path / "x.lock"
    with FileLocks() as own, FileLocks() as others:
        own.acquire(path)
        own.acquire(path)
        assert beside.read_text() == str(os.getpid())
        with pytest.raises(StorageError, match="Another run"):
            others.acquire(path)
    assert not beside.exists()


def test_a_lock_file_that_was_removed_is_no_lock(tmp_path, monkeypatch):
    made, beside = [], tmp_path / "x.lock"

    class Removed(FileLock):
        """The first of them is locked just as its holder before removes the file."""

        def __init__(self, path):
            super().__init__(path)
            made.append(self)
            if len(made) == 1:
                beside.unlink()

    monkeypatch.setattr("thalweg.runs.storage.FileLock", Removed)
    with FileLocks() as own:
        own.acquire(tmp_path / "x")
        assert len(made) == 2 and beside.exists()


def test_a_disk_that_fills_up_under_predictions_is_named(tmp_path):
    file = PredictionFile(tmp_path / "p.csv", PredictionColumns(("y",), False))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(StorageError, match=r"p.csv cannot be written: File too"):
            file.write("1,2,3,4,5\n" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        file.close()
    assert file.size == 0 == (tmp_path / "p.csv").stat().st_size


def test_a_disk_that_cannot_sync_predictions_is_named(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    file = PredictionFile(tmp_path / "p.csv", PredictionColumns(("y",), False))
    file.write("1,2,3,4,5\n")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match=r"p.csv cannot be written: Input/output"):
        file.sync()
    file.close()
