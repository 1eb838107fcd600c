import json

import pytest

from benchmarks.accuracy import command
from benchmarks.accuracy.forecast_accuracy import ForecastAccuracy
from benchmarks.public_streams import MissingDataError
from tests.benchmarks.test_accuracy_command import accuracy

RIVALS = {
    "persistence": 2746.0, "seasonal naive": 1004.0, "long seasonal naive": 640.2,
    "theta": 1480.0, "mstl": 534.3, "ets": 550.1, "lightgbm": 470.5,
}  # fmt: skip
COVERED = {1: 0.9, 2: 0.88, 6: 0.95, 12: 0.8, 24: 0.93}


def accuracy_of(name, error=400.0, rivals=RIVALS):
    return ForecastAccuracy(name, 20_000, 200, error, rivals, COVERED, 56.0)


@pytest.fixture
def measure(monkeypatch):
    """Show these rows, in place of measuring."""

    def show(*rows):
        by_name = {row.series: row for row in rows}
        monkeypatch.setattr(
            command, "PUBLIC_SERIES", {name: lambda n=name: n for name in by_name}
        )
        monkeypatch.setattr(command, "SHORT_SERIES", list(by_name)[:1])
        monkeypatch.setattr(
            command, "measure_forecaster", lambda name, *given: by_name[name]
        )

    return show


def test_the_table_fits_and_says_what_holds_over_all_series(measure):
    small = {name: 0.06251 for name in RIVALS}
    measure(accuracy_of("electricity"), accuracy_of("sf_traffic", 0.065, small))
    done = accuracy("--horizon", "24")
    assert done.exit_code == 0 and done.stderr == ""
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    flat = " ".join(done.stdout.split())
    assert "electricity 400 2746 640.2 1480 534.3 550.1 470.5 0.850" in flat
    assert "sf_traffic 0.0650" + 6 * " 0.0625" + " 1.040" in flat
    assert "0.940 on average, at most 1.040 (sf_traffic)" in flat
    assert "87% to 93% of the values on 60% of 10 pairs" in flat
    assert "56 µs" in flat


def test_series_without_all_rivals_have_no_ratio(measure):
    few = {"persistence": 2.0, "seasonal naive": 1.0, "theta": 3.0}
    half = {name: 800.0 for name in RIVALS}
    measure(accuracy_of("airline", 0.5, few), accuracy_of("metro", 400.0, half))
    done = accuracy("--horizon", "24")
    assert "airline 0.5 2 1 3 - - - -" in " ".join(done.stdout.split())
    assert "0.500 on average, at most 0.500 (metro)" in " ".join(done.stdout.split())
    expected = "are not saved for airline. Run: make forecast-rivals"
    assert expected in " ".join(done.stderr.split())


def test_json_holds_the_rows_of_series(measure):
    measure(accuracy_of("metro"))
    (row,) = json.loads(accuracy("--horizon", "24", "--json").stdout)
    assert row["series"] == "metro" and row["rivals"] == RIVALS
    assert row["best_rival"] == "lightgbm" and row["covered"]["12"] == 0.8


def test_quick_measures_short_series_only(measure):
    measure(accuracy_of("airline"), accuracy_of("metro"))
    done = accuracy("--horizon", "24", "--quick", "--json")
    assert [row["series"] for row in json.loads(done.stdout)] == ["airline"]


def test_series_that_are_not_installed_are_named(measure, monkeypatch):
    def missing():
        raise MissingDataError("The stream needs a package. Run: make data")

    measure(accuracy_of("airline"))
    monkeypatch.setitem(command.PUBLIC_SERIES, "gone", missing)
    done = accuracy("--horizon", "24")
    assert done.exit_code == 0
    assert done.stderr == "Left out, as make data was not run: gone.\n"


@pytest.mark.parametrize(
    "others", [("--rivals",), ("--rows", "700"), ("--set", "shocked")]
)
def test_a_horizon_goes_with_no_choice_of_streams(others):
    done = accuracy("--horizon", "24", *others)
    assert done.exit_code == 2 and "neither --set nor --rows nor --rivals" in " ".join(
        done.stderr.split()
    )
