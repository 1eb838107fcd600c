"""Commands on files that end with totals or blank rows, or begin with units."""

import json

import numpy as np
import pytest

from tests.cli.streams import thalweg, written

ROWS = 120
OTHERS = ("seconds", "rows_per_second", "notes", "files", "source", "stream", "title")
COMMANDS = ("run", "forecast", "compare")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(count=ROWS, is_split=False):
    """Hourly rows, whose times are in one column or in two."""
    rng = np.random.default_rng(0)
    made = ["date,clock,load\n" if is_split else "date,load\n"]
    for k, hour in enumerate(np.datetime64("2024-01-01T00") + np.arange(count)):
        clock = f"{hour.astype(object):%d.%m.%Y{',' if is_split else ' '}%H:%M}"
        made.append(f"{clock},{10 + 3 * np.sin(k / 24 * 6.28) + rng.normal():.3f}\n")
    return made


def outcome(command, *arguments):
    done = thalweg(command, *arguments, "-t", "load", "--json", "--no-report")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def numbers(value):
    """What was printed, without names, notes and seconds."""
    if isinstance(value, dict):
        return {
            name: numbers(part) for name, part in value.items() if name not in OTHERS
        }
    return [*map(numbers, value)] if isinstance(value, list) else value


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("is_split", [False, True])
def test_the_results_are_those_without_total_blanks_and_units(
    folder, command, is_split
):
    comma = "," * is_split
    header, *rows = lines(is_split=is_split)
    written(folder / "plain.csv", [header, *rows])
    extra = [f"Total,{comma}{10 * ROWS}\n", f",{comma}\n", f",{comma}\n"]
    written(folder / "full.csv", [header, f",{comma}kW\n", *rows, *extra])
    plain, full = (outcome(command, name) for name in ("plain.csv", "full.csv"))
    assert numbers(plain) == numbers(full)
    shown = " ".join(thalweg(command, "full.csv", "-t", "load").output.split())
    assert "Row 121 (line 123) of full.csv is skipped as a summary" in shown
    assert "2 rows at the end of full.csv have no value" in shown
    assert "The first row (line 2) of full.csv is skipped" in shown


def test_a_run_goes_on_with_a_file_that_grew_above_its_total(folder):
    header, *rows = lines()
    written(folder / "x.csv", [header, *rows[:80], "Total,800\n"])
    outcome("run", "x.csv")
    written(folder / "x.csv", [header, *rows, "Total,1200\n", ",\n"])
    done = thalweg("run", "x.csv", "--resume", "out/x/model.thalweg")
    assert done.exit_code == 0, done.output
    resumed = (folder / "out/x/predictions.csv").read_bytes()
    outcome("run", "x.csv", "--out", "whole")
    assert resumed == (folder / "whole/predictions.csv").read_bytes()


def test_a_newest_first_file_may_end_with_a_total(folder):
    header, *rows = lines()
    written(folder / "old.csv", [header, *rows])
    written(folder / "new.csv", [header, *rows[::-1], "Total,1200\n"])
    one, other = (outcome("forecast", name) for name in ("old.csv", "new.csv"))
    assert numbers(one) == numbers(other)


def test_a_forecast_does_not_advise_an_option_that_it_lacks(folder):
    header, *rows = lines()
    written(folder / "x.csv", [header, *rows[:60], "(later),3\n", *rows[60:]])
    for command, offers in [("forecast", False), ("run", True)]:
        shown = " ".join(thalweg(command, "x.csv", "-t", "load").output.split())
        assert "Row 61 (line 62) of x.csv: 'date' is '(later)'" in shown
        assert ("--on-error" in shown) == offers


@pytest.mark.parametrize("is_split", [False, True])
def test_a_forecast_skips_blank_rows_between_others(folder, is_split):
    header, *rows = lines(is_split=is_split)
    blank = [",," if is_split else ","]
    written(folder / "plain.csv", [header, *rows])
    gaps = [*rows[:50], f"{blank[0]}\n" * 2, *rows[50:90], f"{blank[0]}\n", *rows[90:]]
    written(folder / "gaps.csv", [header, *gaps])
    one, other = (outcome("forecast", name) for name in ("plain.csv", "gaps.csv"))
    assert numbers(one) == numbers(other)
    done = thalweg("run", "gaps.csv", "-t", "load", "--horizon", "5", "--no-report")
    assert done.exit_code == 0 and "The next 5 values" in done.output
    said = "3 rows of gaps.csv between others have no value and are skipped."
    assert said in other["notes"]


def test_blank_rows_of_a_file_without_times_are_missing_values(folder):
    rows = [f"{k % 7},{k}\n" for k in range(90)]
    written(folder / "x.csv", ["load,x\n", *rows[:50], ",\n", *rows[50:]])
    found = outcome("forecast", "x.csv")
    assert found["series"][0]["rows"] == 91
    assert not any("skipped" in note for note in found["notes"])
