"""Files whose newest rows come first: rows are taken in reverse order, with a note."""

import json

import numpy as np
import pytest

from tests.cli.streams import RUNNER, rows, thalweg, written
from thalweg.cli.main import app
from thalweg.tables import row_filters

HEADER, *LINES = rows()
NOTE = "come first, by 'when': rows are taken in reverse order, oldest first"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def backwards(lines):
    return [HEADER, *lines[::-1]]


def outcome(*arguments):
    done = thalweg(*arguments, "--no-report")
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_a_run_and_a_forecast_are_those_of_the_sorted_file(folder):
    written(folder / "sorted.csv")
    written(folder / "newest.csv", backwards(LINES))
    for command, file in (("run", "predictions.csv"), ("forecast", "forecast.csv")):
        ending = "-forecast" if command == "forecast" else ""
        assert NOTE not in outcome(command, "sorted.csv", "-t", "y")
        assert NOTE in outcome(command, "newest.csv", "-t", "y")
        texts = [(folder / f"out/{name}{ending}" / file).read_text()
                 for name in ("sorted", "newest")]  # fmt: skip
        assert texts[0] == texts[1]


def test_a_comparison_is_of_rows_in_reverse_order(folder):
    written(folder / "newest.csv", backwards(LINES[:120]))
    assert NOTE in outcome("compare", "newest.csv", "-t", "y")


def test_chunks_are_reversed_as_well(folder, monkeypatch):
    monkeypatch.setattr("thalweg.runs.run_command.CHUNK_ROWS", 64)
    written(folder / "newest.csv", backwards(LINES))
    outcome("run", "newest.csv", "-t", "y")
    written(folder / "sorted.csv")
    outcome("run", "sorted.csv", "-t", "y")
    texts = [(folder / f"out/{name}/predictions.csv").read_text()
             for name in ("sorted", "newest")]  # fmt: skip
    assert texts[0] == texts[1]


def test_a_named_time_is_reversed_and_none_is_not(folder):
    written(folder / "newest.csv", backwards(LINES))
    assert NOTE in outcome("run", "newest.csv", "-t", "y", "--time", "when")
    assert NOTE not in outcome("run", "newest.csv", "-t", "y", "--time", "none")
    assert NOTE not in outcome("forecast", "newest.csv", "-t", "y", "--time", "none")


def test_rows_in_mixed_order_stay_in_their_order(folder):
    order = np.random.default_rng(0).permutation(len(LINES))
    written(folder / "mixed.csv", [HEADER, *(LINES[k] for k in order)])
    said = outcome("run", "mixed.csv", "-t", "y")
    assert NOTE not in said and "rows are taken in their order" in said
    assert thalweg("forecast", "mixed.csv", "-t", "y").exit_code == 2
    # One long step forward, and all others back.
    written(folder / "turned.csv", [HEADER, *LINES[150::-1], *LINES[:150:-1]])
    assert NOTE not in outcome("run", "turned.csv", "-t", "y")


def test_a_step_forward_of_summer_time_changes_nothing(folder):
    values = np.random.default_rng(1).normal(size=400)
    quarters = np.datetime64("2024-10-25T00:00") + 15 * np.arange(400)
    clocks = np.where(np.arange(400) < 200, quarters, quarters - np.timedelta64(60))
    lines = [f"{when},{y:.3f}\n" for when, y in zip(clocks, values, strict=True)]
    written(folder / "clock.csv", ["when,y\n", *lines[::-1]])
    assert NOTE in outcome("run", "clock.csv", "-t", "y")


def test_a_file_that_grew_at_its_top_is_resumed(folder):
    written(folder / "whole.csv", backwards(LINES))
    outcome("run", "whole.csv", "-t", "y")
    written(folder / "growing.csv", backwards(LINES[:200]))
    outcome("run", "growing.csv", "-t", "y")
    written(folder / "growing.csv", backwards(LINES))
    outcome("run", "growing.csv", "--resume", "out/growing/model.thalweg")
    texts = [(folder / f"out/{name}/predictions.csv").read_text()
             for name in ("whole", "growing")]  # fmt: skip
    assert texts[0] == texts[1]
    # Rows of the past that have changed are refused as those of any file are.
    changed = [*LINES[:100], LINES[100].replace("\n", "9\n"), *LINES[101:]]
    written(folder / "growing.csv", backwards(changed))
    done = thalweg("run", "growing.csv", "--resume", "out/growing/model.thalweg")
    assert done.exit_code == 2 and "has changed" in done.output


def test_new_rows_in_a_file_of_their_own_are_reversed(folder):
    for command, model in (("run", "out/a/model.thalweg"),
                           ("forecast", "out/a-forecast/model.thalweg")):  # fmt: skip
        written(folder / "a.csv", backwards(LINES[:200]))
        outcome(command, "a.csv", "-t", "y")
        written(folder / "b.csv", backwards(LINES[200:]))
        assert NOTE in outcome(command, "b.csv", "--resume", model, "--next")


def long_lines(names, is_glued):
    rng = np.random.default_rng(2)
    days = np.datetime64("2024-01-01") + np.arange(80)
    order = (
        [(day, name) for name in names for day in days]
        if is_glued
        else [(day, name) for day in days for name in names]
    )
    return [f"{day},{name},{rng.normal():.3f}\n" for day, name in order]


@pytest.mark.parametrize("is_glued", [True, False])
@pytest.mark.parametrize("key", [(), ("--key", "shop")])
def test_series_by_key_are_reversed(folder, is_glued, key):
    lines = long_lines("abc", is_glued)
    written(folder / "sorted.csv", ["when,shop,y\n", *lines])
    written(folder / "newest.csv", ["when,shop,y\n", *lines[::-1]])
    for command in ("run", "forecast"):
        results = []
        for name in ("sorted", "newest"):
            done = RUNNER.invoke(
                app, [command, f"{name}.csv", "-t", "y", *key, "--no-report", "--json"]
            )
            assert done.exit_code == 0, done.output
            results.append(json.loads(done.stdout))
        notes = " ".join(results[1]["notes"])
        assert NOTE in notes and NOTE not in " ".join(results[0]["notes"])
        if command == "run":
            first, second = (one["studies"][0] for one in results)
        else:
            first, second = (
                sorted(one["series"], key=lambda one: one["key"]) for one in results
            )
        assert json.dumps(first).replace("sorted", "newest") == json.dumps(second)


def test_a_file_that_is_too_large_to_be_reversed_says_what_to_do(folder, monkeypatch):
    monkeypatch.setattr(row_filters, "MAX_REVERSED_CELLS", 500)
    written(folder / "newest.csv", backwards(LINES))
    done = thalweg("run", "newest.csv", "-t", "y")
    assert done.exit_code == 2
    assert "Sort the rows by 'when', oldest first." in " ".join(done.output.split())


def test_days_of_two_readings_that_fall_are_read_as_those_that_rise(folder):
    months = [f"01/{month:02d}/{year}" for year in (2022, 2023, 2024, 2025)
              for month in range(1, 13)]  # fmt: skip
    lines = [f"{when},{(k * 37) % 11}.5\n" for k, when in enumerate(months)]
    written(folder / "months.csv", ["when,y\n", *lines[::-1]])
    assert "day first" in outcome("forecast", "months.csv", "-t", "y")
