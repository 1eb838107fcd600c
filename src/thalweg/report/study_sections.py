"""The section of a study of numbers: all that terminal, page and JSON show of it."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import numpy as np

from thalweg.changes.alarms import ChangeAlarm
from thalweg.evaluation.error_ratio import error_ratio
from thalweg.evaluation.keyed_scores import PooledEntry
from thalweg.evaluation.study import (
    COMPARATORS,
    Entry,
    Study,
    TrackerHistory,
    leakage_sentence,
)
from thalweg.report import charts
from thalweg.report.error_comparison import (
    GAIN,
    NO_SCORE,
    TYPICAL_ERROR,
    capitalise,
    gain_clause,
    gain_tile,
    large_error_sentence,
    method_words,
)
from thalweg.report.number_text import (
    count_of,
    finite,
    format_count,
    format_error,
    format_percent,
    format_ratio,
    format_short_ratio,
    with_unit,
)
from thalweg.report.section import Column, FoldedPart, ResultTable, Section, Tile
from thalweg.report.time_text import TimeAxis

PAST_LABELS = (
    "The Tracker also sees past labels, the last and those a season ago; fixed "
    "settings see the columns only. --lags gives them past labels too."
)
"""A note on studies that have both."""
BAND = "How sure it is"
"""The title of the tile of the bands around forecasts."""
NAMED_CHANGES, SHOWN_CHANGES = 3, 100
"""Number of newest changes whose dates are in the tile, and of those in the table."""
LARGE_CHANGE = 0.25
"""Minimum change of the level, as a part of it, for the headline."""
FEW_ROWS = 200
"""Among fewer rows only large changes of the target are found (docs/change-alarms.md).
"""
SMALL_DIFFERENCE = 0.01
"""Limit of differences of errors, as a part of them, that are called none."""
MIN_SEASON_WEIGHT = 0.05
"""Minimum mean weight of the experts of a season for it to be mentioned."""
OVER_SIMPLE = "over the best simple method"
"""The name of the column of squared errors over those of that method."""
FULL_BAR = 2.0
"""The ratio to the best simple method at which a bar fills its cell."""
ROLE_LABELS = {
    "tracker": "adaptive",
    "fixed": "fixed setting",
    "paper": "from the paper",
    "rival": "rival",
    "peer": "other library",
    "persistence": "simple method",
    "baseline": "simple method",
}


def study_section(study: Study, forecast: Section | None = None) -> Section:
    """All that is shown of one study, after the next values where there are any.

    ``forecast`` is the section of the next values of the same target: its headline, its
    first tile, which has a band of its own, and its figures come first, its details
    last. Errors of the study are called those of one row ahead then, as the forecast
    has others.
    """
    own = Section(
        title=study.title,
        headline=_headline(study),
        caution=leakage_sentence(study),
        tiles=_tiles(study),
        figures=cache(lambda: charts.main_figures(study)),
        folded=_folded_parts(study),
        sentences=tuple(filter(None, _sentences(study))),
        notes=tuple(note for note in study.notes if note != PAST_LABELS),
        facts=_facts(study),
    )
    own = replace(own, numbers=_numbers(study, own.summary()))
    return own if forecast is None else _with_forecast(own, forecast)


def _with_forecast(own: Section, forecast: Section) -> Section:
    tiles = (
        replace(tile, title=f"{tile.title}, one row ahead")
        if tile.title in (TYPICAL_ERROR, GAIN)
        else tile
        for tile in own.tiles
        if tile.title != BAND
    )
    details = (
        replace(part, name=f"next-{part.name}", title=f"Next values: {part.title}")
        for part in forecast.folded
    )
    return replace(
        own,
        headline=forecast.headline,
        caution=" ".join(filter(None, (forecast.caution, own.caution))),
        tiles=(*forecast.tiles[:1], *tiles),
        figures=cache(lambda: (*forecast.figures(), *own.figures())),
        folded=(*own.folded, *details),
        sentences=(*own.sentences, *forecast.sentences),
        notes=(*own.notes, *forecast.notes),
    )


# --- What is read first --------------------------------------------------------------


def _headline(study: Study) -> str:
    if not study.scored_rounds:
        return NO_SCORE
    best, error = study.best_simple_method, with_unit(_typical(study), study.target)
    miss = f"The forecast of {study.target} is off by {error} on average"
    share = _error_share(study)
    if share is not None:
        miss += f", {format_percent(share)} of the usual value"
    ratio = error_ratio(_typical(study), best.absolute)
    gain = gain_clause(ratio, method_words(best))
    return f"{miss}: {gain}.{_large_level_change(study)}"


def _large_level_change(study: Study) -> str:
    """A sentence on the largest change, where it is one of the level and large."""
    history = study.history
    if history is None or not history.alarms:
        return ""
    largest = history.largest_alarm or history.alarms[-1]
    least = LARGE_CHANGE * max(abs(largest.before), abs(largest.after))
    if largest.kind != "level" or abs(largest.after - largest.before) < least:
        return ""
    return f" Its {largest.text} ({_day(study, largest)})."


def _tiles(study: Study) -> tuple[Tile, ...]:
    if not study.scored_rounds:
        return ()
    tiles = (_error_tile, _gain_tile, _band_tile, _change_tile)
    return tuple(filter(None, (tile(study) for tile in tiles)))


def _error_tile(study: Study) -> Tile:
    text = f"On average a forecast of {study.target} misses the value by this much"
    share = _error_share(study)
    if share is not None:
        usual = with_unit(_usual_value(study), study.target)
        text += f": {format_percent(share)} of the usual {usual}"
    error = with_unit(_typical(study), study.target)
    return Tile(TYPICAL_ERROR, error, f"{text}.", is_in_headline=True)


def _gain_tile(study: Study) -> Tile:
    best, by_squares = study.best_simple_method, study.best_baseline
    ratio = error_ratio(_typical(study), best.absolute)
    squared = np.sqrt(study.ratio(study.tracker.name, by_squares.name))
    other = method_words(by_squares)
    return gain_tile(
        ratio,
        method_words(best),
        with_unit(best.absolute, study.target),
        len(study.baselines),
        large_error_sentence(ratio, float(squared), other),
    )


def _band_tile(study: Study) -> Tile | None:
    history = study.history
    if history is None or not history.coverage:
        return None
    nominal, measured = min(history.coverage, key=lambda pair: abs(pair[0] - 0.9))
    share, held = format_percent(nominal), format_percent(measured)
    text = f"The band around a forecast should hold {share} of all values; it held "
    width = None if study.bands is None else study.bands.half_width
    if width is None:
        return Tile(BAND, f"{held} held", f"{text}{held}.")
    text = "The band around a forecast, on average. It should hold "
    value = f"± {with_unit(width, study.target)}"
    return Tile(BAND, value, f"{text}{share} of all values, and held {held}.")


def _change_tile(study: Study) -> Tile | None:
    history = study.history
    if history is None:
        return None
    if not history.alarm_count:
        text = f"No change of {study.target} was found."
        if study.rounds < FEW_ROWS:
            text += f" Among {format_count(study.rounds)} rows only large ones can be."
        return Tile("What changed", "none found", text)
    named = history.alarms[-NAMED_CHANGES:][::-1]
    text = f"The last one, {_when(study, named[0])}: {named[0].text}."
    largest = history.largest_alarm
    if largest is not None:
        text += f" The largest, {_when(study, largest)}: {largest.text}."
    if named[1:]:
        before = " and ".join(_when(study, one) for one in named[1:])
        text += f" Before that: {before}."
    return Tile("What changed", count_of(history.alarm_count, "change"), text)


def _typical(study: Study) -> float:
    return study.tracker.absolute


def _error_share(study: Study) -> float | None:
    """The mean absolute error over the mean value; None where that says nothing.

    It says nothing where values are on both sides of zero: their mean may be zero.
    """
    observed = study.observed
    if not np.isfinite(observed.mean).any() or np.nanmin(observed.low) < 0:
        return None
    usual = _usual_value(study)
    return _typical(study) / usual if usual > 0 else None


def _usual_value(study: Study) -> float:
    """The mean of the values; buckets count by their widths."""
    observed = study.observed
    width = np.diff(observed.last_round, prepend=0).astype(np.float64)
    known = np.isfinite(observed.mean)
    return float(np.average(observed.mean[known], weights=width[known]))


def _day(study: Study, alarm: ChangeAlarm) -> str:
    """The day on which a change began, or its row."""
    return TimeAxis.from_study(study).date_label(alarm.onset, alarm.onset_time)


def _when(study: Study, alarm: ChangeAlarm) -> str:
    """The day on which a change began, and its row."""
    row, day = f"row {alarm.onset:,}", _day(study, alarm)
    return row if day == row else f"{day} ({row})"


# --- What else was found -------------------------------------------------------------


def _sentences(study: Study) -> list[str]:
    """What only some readers want, and no tile says."""
    if not study.scored_rounds:
        return []
    sentences = [_forgetting_sentence(study), _squared_sentence(study)]
    sentences.append(_least_error_sentence(study))
    if study.history is not None:
        sentences += [_memory_sentence(study.history), _season_sentence(study.history)]
    sentences.append(_bound_sentence(study))
    return [*sentences, PAST_LABELS if PAST_LABELS in study.notes else ""]


def _forgetting_sentence(study: Study) -> str:
    """What the best fixed discount below 1 gains over discount 1."""
    fixed = study.entries_of_role("fixed")
    forgetting = [entry for entry in fixed if (entry.discount or 1) < 1]
    undiscounted = [entry for entry in fixed if entry.discount == 1]
    if not (forgetting and undiscounted):
        return ""
    gain = 1 - study.ratio(forgetting[0].name, undiscounted[0].name)
    discount = f"discount {forgetting[0].discount:g}"
    if not np.isfinite(gain) or gain < -SMALL_DIFFERENCE:
        return "Forgetting does not pay: to remember everything is better."
    if gain <= SMALL_DIFFERENCE:
        return "Forgetting changes little."
    return f"Forgetting saves {format_percent(gain)} ({discount} against none)."


def _squared_sentence(study: Study) -> str:
    """The Tracker beside persistence, the best baseline and the best fixed setting."""
    name, base = study.tracker.name, study.persistence.name
    who = capitalise(_name_with_article(study.tracker))
    ratio = study.ratio(name, base)
    if np.isnan(ratio):
        return f"{who}'s error or persistence's is not a number."
    if np.isinf(ratio):
        return "Persistence makes no error at all here, and cannot be beaten."
    text = f"{who}'s squared error is {_multiple(ratio)} persistence's"
    best = study.best_baseline
    best_ratio = study.ratio(name, best.name)
    if not np.isfinite(best_ratio):
        return f"{text}; {best.name} makes no error at all and cannot be beaten."
    if best is not study.persistence:
        text += f", {_multiple(best_ratio)} that of {best.name}"
    if fixed := study.entries_of_role("fixed"):
        fixed_ratio = study.ratio(name, fixed[0].name)
        text += f" and {_multiple(fixed_ratio)} that of {fixed[0].name}"
        text += ", the best fixed setting in hindsight"
    if best_ratio > 1 + SMALL_DIFFERENCE:
        rule = method_words(best)
        text += f": here {best.name}, {rule}, is better"
    return f"{text}."


def _least_error_sentence(study: Study) -> str:
    best, own = study.ranked_entries()[0], study.tracker
    count = len(study.entries)
    if best is own:
        return f"No other of the {count} learners has a smaller error."
    if count == 2:
        return ""
    text = f"The least error of all {count} learners is that of {best.name}"
    ratio = study.ratio(best.name, own.name)
    if 0 < ratio < 1 - SMALL_DIFFERENCE:
        text += f", {format_short_ratio(ratio)} of {_name_with_article(own)}'s"
    elif ratio > 0:
        text += f", if only by {format_percent(1 - ratio)}"
    return f"{text}."


def _memory_sentence(history: TrackerHistory) -> str:
    """How many rows count: the median over rows, and the middle four fifths."""
    curve = history.memory
    known = np.isfinite(curve.mean)
    if not known.any():
        return ""
    order = np.argsort(curve.mean[known])
    width = np.diff(curve.last_round, prepend=0)[known][order]  # of each bucket
    at = np.searchsorted(np.cumsum(width) / width.sum(), [0.5, 0.1, 0.9])
    quantiles = curve.mean[known][order][at]
    if not quantiles[0] > 0:
        return ""
    if quantiles[0] < 2:
        return "Typically only the last row counts."
    # No effective memory is more exact than two significant digits.
    typical, short, long = (round(float(f"{max(q, 1.0):.2g}")) for q in quantiles)
    text = f"Typically about the last {typical:,} rows count"
    if long > 1.5 * short:
        text += f", between {short:,} and {long:,} most of the time"
    return f"{text}."


def _season_sentence(history: TrackerHistory) -> str:
    weight = history.weights.get("season")
    if history.season <= 1 or weight is None:
        return ""
    if not np.nan_to_num(weight.mean).mean() > MIN_SEASON_WEIGHT:
        return ""
    return f"It sees a season of {history.season:,} rows."


def _bound_sentence(study: Study) -> str:
    bounded = [one for one in study.regrets if one.bound is not None]
    broken = sum(one.measured > (one.bound or 0.0) for one in bounded)
    if not bounded:
        return ""
    if broken:
        return f"{broken} of {len(bounded)} measured regrets exceed their bounds."
    if len(bounded) == 1:
        return "The regret that has a bound stays below it."
    return f"All {len(bounded)} regrets that have a bound stay below it."


def _name_with_article(entry: Entry) -> str:
    return "the Tracker" if entry.name == "Tracker" else entry.name


def _multiple(ratio: float) -> str:
    """A ratio before "that of"."""
    if f"{ratio:.2f}" == "1.00":
        return "about"
    return f"{format_short_ratio(ratio)} of" if ratio < 1 else f"{ratio:.2f} times"


# --- Tables, figures and numbers -----------------------------------------------------


def _folded_parts(study: Study) -> tuple[FoldedPart, ...]:
    """What only some readers want; a page leaves out those without content."""
    history = study.history
    return (
        FoldedPart("changes", "Changes that were seen", _change_table(study)),
        FoldedPart(
            "learners",
            "All methods that were run",
            _learner_table(study),
            cache(lambda: charts.learner_figures(study)),
            is_printed=True,
        ),
        FoldedPart(
            "coefficients",
            "Coefficients",
            figures=cache(lambda: charts.coefficient_figures(study)),
        ),
        FoldedPart(
            "experts",
            "Inside the forecaster",
            figures=cache(lambda: charts.expert_figures(study)),
            preformatted=history.explanation if history else "",
        ),
        FoldedPart(
            "hindsight",
            "Hindsight and regret",
            _regret_table(study),
            cache(lambda: charts.hindsight_figures(study)),
            is_printed=True,
        ),
    )


def _learner_table(study: Study) -> ResultTable:
    title = f"{study.title}: {study.target}, {study.scored_rounds:,} rows scored"
    return learner_table(study.ranked_entries(), study.best_baseline.squared, title)


def learner_table(
    entries: Sequence[Entry | PooledEntry], best: float, title: str
) -> ResultTable:
    """The errors of learners, the least first; ``best`` is the mean squared error of
    the best simple method."""
    ratios = [error_ratio(entry.squared, best) for entry in entries]
    tracker = next(k for k, one in enumerate(entries) if one.role == "tracker")
    return ResultTable(
        title=title,
        columns=(
            Column("learner"),
            Column("kind", is_optional=True),
            Column("typical error", format_error),
            Column("squared error", format_error, is_optional=True),
            Column(OVER_SIMPLE, format_ratio),
        ),
        rows=tuple(
            (one.name, ROLE_LABELS[one.role], one.absolute, one.squared, ratio)
            for one, ratio in zip(entries, ratios, strict=True)
        ),
        caption="Errors over the scored rows, the least squared error first. The "
        "typical error is the mean size of an error, in the unit of the target. The "
        "last column is the mean squared error over that of the best simple method: "
        "below 1 a learner was worth running.",
        bars=tuple(map(bar_percent, ratios)),
        bold_rows=(0, tracker),
        badges={0: "least error"},
    )


def bar_percent(ratio: float) -> int:
    """The length of the bar of a ratio, in per cent of its cell."""
    return round(100 * min(ratio / FULL_BAR, 1.0)) if np.isfinite(ratio) else 100


def _change_table(study: Study) -> ResultTable:
    """When each change began, in which row it was noticed, and what it was."""
    history = study.history
    alarms = () if history is None else history.alarms[-SHOWN_CHANGES:][::-1]
    caption = "The row in which a change began, and the one in which it was noticed."
    if history is not None and history.alarm_count > len(alarms):
        count = format_count(history.alarm_count)
        caption += f" The last {len(alarms)} of {count}."
    table = ResultTable(
        title="Changes that were seen",
        columns=(
            Column("time"),
            Column("row", format_count),
            Column("noticed", format_count, is_optional=True),
            Column("change"),
        ),
        rows=tuple(
            (onset_time(alarm), alarm.onset, alarm.row, alarm.text) for alarm in alarms
        ),
        caption=caption,
    )
    return table.without_empty_columns()


def onset_time(alarm: ChangeAlarm) -> str | None:
    """The time at which a change began; rows that are days have no time of day."""
    if alarm.onset_time is None:
        return None
    return alarm.onset_time.removesuffix("T00:00:00").replace("T", " ")


def _regret_table(study: Study) -> ResultTable:
    """Regret: the loss beyond that of hindsight, and the bounds of theory."""
    table = ResultTable(
        title="Regret (loss beyond hindsight's), in variances of the target",
        columns=(
            Column("learner"),
            Column("against"),
            Column("measured", "{:,.2f}".format),
            Column("bound", "{:,.1f}".format),
        ),
        rows=tuple(
            (one.name, COMPARATORS[one.comparator], one.measured, one.bound)
            for one in study.regrets
        ),
    )
    return table.without_empty_columns()


def _numbers(study: Study, summary: list[str]) -> dict[str, Any]:
    history, best = study.history, study.best_baseline
    return {
        "title": study.title,
        "target": study.target,
        "rounds": study.rounds,
        "scored_rounds": study.scored_rounds,
        "features": list(study.features),
        "seconds": study.seconds,
        "learners": [
            {
                **learner_numbers(entry, study.persistence.squared, best.squared),
                "description": entry.description,
            }
            for entry in study.ranked_entries()
        ],
        "best_baseline": best.name,
        "memory": None if history is None else _last_finite(history.memory.mean),
        "alarms": None if history is None else [asdict(one) for one in history.alarms],
        "alarm_count": None if history is None else history.alarm_count,
        "summary": summary,
        "notes": list(study.notes),
    }


def learner_numbers(
    entry: Entry | PooledEntry, persistence: float, best: float
) -> dict[str, Any]:
    """The errors of a learner, beside the squared ones of simple methods."""
    return {
        "name": entry.name,
        "role": entry.role,
        "squared": finite(entry.squared),
        "absolute": finite(entry.absolute),
        "over_persistence": finite(error_ratio(entry.squared, persistence)),
        "over_best_baseline": finite(error_ratio(entry.squared, best)),
    }


def _last_finite(values: Any) -> float | None:
    return finite(values[-1]) if len(values) else None


def _facts(study: Study) -> tuple[tuple[str, str], ...]:
    """The facts in small print, each a name and a text."""
    scored = format_count(study.scored_rounds)
    facts = [
        ("forecast of", study.target),
        ("rows", format_count(study.rounds)),
        ("scored", f"{scored}, from row {format_count(study.first_scored_round)}"),
        ("features", format_count(len(study.features))),
        ("computing time", duration(study.seconds)),
    ]
    times = TimeAxis.from_study(study)
    if times.has_times:
        facts.insert(1, ("time", f"{times.label(1)} to {times.label(study.rounds)}"))
    elif study.start is not None and study.end is not None:
        order = "" if study.times is None else ", not in order: charts go by rows"
        facts.insert(1, ("time", f"{study.start} to {study.end}{order}"))
    return tuple(facts)


def duration(seconds: float) -> str:
    """The seconds of the forecasts; a whole run takes longer, as the terminal says."""
    if not seconds > 0:
        return "no time"
    took = f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2g} s"
    return f"{took} for the forecasts alone"
