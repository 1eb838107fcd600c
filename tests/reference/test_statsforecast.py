"""docs/forecasting-frames.md: a user of statsforecast changes five lines."""

import difflib
import re
from pathlib import Path

import numpy as np
import pytest

import thalweg

pd = pytest.importorskip("pandas")

PAGE = Path(__file__).parents[2] / "docs/forecasting-frames.md"
SECTION = PAGE.read_text().partition("## Coming from statsforecast")[2]
BEFORE, AFTER, LIVE = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
ROWS = 20 * 24


def hourly_series():
    rng = np.random.default_rng(0)
    day = np.sin(2 * np.pi * np.arange(ROWS) / 24)
    times = pd.date_range("2024-01-01", periods=ROWS, freq="h")
    parts = [
        pd.DataFrame({"unique_id": name, "ds": times, "y": size * (2 + day) + noise})
        for name, size, noise in (
            ("north", 5.0, rng.normal(size=ROWS)),
            ("south", 9.0, rng.normal(size=ROWS)),
        )
    ]
    return pd.concat(parts, ignore_index=True)


def test_five_lines_of_the_example_are_changed():
    lines = difflib.ndiff(BEFORE.splitlines(), AFTER.splitlines())
    signs = [line[0] for line in lines]
    assert signs.count("-") == 5
    assert signs.count("+") <= 5


def test_the_example_forecasts_with_an_error_near_that_of_the_noise():
    scope = {"df": hourly_series(), "thalweg": thalweg}
    exec(AFTER, scope)
    assert scope["forecasts"]["unique_id"].tolist() == ["north"] * 24 + ["south"] * 24
    assert len(scope["windows"]) == 2 * 7 * 24
    # The mean absolute value of unit noise is 0.80.
    assert (scope["errors"] < 0.95).all()
    ends = pd.Timestamp("2024-01-21 23:00")
    assert scope["plan"]["ds"].tolist() == [ends, ends]
    exec(LIVE, scope)
    live = scope["forecasters"]["south"].forecast()
    of_south = scope["forecasts"].query("unique_id == 'south'")
    np.testing.assert_array_equal(live.mean, of_south["Tracker"])
    assert scope["forecasters"]["north"].rounds == ROWS + 1
