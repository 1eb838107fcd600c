"""Sentences on a forecast that the terminal and the page share."""

import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.preprocessing.public_holidays import COUNTRY_NAMES
from thalweg.report.number_text import format_percent

MAX_SHORTFALL = 0.05
"""A share of values in bands that is further than this below the aim is said."""
MAX_RATIO_DIFFERENCE = 0.03
"""Ratios of typical and of root mean squared errors that differ by more are both told.
"""


def has_narrow_bands(result: ForecastResult) -> bool:
    """Whether bands held clearly fewer of the values of the backtest than they aim at;
    False where nothing was scored."""
    held = result.mean_coverage
    return bool(np.isfinite(held)) and held < result.forecast.level - MAX_SHORTFALL


def narrow_bands_note(result: ForecastResult) -> str | None:
    """A warning where bands held clearly fewer values than they aim at."""
    if not has_narrow_bands(result):
        return None
    return (
        f"In the backtest the bands held {format_percent(result.mean_coverage)} of the "
        f"values, not {level_text(result)}: take them as too narrow."
    )


def band_text(result: ForecastResult) -> str:
    """What the band of a chart holds, after "with": the aim, and what was measured
    where that is clearly less."""
    if not has_narrow_bands(result):
        return f"a band that holds {level_text(result)} of them"
    held = format_percent(result.mean_coverage)
    return (
        f"a band that was to hold {level_text(result)} of them and held {held} in the "
        f"backtest"
    )


def large_error_note(result: ForecastResult) -> str | None:
    """How root mean squared errors compare with the best naive forecast's, where the
    typical errors compare otherwise: a forecast of the mean seldom has large errors,
    one that is often nearly right has small ones."""
    ratio = result.square_ratio
    if not abs(ratio - result.ratio) > MAX_RATIO_DIFFERENCE:
        return None
    part = format_percent(abs(1 - ratio))
    change = f"{part} {'less' if ratio < 1 else 'more'} than"
    if part == format_percent(0.0):
        change = "that of"
    return (
        f"Large errors count more in the root mean squared error: it is {change} the "
        f"best naive forecast's."
    )


def level_text(result: ForecastResult) -> str:
    """The share of values that bands aim at, as a percentage."""
    return f"{100 * result.forecast.level:g} %"


def holiday_note(result: ForecastResult) -> str | None:
    """Whose public holidays matter, where a country was found."""
    if result.holidays is None:
        return None
    return (
        f"The values follow the public holidays of {COUNTRY_NAMES[result.holidays]}, "
        f"which forecasts take into account."
    )


def left_out_note(result: ForecastResult) -> str | None:
    """How many rows were left out because of their times, if any."""
    count = result.left_out
    if not count:
        return None
    if count == 1:
        return "1 row was left out: its time was no later than that of a row before."
    return (
        f"{count:,} rows were left out: their times were no later than that of a row "
        f"before."
    )
