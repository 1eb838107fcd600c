"""A run is resumed only on a source whose rows seen before are what they were."""

import gzip
import os
import signal
import subprocess

import pytest

from tests.cli.streams import rows, started, thalweg, written
from tests.cli.test_resume import tree
from tests.runs.made_up import with_run
from thalweg.persistence import loads
from thalweg.runs.session import Session

LINES = rows(200)
SEEN = 120
RESUME = ("--resume", "cut/model.thalweg", "--no-report")


@pytest.fixture
def stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "s.csv", LINES[: SEEN + 1])


def first_run(*options):
    done = thalweg(
        "run", "s.csv", "-t", "y", "--out", "cut", "--no-report", *options
    )  # fmt: skip
    assert done.exit_code == 0, done.output


def with_cell(row, column, cell):
    """All lines, with another cell in a row, which counts from 1."""
    cells = LINES[row].rstrip("\n").split(",")
    cells[column] = cell
    return [*LINES[:row], ",".join(cells) + "\n", *LINES[row + 1 :]]


@pytest.mark.parametrize("row", [1, 2, 60, 119, 120])
@pytest.mark.parametrize("column", [1, 3, 4])
@pytest.mark.parametrize("options", ["", "--lags 2 --time when"])
def test_a_changed_row_among_those_seen_is_refused(stream, row, column, options):
    first_run(*options.split())
    before = {
        path.name: path.read_bytes() for path in (stream.parent / "cut").iterdir()
    }
    written(stream, with_cell(row, column, "west" if column == 3 else "7.5"))
    refused = thalweg("run", "s.csv", *RESUME)
    if options and row <= 2 and column == 1:
        assert refused.exit_code == 0  # no forecast was made from rows without a past
        return
    assert refused.exit_code == 2, refused.output
    assert "s.csv has changed since the run saw its first 120 rows: " in refused.stderr
    assert tree(stream.parent / "cut") == before


def test_the_message_says_how_far_the_rows_are_the_same(stream):
    first_run()
    written(stream, with_cell(70, 1, "9"))
    assert thalweg("run", "s.csv", *RESUME).stderr.splitlines()[-1] == (
        "s.csv has changed since the run saw its first 120 rows: the first 69 are the "
        "same, and row 70 is not. Bring back the rows as they were, or start again, "
        "without --resume. If all rows come after those seen, use --next."
    )
    written(stream, with_cell(1, 1, "9"))
    assert (
        "120 rows: row 1 is not the same. " in thalweg("run", "s.csv", *RESUME).stderr
    )


