import numpy as np
import pandas as pd
import pytest

from benchmarks import public_series
from benchmarks.public_series import PUBLIC_SERIES, load_series, regular_values

HOURS = pd.date_range("2024-03-01", periods=5, freq="h")


def test_times_without_a_value_are_nan():
    values = regular_values(HOURS[[0, 1, 4]], [1, 2, 5], "h")
    assert values.index.equals(HOURS)
    np.testing.assert_array_equal(values, [1, 2, np.nan, np.nan, 5])


def test_of_two_rows_with_one_time_the_first_counts():
    values = regular_values(HOURS[[0, 1, 1, 2]], [1, 2, 7, 3], "h")
    np.testing.assert_array_equal(values, [1, 2, 3])


def test_of_a_long_series_the_last_rows_are_used(monkeypatch):
    monkeypatch.setattr(public_series, "MAX_ROWS", 3)
    np.testing.assert_array_equal(regular_values(HOURS, range(5), "h"), [2, 3, 4])


# The packages that bring these are installed with the tests' own.
@pytest.mark.parametrize(
    ("name", "rows", "missing"),
    [("waterflow", 1379, 111), ("co2", 2284, 59), ("airline", 144, 0)],
)
def test_a_series_has_every_time_of_its_grid(name, rows, missing):
    loaded = load_series(name)
    assert (loaded.name, len(loaded.y), len(loaded.times)) == (name, rows, rows)
    assert np.isnan(loaded.y).sum() == missing
    months = name == "airline"
    grid = loaded.times.astype("datetime64[M]") if months else loaded.times
    assert len(set(np.diff(grid))) == 1
    assert 1 < loaded.season < rows / 2 and loaded.times.dtype == "datetime64[s]"


def test_there_are_eleven_series():
    assert len(PUBLIC_SERIES) == 11 and list(PUBLIC_SERIES)[:2] == [
        "bikeshare",
        "metro",
    ]
