"""Sentences on a forecast that the terminal and the page share."""

import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.preprocessing.public_holidays import COUNTRY_NAMES
from thalweg.report.error_comparison import large_error_sentence
from thalweg.report.number_text import format_percent

MIN_ORIGINS = 10
"""Errors of fewer past forecasts say little on how good the next ones are."""
MAX_NAMED_COLUMNS = 5
MAX_SHORTFALL = 0.05
"""A share of values in bands that is further than this below the aim is said."""


def origins_text(result: ForecastResult) -> str:
    """How many forecasts of the backtest were scored, one of each origin at most."""
    count = int(result.counts.max())
    return "1 past forecast" if count == 1 else f"{count:,} past forecasts"


def has_few_origins(result: ForecastResult) -> bool:
    """Whether so few past forecasts were scored that nothing can be said of them."""
    return int(result.counts.max()) < MIN_ORIGINS


def few_origins_note(result: ForecastResult) -> str | None:
    """How few forecasts the errors of some steps rest on, where they are few."""
    counts = result.counts
    least = int(counts.min())
    if not counts.sum() or least >= MIN_ORIGINS:
        return None
    step = int(result.steps[counts.argmin()])
    most = int(counts.max())
    if least == most:
        forecasts = "forecast" if most == 1 else "forecasts"
        return f"The errors rest on {most:,} past {forecasts} only."
    return (
        f"The errors rest on few past forecasts: at most {most:,} a step, and "
        f"{least or 'none'} for step {step:,}."
    )


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
    """How squared errors compare with the best naive forecast's, where the typical
    errors compare otherwise."""
    method = result.best_by_squares.description
    return large_error_sentence(result.ratio, result.square_ratio, method)


def level_text(result: ForecastResult) -> str:
    """The share of values that bands aim at, as a percentage."""
    return f"{100 * result.forecast.level:g} %"


def columns_text(result: ForecastResult) -> str:
    """The other columns that the forecast uses, or that it uses none."""
    names = result.features
    if not names:
        return "none"
    left = len(names) - MAX_NAMED_COLUMNS
    if left <= 0:
        return ", ".join(names)
    return f"{', '.join(names[:MAX_NAMED_COLUMNS])} and {left:,} more"


def columns_note(result: ForecastResult) -> str:
    """A sentence on the other columns that the forecast uses."""
    if not result.features:
        return f"No other column is used: {result.target} goes on from its own past."
    return f"Other columns used: {columns_text(result)}."


def season_text(result: ForecastResult) -> str:
    """After how many rows the values repeat, as far as was found."""
    season, cycle = result.seasons
    if season == 1:
        return "none"
    longer = f", and a longer one of {cycle:,}" if cycle > season else ""
    return f"{season:,} rows{longer}"


def season_note(result: ForecastResult) -> str:
    """A sentence on the season that was found."""
    if result.seasons[0] == 1:
        return "No season was found in the values."
    return f"Season: {season_text(result)}."


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
