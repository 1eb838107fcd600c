"""A key that does not tell series apart: what is wrong with it, and a better one."""

import numpy as np
import pytest

from tests.cli.streams import thalweg, written

DAYS = [str(day) for day in np.datetime64("2024-01-01") + np.arange(60)]


@pytest.fixture(autouse=True, params=["glued", "mixed"])
def folder(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pairs = [(store, item) for store in "AB" for item in "xyz"]
    rows = [(*pair, day, rng.poisson(20)) for pair in pairs for day in DAYS]
    if request.param == "mixed":
        rows.sort(key=lambda row: row[2])
    lines = [",".join(map(str, row)) + "\n" for row in rows]
    written(tmp_path / "long.csv", ["store,item,date,units\n", *lines])
    return tmp_path


def said(command, *options, exit_code=0):
    done = thalweg(command, "long.csv", "-t", "units", *options, "--no-report")
    assert done.exit_code == exit_code, done.output
    return " ".join(done.output.split())


ADVICE = "'store' and 'item' tell 6 series apart: --key store,item."


def test_the_right_key_is_no_matter_of_words():
    for command in ("run", "forecast"):
        assert "tell 6 series" not in said(command, "--key", "store,item")
        assert "taken as --key store,item" in said(command)


@pytest.mark.parametrize("key", ["store", "item"])
def test_a_key_that_is_too_coarse_names_a_better_one(key):
    count = 240 if key == "store" else 180
    start = f"{count} of 360 rows are not later than a row before of their series"
    for command, exit_code in (("run", 0), ("forecast", 2)):
        text = said(command, "--key", key, exit_code=exit_code)
        assert f"{start}, by 'date' and --key {key}: {ADVICE}" in text
        assert "--key NAMES" not in text and "Sort the rows" not in text


def test_rows_that_are_no_series_name_the_key():
    text = said("forecast", "--key", "none", exit_code=2)
    assert ADVICE in text and "Sort the rows" not in text


def test_times_that_only_repeat_are_not_to_be_sorted(folder):
    rows = [f"{day},{k}.5\n" for day in DAYS for k in range(2)]
    written(folder / "long.csv", ["date,units\n", DAYS[0] + ",1.5\n", *rows[2:]])
    text = said("forecast", exit_code=2)
    sentence = (
        "59 of 119 rows have the same 'date' as the row before, the first of them row "
        "3. Keep one row for each time. If they are several series, name the columns "
        "that tell them apart: --key."
    )
    assert sentence in text and "Sort the rows" not in text


def test_times_that_repeat_within_a_series_are_said_to(folder):
    rows = [f"{day},{s},{k}.5\n" for day in DAYS for s in "AB" for k in range(2)]
    written(folder / "long.csv", ["date,store,units\n", *rows])
    text = said("forecast", "--key", "store", exit_code=2)
    assert "--key store: times repeat. Keep one row for each time." in text
    assert "Sort the rows" not in text


def test_the_time_is_no_key():
    for command in ("run", "forecast"):
        for key in ("date", "store,item,date"):
            text = said(command, "--key", key, exit_code=2)
            assert "--key names 'date', which holds the times of the rows." in text


def test_where_no_column_is_a_key_rows_are_to_be_sorted(folder):
    mixed = [f"{day},{name},{k % 7}\n" for k, day in enumerate(DAYS[::-7] + DAYS)
             for name in "ab"]  # fmt: skip
    written(folder / "long.csv", ["date,shop,units\n", *mixed, *mixed])
    text = said("forecast", "--key", "shop", exit_code=2)
    assert "Sort the rows by 'date' first." in text
    assert "name all columns that tell them apart, not only shop: --key." in text


def test_a_key_of_every_row_is_refused_without_a_model_to_resume(folder):
    lines = [f"r{k},{day},{k % 7}\n" for k, day in enumerate(DAYS)]
    written(folder / "long.csv", ["id,date,units\n", *lines])
    for command in ("run", "forecast"):
        text = said(command, "--key", "id", exit_code=2)
        assert "not which row it is." in text and "--resume" not in text
        assert "value of" not in text.replace("values of", "")


def test_a_key_of_measured_numbers_is_refused(folder):
    rng = np.random.default_rng(0)
    lines = [f"{day},{t:.1f},{k}\n" for k, (day, t) in enumerate(
        zip(DAYS, rng.normal(10, 5, 60), strict=True))]  # fmt: skip
    written(folder / "long.csv", ["date,temp,units\n", *lines])
    for command in ("run", "forecast"):
        text = said(command, "--key", "temp", exit_code=2)
        assert "--key names 'temp', whose numbers have decimals: it would make" in text
        assert "series of 60 rows. A key says which series a row belongs to" in text


def test_a_key_of_few_numbers_with_decimals_is_one(folder):
    lines = [f"{day},{size},{k % 7}\n" for k, day in enumerate(DAYS)
             for size in (0.5, 1.5)]  # fmt: skip
    written(folder / "long.csv", ["date,size,units\n", *lines])
    for command in ("run", "forecast"):
        assert "decimals" not in said(command, "--key", "size")
