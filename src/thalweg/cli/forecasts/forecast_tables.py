"""Forecasts and backtests as tables for the terminal, and as numbers for JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from thalweg.cli.console import new_table, print_sentence
from thalweg.cli.forecasts.row_keys import Key, key_text
from thalweg.evaluation.forecast_result import (
    ForecastResult,
    MethodErrors,
    missing_sentences,
)
from thalweg.evaluation.simple_baselines import PERSISTENCE_WORDS
from thalweg.report.error_comparison import CLOSE
from thalweg.report.forecast_notes import (
    columns_note,
    few_origins_note,
    has_few_origins,
    holiday_note,
    large_error_note,
    left_out_note,
    level_text,
    narrow_bands_note,
    origins_text,
    season_note,
)
from thalweg.report.number_text import format_number
from thalweg.report.time_text import short_times
from thalweg.report.value_text import sum_writer, value_formatter, value_writer
from thalweg.types import FloatArray

SHOWN_STEPS = (1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720)
"""Steps of the table of errors, where they were scored; and the last one."""
MAX_SHOWN_VALUES = 60
"""Lines of the table of forecasts; of longer ones the first are shown."""
MAX_KEY_WIDTH = 28
"""Letters of a key in a table."""
MAX_SHOWN_KEYS = 5
"""Best and worst keys in the overview."""
MAX_SHOWN_SERIES = 12
"""Series whose next value is shown."""


def print_result(console: Console, result: ForecastResult) -> None:
    """Print the errors by step, and the next values."""
    if result.counts.sum():
        console.print(_error_table(result))
    for sentence in result_sentences(result):
        print_sentence(console, sentence, "• ")
    console.print()
    console.print(_value_table(result))


def print_overview(
    console: Console, results: Mapping[Key, ForecastResult], columns: Sequence[str]
) -> None:
    """Print how well the series of a table were forecast, best and worst first."""
    for sentence in overview_sentences(results, columns):
        print_sentence(console, sentence, "• ")
    console.print()
    ranked = ranked_keys(results)
    shown = ranked
    if len(ranked) > 2 * MAX_SHOWN_KEYS:
        shown = [*ranked[:MAX_SHOWN_KEYS], *ranked[-MAX_SHOWN_KEYS:]]
    title = "All series" if shown is ranked else "The best and the worst series"
    table = new_table(f"{title}: typical error, and its ratio to the best naive's")
    table.add_column(
        ", ".join(columns), no_wrap=True, overflow="ellipsis", max_width=MAX_KEY_WIDTH
    )
    for name in ("rows", "error", "ratio", "best naive", "in band"):
        is_text = name == "best naive"
        table.add_column(name, justify="left" if is_text else "right", no_wrap=True)
    for k, key in enumerate(shown):
        if shown is not ranked and k == MAX_SHOWN_KEYS:
            table.add_row("…")
        table.add_row(*_key_cells(results[key]))
    console.print(table)
    console.print()
    console.print(_next_value_table(results, columns))


def ranked_keys(results: Mapping[Key, ForecastResult]) -> list[Key]:
    """The keys that were scored, the best first; then the others."""
    return sorted(
        results, key=lambda key: (np.nan_to_num(results[key].ratio, nan=np.inf), key)
    )


def result_sentences(result: ForecastResult) -> list[str]:
    """What a reader should know of one series, in sentences."""
    sentences = []
    level = level_text(result)
    if not result.counts.sum():
        sentences.append("Too few rows for a backtest: no error is known.")
    else:
        sentences.append(_error_sentence(result))
        few = few_origins_note(result)
        sentences += [] if few is None else [few]
        held = f"The {level} bands held {_percent(result.mean_coverage)} of the values."
        sentences.append(narrow_bands_note(result) or held)
    if not has_few_origins(result):
        sentences += filter(None, [large_error_note(result)])
    sentences += [season_note(result), columns_note(result)]
    notes = (holiday_note(result), *result.week_notes, left_out_note(result))
    sentences += [note for note in notes if note is not None]
    sentences += missing_sentences([result])
    total = result.forecast.total
    if np.isfinite(total.low) and result.horizon > 1:
        write = sum_writer(result)
        sentences.append(
            f"The sum of the next {result.horizon:,} values: {write(total.mean)}, "
            f"{level} between {write(total.low)} and {write(total.high)}."
        )
    return sentences


def _error_sentence(result: ForecastResult) -> str:
    """The typical error, beside the best naive forecast's if enough were scored."""
    steps = f"Over all {result.horizon:,} steps"
    if result.horizon == 1:
        steps = "One row ahead"
    error = f"{steps} the typical error was {_number(result.own.typical)}"
    if has_few_origins(result):
        return (
            f"{error}, from only {origins_text(result)}: too few to compare it with "
            f"those of other methods."
        )
    best = result.naive[0]
    name = best.name
    if best.description != PERSISTENCE_WORDS:
        name += f": {best.description}"
    sentence = (
        f"{error}, {ratio_text(result.ratio)} that of the best naive forecast "
        f"({name}), from {int(result.counts.max()):,} origins."
    )
    if result.ratio > 1 + CLOSE and large_error_note(result) is None:
        sentence += f" Here {best.description} is better: use that."
    return sentence


