import json

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.accuracy import command
from benchmarks.accuracy.accuracy_streams import AccuracyStream, Scales
from benchmarks.accuracy.interval_accuracy import IntervalAccuracy
from benchmarks.accuracy.tracker_accuracy import TrackerAccuracy
from benchmarks.public_streams import MissingDataError

RUNNER = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"})


def accuracy(*arguments):
    """The outcome of the command, in this process."""
    return RUNNER.invoke(command.APP, arguments)


def noise():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    return AccuracyStream(x, y, Scales.of_stream(x, y))


def missing():
    raise MissingDataError("The stream needs a package. Run: make data")


def test_the_table_fits_and_says_what_was_left_out(monkeypatch):
    monkeypatch.setitem(
        command.REAL_SETS, "public", lambda rows: {"noise": noise, "gone": missing}
    )
    done = accuracy("--quick")
    assert done.exit_code == 0, done.output
    assert "noise" in done.stdout and "on average (median" in done.stdout
    assert "in the worst 500 rows" in done.stdout and "Winkler" in done.stdout
    assert done.stderr == "Left out, as make data was not run: gone.\n"
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("stream", "rounds", "never_forget", "shown_as"),
    [("nyc_weather", 327_346, 43.231, "43.2"),
     ("unexcited_features-0", 4000, 11718.13, "11718")],
)  # fmt: skip
def test_the_widest_numbers_of_the_table_are_not_cut(
    monkeypatch, stream, rounds, never_forget, shown_as
):
    errors = {"tracker": 0.827, "persistence": 692.5, "never_forget": never_forget}
    row = TrackerAccuracy(
        stream, 12, rounds, 0.9995, 0.0001, 0.5, errors,
        IntervalAccuracy(1.0, 0.862, 0.977), 28.4,
    )  # fmt: skip
    monkeypatch.setitem(command.REAL_SETS, "public", lambda rows: {"": noise})
    monkeypatch.setattr(command, "measure_tracker", lambda *given: row)
    shown = accuracy().stdout
    assert "…" not in shown and max(map(len, shown.splitlines())) <= 80
    for text in (stream, f"{rounds:,}", "0.827", "692.5", shown_as, "86.2%", "0.977"):
        assert text in shown


def test_no_data_at_all_name_the_command_that_brings_them(monkeypatch):
    monkeypatch.setitem(command.REAL_SETS, "public", lambda rows: {"gone": missing})
    done = accuracy()
    assert done.exit_code == 2 and done.stderr.endswith("Run: make data\n")


def test_json_holds_the_rows(monkeypatch):
    monkeypatch.setattr(command, "synthetic_streams", lambda seeds: {"noise": noise})
    done = accuracy("--set", "synthetic", "--json")
    (row,) = json.loads(done.stdout)
    assert row["stream"] == "noise" and row["tracker"] > 0
    assert 0 < row["worst_covered"] <= row["covered"] and row["winkler"] > 0


@pytest.mark.parametrize("name", ["public", "stripped", "shocked"])
def test_a_set_of_streams_is_cut_after_so_many_rows(monkeypatch, name):
    asked = []
    monkeypatch.setitem(
        command.REAL_SETS,
        name,
        lambda rows: asked.append(rows) or {"noise": noise},
    )
    done = accuracy("--set", name, "--rows", "700", "--json")
    assert done.exit_code == 0 and asked == [700]


def test_an_unknown_set_is_refused_with_those_that_there_are():
    done = accuracy("--set", "private")
    assert done.exit_code == 2
    expected = "--set takes public, stripped, shocked or synthetic. Got 'private'"
    assert expected in done.stderr


def test_synthetic_streams_are_not_cut():
    done = accuracy("--set", "synthetic", "--rows", "700")
    assert done.exit_code == 2 and "--rows is for real streams" in done.stderr


def test_rivals_need_real_streams():
    done = accuracy("--set", "shocked", "--rivals")
    assert done.exit_code == 2 and "--set public only" in done.stderr


def test_ctrl_c_shows_what_was_done_until_then(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    streams = {"noise": noise, "long": interrupted}
    monkeypatch.setitem(command.REAL_SETS, "public", lambda rows: streams)
    done = accuracy()
    assert done.exit_code == 130 and "noise" in done.stdout
    monkeypatch.setitem(command.REAL_SETS, "public", lambda rows: {"long": interrupted})
    nothing = accuracy()
    assert (nothing.exit_code, nothing.stdout) == (130, "")
    assert nothing.stderr == "Stopped.\n"