def test_of_many_rows_a_few_are_named_among_which_one_has_changed(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    lines = rows(1000)
    written(tmp_path / "s.csv", lines)
    first_run()
    lines[601] = lines[601].replace("south", "west").replace("north", "west")
    written(tmp_path / "s.csv", lines)
    message = thalweg("run", "s.csv", *RESUME).stderr
    assert "the first 600 are the same, and one of rows 601 to 608 is not" in message


def test_rows_that_were_appended_are_what_a_whole_run_sees(stream):
    first_run()
    written(stream, LINES)
    done = thalweg("run", "s.csv", *RESUME)
    assert done.exit_code == 0 and "Goes on after row 120." in done.output
    assert "no digest" not in done.output
    thalweg("run", "s.csv", "-t", "y", "--out", "whole", "--no-report")
    both = [stream.parent / name / "predictions.csv" for name in ("cut", "whole")]
    assert both[0].read_bytes() == both[1].read_bytes()


def test_rows_written_in_another_way_are_the_same(stream):
    first_run("--features", "a,b")
    changed = [line.replace("north", "N").replace(",0.", ",+0.") for line in LINES]
    stream.with_name("s.csv.gz").write_bytes(gzip.compress("".join(changed).encode()))
    done = thalweg("run", "s.csv.gz", "--from-start", *RESUME)
    assert done.exit_code == 0, done.output


def test_a_last_line_may_get_its_line_end_but_no_other_digits(stream):
    stream.write_text("".join(LINES[: SEEN + 1]).rstrip("\n"))
    first_run()
    written(stream, LINES)
    assert thalweg("run", "s.csv", *RESUME).exit_code == 0
    stream.write_text("".join(LINES[: SEEN + 1]).rstrip("\n"))
    first_run()
    stream.write_text("".join(LINES[: SEEN + 1]).rstrip("\n") + "5\n")
    refused = thalweg("run", "s.csv", *RESUME)
    assert refused.exit_code == 2
    assert "the first 119 are the same, and row 120 is not" in refused.stderr


def test_a_run_that_is_resumed_twice_still_knows_its_first_rows(stream):
    first_run()
    written(stream, LINES[:161])
    assert thalweg("run", "s.csv", *RESUME).exit_code == 0
    written(stream, with_cell(3, 1, "9"))
    refused = thalweg("run", "s.csv", *RESUME)
    assert refused.exit_code == 2 and "its first 160 rows: " in refused.stderr
    written(stream, LINES)
    assert thalweg("run", "s.csv", *RESUME).exit_code == 0


def test_the_rows_of_the_next_source_are_known_by_themselves(stream):
    first_run("--lags", "2")
    written(stream.with_name("t.csv"), [LINES[0], *LINES[SEEN + 1 : 161]])
    assert thalweg("run", "t.csv", "--next", *RESUME).exit_code == 0
    rest = [LINES[0], *LINES[SEEN + 1 :]]
    written(stream.with_name("t.csv"), rest)
    assert thalweg("run", "t.csv", *RESUME).exit_code == 0
    rest[7] = rest[7].replace("2024", "2025").replace(",0", ",1").replace(",-", ",")
    written(stream.with_name("t.csv"), rest)
    refused = thalweg("run", "t.csv", *RESUME)
    assert refused.exit_code == 2 and "t.csv has changed since" in refused.stderr


def test_an_interrupt_before_new_rows_keeps_the_digest(stream, monkeypatch):
    first_run()
    with monkeypatch.context() as patch:
        interrupt_in_verification(patch)
        stopped = thalweg("run", "s.csv", *RESUME)
    assert stopped.exit_code == 130, stopped.output
    written(stream, with_cell(70, 1, "9"))
    assert "row 70 is not" in thalweg("run", "s.csv", *RESUME).stderr


def interrupt_in_verification(patch):
    """Let a Ctrl-C come while the first rows of those seen are verified."""
    verify_rows = Session.verify_rows

    def interrupted(session, chunk):
        os.kill(os.getpid(), signal.SIGINT)
        verify_rows(session, chunk)

    patch.setattr(Session, "verify_rows", interrupted)
    patch.setattr("thalweg.runs.run_command.CHUNK_ROWS", 50)


def test_a_run_saved_without_a_digest_is_resumed_with_a_remark(stream):
    first_run()
    model = stream.parent / "cut/model.thalweg"
    saved = loads(model.read_bytes())
    run = dict(saved.extra["run"])
    run["session"] = {k: v for k, v in run["session"].items() if k != "digest"}
    model.write_bytes(with_run(saved, run))
    written(stream, LINES)
    done = thalweg("run", "s.csv", *RESUME)
    assert done.exit_code == 0
    assert "saved without a digest of its rows" in " ".join(done.stderr.split())
    written(stream, with_cell(70, 1, "9"))  # from now on they are known
    assert "one of rows 69 to 70 is not" in thalweg("run", "s.csv", *RESUME).stderr


@pytest.mark.slow
def test_a_pipe_from_the_start_is_compared_as_a_file_is(stream):
    first_run()
    for lines, code in ((LINES, 0), (with_cell(70, 1, "9"), 2)):
        process = started(
            "run", "-", "--from-start", *RESUME, "--out", "new", cwd=stream.parent,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        _, remarks = process.communicate("".join(lines).encode())
        assert process.returncode == code, remarks
    assert b"standard input has changed since the run saw its first 120" in remarks


def test_the_digest_does_not_depend_on_how_rows_are_cut(stream, monkeypatch):
    digests = []
    for chunk_rows in (7, 50, 8192):
        monkeypatch.setattr("thalweg.runs.run_command.CHUNK_ROWS", chunk_rows)
        first_run("--lags", "1,3", "--missing", "impute")
        run = loads((stream.parent / "cut/model.thalweg").read_bytes()).extra["run"]
        digests.append(run["session"]["digest"])
    assert digests[0]["rounds"] == SEEN - 3
    for other in digests[1:]:
        assert other["marks"] == digests[0]["marks"]
        assert other["last"] == digests[0]["last"]
