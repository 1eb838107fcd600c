"""What a forecast says in ten seconds: the values to come, and how good it has been."""

from typing import Any

import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.report.error_comparison import CLOSE, gain_clause, gain_text
from thalweg.report.forecast_notes import (
    has_few_origins,
    large_error_note,
    level_text,
    origins_text,
)
from thalweg.report.number_text import format_number
from thalweg.report.row_axis import format_time
from thalweg.report.section import Tile
from thalweg.report.time_text import period_unit, short_times
from thalweg.report.value_text import ValueFormatter, sum_writer, value_writer

EARLIER_ROWS = 24
"""Rows before a forecast whose times tell whether rows are months."""
NAMED_STEPS = 2
"""A forecast of so many values is told in full; of a longer one its ends."""


def forecast_headline(result: ForecastResult) -> str:
    """The forecast in one sentence, and in another how good such forecasts were."""
    return " ".join(filter(None, (_expected_values(result), _comparison(result))))


def forecast_tiles(result: ForecastResult) -> tuple[Tile, ...]:
    """The results that are read first, each with a sentence."""
    shown = (
        _value_tile(result), _sum_tile(result), _error_tile(result), _gain_tile(result)
    )  # fmt: skip
    return tuple(tile for tile in shown if tile is not None)


def forecast_times(result: ForecastResult) -> list[str]:
    """The times of the next values as texts, of months as 1960-12."""
    assert result.times is not None
    return short_times(result.times, _earlier_times(result))


def ahead_text(result: ForecastResult) -> str:
    """How far ahead forecasts were, after "a forecast": of the next row."""
    if result.horizon == 1:
        return "of the next row"
    return f"up to {result.horizon:,} rows ahead"


def _expected_values(result: ForecastResult) -> str:
    """The values that are expected: the lowest and the highest where they are many."""
    ahead, write = result.forecast, value_writer(result)
    texts = [write(value) for value in ahead.mean]
    subject = f"{result.target} is expected to be"
    if len(set(texts)) == 1 and result.horizon > 1:
        return f"{subject} {texts[0]} in all of the next {result.horizon:,} rows."
    if result.horizon <= NAMED_STEPS:
        named = [f"{text} {_when(result, k)}" for k, text in enumerate(texts)]
        return f"{subject} {' and '.join(named)}."
    ends = {int(np.argmin(ahead.mean)): "lowest", int(np.argmax(ahead.mean)): "highest"}
    named = [f"{ends[k]}, {texts[k]}, {_when(result, k)}" for k in sorted(ends)]
    return (
        f"In the next {result.horizon:,} rows {result.target} is expected to reach its "
        f"{' and its '.join(named)}."
    )


def _comparison(result: ForecastResult) -> str:
    """How good forecasts of the past were beside the best simple method."""
    if not result.counts.sum():
        return ""
    if has_few_origins(result):
        return (
            f"How good that is cannot be told: only {origins_text(result)} could be "
            f"compared with what came."
        )
    best = result.naive[0]
    if not np.isfinite(result.ratio):
        return f"In the past {best.description} made no error at all: use that."
    if result.ratio <= 1 + CLOSE:
        part = gain_clause(result.ratio, best.description)
        verb = "was" if result.ratio >= 1 - CLOSE else "had"
        return f"In the past the forecast {verb} {part}."
    # Squares may tell otherwise, and then neither is simply better.
    advice = " Use that instead." if large_error_note(result) is None else ""
    return (
        f"In the past {best.description} was better: the forecast had "
        f"{gain_text(result.ratio)}.{advice}"
    )


def _value_tile(result: ForecastResult) -> Tile | None:
    ahead, write = result.forecast, value_writer(result)
    if not np.isfinite(ahead.low[0]):
        return None
    text = _band_text(result, write, ahead.low[0], ahead.high[0])
    if result.times is not None:
        text = f"At {forecast_times(result)[0]}. {text}"
    return Tile("Next value", write(ahead.mean[0]), text)


def _sum_tile(result: ForecastResult) -> Tile | None:
    total, write = result.forecast.total, sum_writer(result)
    if result.horizon == 1 or not np.isfinite(total.low):
        return None
    text = _band_text(result, write, total.low, total.high)
    return Tile(f"Sum of the next {result.horizon:,}", write(total.mean), text)


def _error_tile(result: ForecastResult) -> Tile | None:
    if not np.isfinite(result.own.typical):
        return None
    only = "only " if has_few_origins(result) else ""
    text = (
        f"On average a forecast {ahead_text(result)} missed the value by this much, in "
        f"{only}{origins_text(result)}."
    )
    return Tile("Typical error", format_number(result.own.typical), text)


def _gain_tile(result: ForecastResult) -> Tile | None:
    if not result.counts.sum() or has_few_origins(result):
        return None
    best, count = result.naive[0], len(result.naive)
    among = f", the best of {count} simple methods" if count > 1 else ""
    words = f"{best.description[:1].upper()}{best.description[1:]}"
    note = large_error_note(result)
    text = f"{words} was off by {format_number(best.typical)} on average{among}."
    text += "" if note is None else f" {note}"
    return Tile("Against the usual method", gain_text(result.ratio), text)


def _earlier_times(result: ForecastResult) -> Any:
    """The last times before the forecast, where they are known."""
    earlier = result.tail_times
    is_time = earlier is not None and earlier.dtype.kind == "M"
    return earlier[-EARLIER_ROWS:] if is_time else None


def _unit(result: ForecastResult) -> Any:
    earlier, times = _earlier_times(result), result.times
    return period_unit(times if earlier is None else np.concatenate([earlier, times]))


def _when(result: ForecastResult, k: int) -> str:
    """When the value k rows after the next one will come, in words."""
    times = result.times
    if times is None:
        return "in the next row" if k == 0 else f"{k + 1:,} rows ahead"
    if times.dtype.kind != "M":
        return f"at {short_times(times[k : k + 1])[0]}"
    if _unit(result) is not None:
        return f"in {forecast_times(result)[k]}"
    is_daily = bool((times == times.astype("datetime64[D]")).all())
    seconds = float(times[k].astype("datetime64[s]").astype(np.int64))
    return f"on {format_time(seconds, is_daily)}"


def _band_text(
    result: ForecastResult, write: ValueFormatter, low: float, high: float
) -> str:
    return f"{level_text(result)} between {write(low)} and {write(high)}."
