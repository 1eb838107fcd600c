"""What a run says of itself, and how it fits a terminal."""

import csv
import json
import re

import pytest
from rich.console import Console

from tests.cli.streams import rows, thalweg, written
from thalweg.report.console import print_sentence

LINES = rows()
HINT = (
    "Figures cannot be drawn, as altair, which draws them, is not installed on this "
    "machine: pip install 'thalweg[report]'. Or do without: --missing skip does not."
)


@pytest.fixture
def stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "stream.csv", LINES)


def test_the_rate_follows_from_the_rows_and_the_seconds(stream):
    done = thalweg("run", "stream.csv", "-t", "y", "--no-report")
    found = re.search(
        r"300 rows in ([0-9.]+) s, with reading and saving: about ([0-9,]+) rows a sec",
        done.output,
    )
    seconds, rate = float(found[1]), float(found[2].replace(",", ""))
    # Two decimals of the seconds are shown, and two digits of the rate.
    assert 300 / (seconds + 0.005) * 0.94 <= rate <= 300 / (seconds - 0.005) * 1.06
    told = json.loads(
        thalweg("run", "stream.csv", "-t", "y", "--no-report", "--json").output
    )
    assert told["rows_per_second"] == told["new_rows"] / told["seconds"]


def test_a_run_that_has_nothing_new_says_so(stream):
    thalweg("run", "stream.csv", "-t", "y", "--no-report")
    resume = ("--resume", "out/stream/model.thalweg", "--no-report")
    done = thalweg("run", "stream.csv", *resume)
    assert "No new row in stream.csv: all 300 were seen.\n" in done.output
    assert "a second" not in done.output


def test_rows_before_are_named_where_they_count(stream):
    written(stream.parent / "a.csv", LINES[:201])
    written(stream.parent / "b.csv", [LINES[0], *LINES[201:]])
    thalweg("run", "a.csv", "-t", "y", "--no-report")
    resume = ("--resume", "out/a/model.thalweg", "--next", "--no-report")
    done = thalweg("run", "b.csv", *resume)
    assert "b.csv and the 200 rows before it: y, 260 rows scored" in done.output
    assert "100 rows in" in done.output


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_times_are_written_with_their_offset(stream, suffix):
    lines = [line.replace(":00,", ":00+02:00,", 1) for line in LINES]
    written(stream, lines)
    said = ("--predictions", f"said.{suffix}", "--no-report")
    done = thalweg("run", "stream.csv", "-t", "y", "--time", "when", *said)
    assert done.exit_code == 0, done.output
    study = json.loads((stream.parent / "out/stream/study.json").read_text())[0]
    assert study["start"] == "2024-01-01T00:00:00+02:00"
    if suffix == "csv":
        with (stream.parent / "said.csv").open() as file:
            times = [row["time"] for row in csv.DictReader(file)]
        assert times[:2] == ["2024-01-01T00:00:00+02:00", "2024-01-01T01:00:00+02:00"]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_sentence_is_broken_where_the_terminal_ends(capsys, width):
    print_sentence(Console(width=width), HINT, "• ")
    shown = capsys.readouterr().out
    assert " ".join(shown.split()) == f"• {HINT}"
    assert "pip install 'thalweg[report]'" in shown and "--missing skip" in shown
    assert max(map(len, shown.splitlines())) <= width


def test_a_path_that_is_too_long_stays_whole(capsys):
    path = "a/very/long/path-of/which/nothing/must/be/broken/model.thalweg"
    print_sentence(Console(width=30), f"It is in {path}.")
    assert path in capsys.readouterr().out


def test_an_error_is_broken_for_terminals_only(stream, monkeypatch):
    wrong = ("run", "stream.csv", "-t", "y", "--features", "when")
    piped = thalweg(*wrong).stderr
    assert len(piped.splitlines()) == 1 and len(piped) > 80
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = thalweg(*wrong).stderr
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 80
    assert plain.split() == piped.split()
