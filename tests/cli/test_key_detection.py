"""Which files are taken for several series, and by which columns."""

import numpy as np
import pytest

from tests.cli.streams import RUNNER, thalweg, written
from thalweg import tables
from thalweg.cli.main import app

DAYS = [str(day) for day in np.datetime64("2024-01-01") + np.arange(40)]
HOURS = [f"{hour}:00" for hour in np.datetime64("2024-10-20T00", "h") + np.arange(400)]


def found_in(path, header, rows, chunk_rows=64):
    written(path, [header + "\n", *(",".join(map(str, row)) + "\n" for row in rows)])
    options = tables.ScanOptions(("y",), has_values=False)
    scan = tables.scan_table(
        lambda: tables.read_table(path, chunk_rows=chunk_rows), options
    )
    return scan.found_key


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.csv"


def test_a_column_of_text_or_of_whole_numbers_is_the_key(path):
    rng = np.random.default_rng(0)
    for names in (("a", "b", "c"), (7, 9, 12)):
        glued = [(day, name, rng.normal()) for name in names for day in DAYS]
        mixed = [(day, name, rng.normal()) for day in DAYS for name in names]
        for rows in (glued, mixed):
            assert found_in(path, "day,name,y", rows) == (("name",), 3)


def test_two_columns_are_the_key_where_one_is_not_enough(path):
    pairs = [(store, item) for store in "AB" for item in (1, 2, 3)]
    rows = [(day, *pair, 1.5) for pair in pairs for day in DAYS]
    assert found_in(path, "day,store,item,y", rows) == (("store", "item"), 6)


def test_the_coarsest_key_is_taken(path):
    cities = {"Rome": "Italy", "Paris": "France"}
    rows = [(day, k, city, 2.5) for k, city in enumerate(cities) for day in DAYS]
    assert found_in(path, "day,number,city,y", rows) == (("city",), 2)


def test_rows_in_order_of_time_are_one_series(path):
    rows = [(day, "ab"[k % 2], k % 3) for k, day in enumerate(DAYS)]
    assert found_in(path, "day,name,y", rows) is None


def test_an_hour_that_comes_twice_makes_no_series(path):
    rng = np.random.default_rng(1)
    hours = [*HOURS[:200], *HOURS[199:]]
    rows = [(hour, rng.integers(40), rng.normal()) for hour in hours]
    assert found_in(path, "hour,count,y", rows) is None


def test_a_time_that_a_key_has_twice_leaves_the_key_what_it_is(path):
    rng = np.random.default_rng(2)
    hours = [*HOURS[:200], *HOURS[199:]]
    glued = [(hour, name, rng.normal()) for name in "abc" for hour in hours]
    mixed = [(hour, name, rng.normal()) for hour in hours for name in "abc"]
    for rows in (glued, mixed):
        assert found_in(path, "hour,name,y", rows) == (("name",), 3)
    # One column of the pair has long steps back, however few they are.
    pairs = [(store, item) for store in "AB" for item in "xyz"]
    rows = [(hour, *pair, 1.5) for pair in pairs for hour in HOURS]
    assert found_in(path, "hour,store,item,y", rows) == (("store", "item"), 6)


def test_what_differs_in_each_row_is_no_key(path):
    rows = [(day, k, 1.5) for k, day in enumerate(DAYS * 3)]
    assert found_in(path, "day,number,y", rows) is None


def test_a_table_without_times_is_one_series(path):
    assert found_in(path, "name,y", [("ab"[k % 2], k) for k in range(30)]) is None


def test_on_a_pipe_and_where_it_was_declined_the_flag_is_suggested(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    rng = np.random.default_rng(0)
    rows = [(day, name, round(rng.normal(), 3)) for name in "ab" for day in DAYS]
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    written(path, ["day,name,y\n", text])
    run = ("run", "-t", "y", "--no-report")
    piped = RUNNER.invoke(app, [*run, "-"], input=path.read_text())
    declined = thalweg(*run, "table.csv", "--key", "none")
    for done in (piped, declined):
        assert done.exit_code == 0, done.output
        assert "name the columns that tell them apart: --key" in " ".join(
            done.stderr.split()
        )
    quiet = thalweg(*run, "table.csv", "--json")
    assert quiet.stderr == "" and '"key": ["name"]' in quiet.stdout
