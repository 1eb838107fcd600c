"""How many values and rows are missing is told, in runs and in forecasts."""

import json

import numpy as np
import pytest

from tests.cli.streams import thalweg, written
from thalweg.calendar.row_clock import RowClock


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(shop="", marks=("n.a.", "n.a."), without=range(7, 120, 29)):
    rng = np.random.default_rng(0)
    made = []
    for k, day in enumerate(np.datetime64("2024-01-01") + np.arange(120)):
        y, x = rng.normal(10, 1), rng.normal()
        target = marks[0] if k % 17 == 3 else f"{y:.2f}"
        feature = marks[1] if k % 11 == 5 else f"{x:.2f}"
        if k not in without:
            made.append(f"{shop}{day},{target},{feature}\n")
    return made


HEADER = "day,y,x\n"


def said(*arguments):
    done = thalweg(*arguments, "--no-report")
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_a_run_counts_values_and_rows(folder):
    written(folder / "gaps.csv", [HEADER, *lines()])
    text = said("run", "gaps.csv", "-t", "y")
    assert (
        "7 of 116 values of 'y' are missing: they are predicted and not learnt." in text
    )
    assert "11 missing values of features were filled with means" in text
    assert "4 times have no row" in text


def test_a_forecast_counts_values_and_rows(folder):
    written(folder / "gaps.csv", [HEADER, *lines()])
    text = said("forecast", "gaps.csv", "-t", "y")
    assert "11 values of 'y' are missing before the last one" in text
    assert "11 missing values of other columns were filled" in text
    done = thalweg("forecast", "gaps.csv", "-t", "y", "--json", "--no-report")
    assert json.loads(done.stdout)["series"][0]["missing"] == 11


def test_all_series_are_counted(folder):
    both = [*lines("a,"), *lines("b,")]
    written(folder / "gaps.csv", [f"shop,{HEADER}", *both])
    text = said("run", "gaps.csv", "-t", "y")
    assert "14 of 232 values of 'y' are missing" in text
    assert "22 missing values of features" in text and "8 times have no row" in text
    assert "7 of 116" not in text
    text = said("forecast", "gaps.csv", "-t", "y")
    assert "22 values of 'y' are missing before the last one" in text


def test_a_file_without_gaps_says_nothing(folder):
    written(folder / "whole.csv", [HEADER, *lines(marks=("1.5", "2.5"), without=())])
    for command in ("run", "forecast"):
        text = said(command, "whole.csv", "-t", "y")
        assert "missing" not in text and "no row" not in text


def test_rows_far_off_an_even_grid_are_not_counted():
    hour = 3_600_000_000_000
    clock, _ = RowClock().advance(np.arange(30) * hour)
    late, _ = clock.advance(np.array([29 * hour + 5 * hour]))
    assert late.absent_rows() == 4
    later, _ = clock.advance(np.array([10_000 * hour]))
    assert later.absent_rows() == 0
    back, _ = clock.advance(np.array([2 * hour, 50 * hour]))
    assert back.absent_rows() == RowClock().absent_rows() == 0
