"""The section of a forecast: all that terminal, page and JSON show of one series."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from thalweg.calendar.public_holidays import COUNTRY_NAMES
from thalweg.evaluation.forecast_result import (
    MIN_ORIGINS,
    ForecastResult,
    MethodErrors,
    missing_sentences,
)
from thalweg.report import charts
from thalweg.report.error_comparison import (
    CLOSE,
    TYPICAL_ERROR,
    gain_clause,
    gain_text,
    gain_tile,
    large_error_sentence,
)
from thalweg.report.number_text import (
    count_of,
    finite,
    forecast_writer,
    format_count,
    format_error,
    format_level,
    format_number,
    format_percent,
    format_ratio,
)
from thalweg.report.section import (
    Column,
    FoldedPart,
    ResultTable,
    Section,
    Tile,
    first_rows,
)
from thalweg.report.time_text import format_time, period_unit, short_times

MAX_VALUES, SHORT_VALUES = 100, 60
"""Number of next values in the table, and where space is short."""
SHORT_STEPS = (1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720)
"""Steps of the table of errors where space is short; and the last one."""
EARLIER_ROWS = 24
"""Number of rows before a forecast whose times tell whether rows are months."""
NAMED_STEPS = 2
"""Limit of the number of values that are all named; of more the ends are."""
MAX_NAMED_COLUMNS = 5


def forecast_section(
    result: ForecastResult, title: str | None = None, notes: Sequence[str] = ()
) -> Section:
    """The next values of one series, and how such forecasts have turned out."""
    return Section(
        title=title or result.title,
        headline=f"{_expected_values(result)} {_comparison(result)}".rstrip(),
        caution=_narrow_bands_note(result),
        tiles=_tiles(result),
        figures=cache(lambda: _next_value_figures(result)),
        folded=(
            FoldedPart(
                "values", "The next values as a table", _value_table(result),
                is_printed=True,
            ),
            FoldedPart(
                "steps", "Errors by rows ahead", _step_table(result),
                cache(lambda: _step_figures(result)), is_printed=True,
            ),
        ),
        sentences=tuple(filter(None, _sentences(result))),
        notes=tuple(notes),
        facts=_facts(result),
        numbers=forecast_numbers(result),
    )  # fmt: skip


def value_writer(result: ForecastResult) -> Callable[[float], str]:
    """Writes the next values, the same number with the same digits everywhere."""
    ahead = result.forecast
    return forecast_writer(ahead.mean, ahead.high - ahead.low)


def forecast_times(result: ForecastResult) -> list[str]:
    """The times of the next values as texts, of months as 1960-12."""
    assert result.times is not None
    return short_times(result.times, _earlier_times(result))


def _next_value_figures(result: ForecastResult) -> list[Any]:
    return [charts.forecast_figure(result)] if len(result.tail) else []


def _step_figures(result: ForecastResult) -> list[Any]:
    return [charts.step_error_figure(result)] if result.is_scored else []


# --- What is read first --------------------------------------------------------------


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
    if not result.is_scored:
        return "Too few rows for a backtest: no error is known."
    if result.has_few_origins:
        return (
            f"How good that is is not known: only {_origins_text(result)} could be "
            f"compared with what came, too few to compare methods."
        )
    best = result.naive[0]
    if not np.isfinite(result.ratio):
        return f"In the past {best.description} made no error at all: use that."
    if result.ratio <= 1 + CLOSE:
        part = gain_clause(result.ratio, best.description)
        verb = "was" if result.ratio >= 1 - CLOSE else "had"
        return f"In the past the forecast {verb} {part}."
    # Squares may tell otherwise, and then neither is simply better.
    advice = "" if _large_error_note(result) else " Use that instead."
    return (
        f"In the past {best.description} was better: the forecast had "
        f"{gain_text(result.ratio)}.{advice}"
    )


def _narrow_bands_note(result: ForecastResult) -> str:
    """A warning where bands held clearly fewer values than they aim at."""
    if not result.has_narrow_bands:
        return ""
    return (
        f"In the backtest the bands held {format_percent(result.mean_coverage)} of the "
        f"values, not {_level(result)}: take them as too narrow."
    )


def _tiles(result: ForecastResult) -> tuple[Tile, ...]:
    tiles = (_value_tile, _sum_tile, _error_tile, _gain_tile)
    return tuple(filter(None, (tile(result) for tile in tiles)))


def _value_tile(result: ForecastResult) -> Tile | None:
    ahead, write = result.forecast, value_writer(result)
    if not np.isfinite(ahead.low[0]):
        return None
    text = f"{_level(result)} between {write(ahead.low[0])} and {write(ahead.high[0])}."
    if result.times is not None:
        text = f"At {forecast_times(result)[0]}. {text}"
    return Tile("Next value", write(ahead.mean[0]), text)


def _sum_tile(result: ForecastResult) -> Tile | None:
    total = result.forecast.total
    if result.horizon == 1 or not np.isfinite(total.low):
        return None
    ends = np.array([total.low, total.high])
    write = forecast_writer(np.array([total.mean]), np.diff(ends))
    text = f"{_level(result)} between {write(total.low)} and {write(total.high)}."
    return Tile(f"Sum of the next {result.horizon:,}", write(total.mean), text)


def _error_tile(result: ForecastResult) -> Tile | None:
    if not np.isfinite(result.own.typical):
        return None
    only = "only " if result.has_few_origins else ""
    ahead = f"up to {result.horizon:,} rows ahead"
    text = (
        f"On average a forecast {'of the next row' if result.horizon == 1 else ahead} "
        f"missed the value by this much, in {only}{_origins_text(result)}."
    )
    return Tile(TYPICAL_ERROR, format_number(result.own.typical), text)


def _gain_tile(result: ForecastResult) -> Tile | None:
    if not result.is_scored or result.has_few_origins:
        return None
    best, note = result.naive[0], _large_error_note(result)
    error = format_number(best.typical)
    return gain_tile(result.ratio, best.description, error, len(result.naive), note)


def _large_error_note(result: ForecastResult) -> str:
    """How squared errors compare with the best naive forecast's, where the typical
    errors compare otherwise."""
    method = result.best_by_squares.description
    return large_error_sentence(result.ratio, result.square_ratio, method)


def _level(result: ForecastResult) -> str:
    return format_level(result.forecast.level)


def _origins_text(result: ForecastResult) -> str:
    return count_of(result.origins, "past forecast")


def _earlier_times(result: ForecastResult) -> Any:
    """The last times before the forecast, where they are known."""
    earlier = result.tail_times
    is_time = earlier is not None and earlier.dtype.kind == "M"
    return earlier[-EARLIER_ROWS:] if is_time else None


def _when(result: ForecastResult, k: int) -> str:
    """When the value k rows after the next one will come, in words."""
    times, earlier = result.times, _earlier_times(result)
    if times is None:
        return "in the next row" if k == 0 else f"{k + 1:,} rows ahead"
    if times.dtype.kind != "M":
        return f"at {short_times(times[k : k + 1])[0]}"
    known = times if earlier is None else np.concatenate([earlier, times])
    if period_unit(known) is not None:
        return f"in {forecast_times(result)[k]}"
    is_daily = bool((times == times.astype("datetime64[D]")).all())
    seconds = float(times[k].astype("datetime64[s]").astype(np.int64))
    return f"on {format_time(seconds, is_daily)}"


# --- What else was found -------------------------------------------------------------


def _sentences(result: ForecastResult) -> tuple[str, ...]:
    return (
        _few_origins_sentence(result),
        _holiday_sentence(result),
        *result.week_notes,
        _left_out_sentence(result),
        *missing_sentences([result]),
    )


def _few_origins_sentence(result: ForecastResult) -> str:
    """How few forecasts the errors of some steps rest on, where they are few."""
    least, most = int(result.counts.min()), result.origins
    if not result.is_scored or least >= MIN_ORIGINS:
        return ""
    if least == most:
        return f"The errors rest on {_origins_text(result)} only."
    step = int(result.steps[result.counts.argmin()])
    return (
        f"The errors rest on few past forecasts: at most {most:,} a step, and "
        f"{least or 'none'} for step {step:,}."
    )


def _holiday_sentence(result: ForecastResult) -> str:
    if result.holidays is None:
        return ""
    return (
        f"The values follow the public holidays of {COUNTRY_NAMES[result.holidays]}, "
        f"which forecasts take into account."
    )


def _left_out_sentence(result: ForecastResult) -> str:
    """How many rows were left out because of their times, if any."""
    if not result.left_out:
        return ""
    was = count_of(result.left_out, "row was", "rows were")
    times = "its time was" if result.left_out == 1 else "their times were"
    return (
        f"{was} left out: {times} no later than that of a row before, in the steps "
        "that the first 24 rows show."
    )


def _facts(result: ForecastResult) -> tuple[tuple[str, str], ...]:
    """The facts in small print, each a name and a text."""
    country, held = result.holidays, "not known yet"
    if result.is_scored:
        share = format_percent(result.mean_coverage)
        held = f"{share} of past values, the aim is {_level(result)}"
    return (
        ("target", result.target),
        ("rows", format_count(result.rows)),
        ("rows ahead", format_count(result.horizon)),
        ("other columns used", _columns_text(result.features)),
        ("season found", _season_text(*result.seasons)),
        (
            "public holidays found",
            "none" if country is None else f"those of {COUNTRY_NAMES[country]}",
        ),
        ("past forecasts scored", format_count(result.origins)),
        ("bands held", held),
    )


def _columns_text(names: Sequence[str]) -> str:
    left = len(names) - MAX_NAMED_COLUMNS
    if left <= 0:
        return ", ".join(names) or "none"
    return f"{', '.join(names[:MAX_NAMED_COLUMNS])} and {left:,} more"


def _season_text(season: int, cycle: int) -> str:
    """After how many rows the values repeat, as far as was found."""
    if season == 1:
        return "none"
    longer = f", and a longer one of {cycle:,}" if cycle > season else ""
    return f"{season:,} rows{longer}"


# --- Tables and numbers --------------------------------------------------------------


def _value_table(result: ForecastResult) -> ResultTable:
    """The next values with their bands: the first ones where they are many."""
    ahead, count = result.forecast, min(result.horizon, MAX_VALUES)
    is_timed, write = result.times is not None, value_writer(result)
    places = forecast_times(result) if is_timed else map(str, range(1, count + 1))
    note = _narrow_bands_note(result)
    caption = f"{_level(result)} of values are expected to lie between low and high."
    if note:
        caption = f"Low and high are the ends of bands. {note}"
    if count < result.horizon:
        caption += f" The first {count} of {result.horizon:,}; forecast.csv has all."
    values = "value" if result.horizon == 1 else f"{result.horizon:,} values"
    return ResultTable(
        title=f"The next {values} of {result.target}",
        columns=(
            Column("time" if is_timed else "rows ahead"),
            *(Column(name, write) for name in ("forecast", "low", "high")),
        ),
        rows=tuple(zip(places, ahead.mean, ahead.low, ahead.high, strict=False))[
            :count
        ],
        caption=caption,
        short=first_rows(result.horizon, SHORT_VALUES),
        short_note=f"the first {SHORT_VALUES} shown",
    )


def _step_table(result: ForecastResult) -> ResultTable | None:
    """The errors by rows ahead; None where nothing was scored."""
    if not result.is_scored:
        return None
    methods = (result.own, *result.naive)
    errors = [one.by_step.mean_absolute for one in methods]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = errors[0] / errors[1]
    wanted = [step for step in SHORT_STEPS if step <= result.horizon]
    places = (
        np.abs(result.steps - step).argmin() for step in (*wanted, result.horizon)
    )
    numbers = (*errors, ratios, result.coverage)
    few = _few_origins_sentence(result)
    return ResultTable(
        title=f"{result.title}: typical errors of {result.target}",
        columns=(
            Column("rows ahead"),
            Column("thalweg", format_error),
            *(
                Column(one.name, format_error, is_optional=one is not result.naive[0])
                for one in result.naive
            ),
            Column(f"over {result.naive[0].name}", format_ratio, is_optional=True),
            Column("in band", format_percent),
        ),
        rows=tuple(
            (str(step), *(finite(values[k]) for values in numbers))
            for k, step in enumerate(result.steps)
        ),
        caption=f"Typical (mean absolute) errors by rows ahead; the share of values in "
        f"bands. {few}".rstrip(),
        short=tuple(sorted({int(k) for k in places})),
    )


def forecast_numbers(result: ForecastResult) -> dict[str, Any]:
    """The numbers of the forecast and of its backtest, for JSON."""
    ahead = result.forecast
    places: Any = result.time_texts or list(range(1, len(ahead) + 1))
    name = "step" if result.time_texts is None else "time"
    values = zip(places, ahead.mean, ahead.low, ahead.high, strict=True)
    return {
        "key": list(result.key),
        "rows": result.rows,
        "missing": result.gaps,
        "season": list(result.seasons),
        "holidays": result.holidays,
        "origins": result.origins,
        "over_best_naive": finite(result.ratio) if result.is_scored else None,
        "rmse_over_best_naive": (
            finite(result.square_ratio) if result.is_scored else None
        ),
        "coverage": finite(result.mean_coverage),
        "errors": [_errors(one, result.steps) for one in (result.own, *result.naive)],
        "forecast": [
            {
                name: place,
                "forecast": finite(mean),
                "low": finite(low),
                "high": finite(high),
            }
            for place, mean, low, high in values
        ],
    }


def _errors(method: MethodErrors, steps: Any) -> dict[str, Any]:
    by_step = zip(steps, *method.by_step, strict=True)
    return {
        "name": method.name,
        "rmse": finite(method.overall),
        "mae": finite(method.typical),
        "by_step": [
            {"step": int(step), "rmse": finite(squared), "mae": finite(absolute)}
            for step, squared, absolute in by_step
        ],
    }