def overview_sentences(
    results: Mapping[Key, ForecastResult], columns: Sequence[str]
) -> list[str]:
    """What a reader should know of all series together."""
    rows = sum(result.rows for result in results.values())
    ratios = scored_ratios(results)
    names = " and ".join(repr(name) for name in columns)
    sentences = [f"{len(results):,} series, told apart by {names}; {rows:,} rows."]
    if len(ratios):
        better = int((ratios < 1).sum())
        mean = float(np.exp(np.log(np.maximum(ratios, 1e-12)).mean()))
        sentences.append(
            f"The typical error was {ratio_text(mean)} that of the best naive forecast "
            f"of each series (geometric mean); it was smaller in {better:,} of "
            f"{len(ratios):,} series."
        )
    if len(ratios) < len(results):
        short = len(results) - len(ratios)
        sentences.append(f"{short:,} series were too short for a backtest.")
    return sentences + missing_sentences(list(results.values()))


def scored_ratios(results: Mapping[Key, ForecastResult]) -> FloatArray:
    """The errors over those of the best naive forecasts, where they are known."""
    ratios = np.array([result.ratio for result in results.values()])
    return np.asarray(ratios[np.isfinite(ratios)])


def ratio_text(ratio: float) -> str:
    """A ratio as words before "that of"."""
    if not np.isfinite(ratio):
        return "more than"
    return f"{ratio:.2f} of" if ratio < 1 else f"{ratio:.2f} times"


def result_as_json(result: ForecastResult) -> dict[str, Any]:
    """The numbers of one series."""
    ahead = result.forecast
    places: Any = result.time_texts or list(range(1, len(ahead) + 1))
    name = "step" if result.time_texts is None else "time"
    scored = bool(result.counts.sum())
    methods = (result.own, *result.naive)
    return {
        "key": list(result.key),
        "rows": result.rows,
        "missing": result.gaps,
        "season": list(result.seasons),
        "holidays": result.holidays,
        "origins": int(result.counts.max()),
        "over_best_naive": _finite(result.ratio) if scored else None,
        "rmse_over_best_naive": _finite(result.square_ratio) if scored else None,
        "coverage": _finite(result.mean_coverage),
        "errors": [_errors_as_json(method, result) for method in methods],
        "forecast": [
            {name: place, "forecast": _finite(mean), "low": _finite(low),
             "high": _finite(high)}
            for place, mean, low, high in zip(
                places, ahead.mean, ahead.low, ahead.high, strict=True
            )
        ],
    }  # fmt: skip


def shown_steps(result: ForecastResult) -> list[int]:
    """Which of the scored steps a table shows: positions."""
    wanted = [*SHOWN_STEPS, result.horizon]
    found = [int(np.abs(result.steps - step).argmin()) for step in wanted]
    return sorted(
        {k for k, step in zip(found, wanted, strict=True) if step <= result.horizon}
    )


def shown_values(result: ForecastResult) -> list[int]:
    """Which of the next values a table shows, all or the first: positions."""
    return list(range(min(result.horizon, MAX_SHOWN_VALUES)))


def shown_methods(result: ForecastResult) -> list[MethodErrors]:
    """The best naive forecast, and the last value where that is another."""
    best = result.naive[0]
    last = [method for method in result.naive[1:] if method.name == "last value"]
    return [best, *last]


def _errors_as_json(method: MethodErrors, result: ForecastResult) -> dict[str, Any]:
    return {
        "name": method.name,
        "rmse": _finite(method.overall),
        "mae": _finite(method.typical),
        "by_step": [
            {"step": int(step), "rmse": _finite(squared), "mae": _finite(absolute)}
            for step, squared, absolute in zip(
                result.steps, *method.by_step, strict=True
            )
        ],
    }


def _error_table(result: ForecastResult) -> Table:
    table = new_table(f"{result.title}: typical errors of {result.target}")
    methods = shown_methods(result)
    names = ["step", "error", *(method.name for method in methods), "ratio"]
    for name in [*names, "in band"]:
        table.add_column(name, justify="right", no_wrap=True, overflow="ellipsis")
    for k in shown_steps(result):
        naive = [method.by_step.mean_absolute[k] for method in methods]
        own = result.own.by_step
        best = min(naive)
        ratio = own.mean_absolute[k] / best if best > 0 else np.nan
        table.add_row(
            str(result.steps[k]),
            _number(own.mean_absolute[k]),
            *map(_number, naive),
            f"{ratio:.2f}" if np.isfinite(ratio) else "",
            _percent(result.coverage[k]),
        )
    return table


def _value_table(result: ForecastResult) -> Table:
    ahead, shown = result.forecast, shown_values(result)
    next_values = "value" if result.horizon == 1 else f"{result.horizon:,} values"
    title = f"The next {next_values} of {result.target}"
    if len(shown) < result.horizon:
        title += f", the first {len(shown)} shown"
    table = new_table(title)
    is_timed = result.times is not None
    earlier = result.tail_times
    has_earlier = earlier is not None and earlier.dtype.kind == "M"
    before = earlier[-MAX_SHOWN_VALUES:] if has_earlier else None
    texts = short_times(result.times, before) if is_timed else None
    table.add_column("time" if is_timed else "step", no_wrap=True)
    for name in ("forecast", "low", "high"):
        table.add_column(name, justify="right", no_wrap=True)
    write = value_writer(result)
    for k in shown:
        place = str(k + 1) if texts is None else texts[k]
        table.add_row(place, *map(write, (ahead.mean[k], ahead.low[k], ahead.high[k])))
    return table


def _next_value_table(
    results: Mapping[Key, ForecastResult], columns: Sequence[str]
) -> Table:
    """The next value of each series, and the sum of all that were forecast."""
    shown = sorted(results)[:MAX_SHOWN_SERIES]
    one = results[shown[0]]
    title = f"The next value of {one.target} of every series"
    if len(shown) < len(results):
        title = (
            f"The next value of {one.target}, {len(shown)} of {len(results):,} series"
        )
    table = new_table(title)
    table.add_column(
        ", ".join(columns), no_wrap=True, overflow="ellipsis", max_width=MAX_KEY_WIDTH
    )
    is_timed = all(results[key].times is not None for key in shown)
    if is_timed:
        table.add_column("time", no_wrap=True)
    names = ["forecast", "low", "high"]
    names += [f"sum of {one.horizon:,}"] if one.horizon > 1 else []
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for key in shown:
        ahead = results[key].forecast
        write = value_formatter(ahead.mean, ahead.high - ahead.low)
        times = results[key].times
        place = [] if times is None or not is_timed else [short_times(times)[0]]
        values = [*map(write, (ahead.mean[0], ahead.low[0], ahead.high[0]))]
        total = [_number(ahead.total.mean)] if one.horizon > 1 else []
        table.add_row(key_text(key), *place, *values, *total)
    return table


def _key_cells(result: ForecastResult) -> tuple[str, ...]:
    if not result.counts.sum():
        return key_text(result.key), f"{result.rows:,}", "", "", "", ""
    return (
        key_text(result.key),
        f"{result.rows:,}",
        _number(result.own.typical),
        f"{result.ratio:.2f}",
        result.naive[0].name,
        _percent(result.mean_coverage),
    )


def _number(value: float) -> str:
    """Four digits, as people write them; empty where it is not finite."""
    return format_number(float(value), 4) if np.isfinite(value) else ""


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %" if np.isfinite(part) else ""


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
