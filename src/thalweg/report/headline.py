"""What a study says in ten seconds: the usual error, the gain, bands and changes."""

import math
import re

import numpy as np

from thalweg.evaluation.study import Entry, Study
from thalweg.evaluation.summary import FEW_ROWS
from thalweg.report.error_comparison import (
    gain_clause,
    gain_text,
    large_error_sentence,
)
from thalweg.report.number_text import format_count, format_number, format_percent
from thalweg.report.row_axis import RowAxis
from thalweg.report.section import Tile

BAND = "How sure it is"
"""The title of the tile of the bands around forecasts."""
TYPICAL_ERROR = "Typical error"
GAIN = "Against the usual method"
"""The titles of the tiles of the error, and of the gain over the best simple method."""
NAMED_CHANGES = 3
"""Changes whose dates are named, the newest."""
LARGE_CHANGE = 0.25
"""A change of the level by this part of it is in the headline."""
METHOD_WORDS = {"persistence": "repeating the last value"}
"""What a simple method does, by the name of its entry."""


def best_simple_method(study: Study) -> Entry:
    """The simple method with the least mean absolute error, as errors here are so."""
    return min(study.baselines, key=lambda entry: _nan_last(entry.absolute))


def method_words(entry: Entry) -> str:
    """What the simple method does, as in "repeating the last value"."""
    return entry.description or METHOD_WORDS.get(entry.name, entry.name)


def headline_sentence(study: Study) -> str:
    """The result in one sentence."""
    if not study.scored_rounds:
        return "No row was scored yet, so that nothing can be said."
    error = _typical_error(study)
    miss = f"The forecast of {study.target} is off by {error} on average"
    share = error_share(study)
    if share is not None:
        miss += f", {format_percent(share)} of the usual value"
    return f"{miss}: {_gain_words(study)}.{_level_change(study)}"


def _level_change(study: Study) -> str:
    """A sentence on the largest change, where it is one of the level and large."""
    history = study.history
    if history is None or not history.alarms:
        return ""
    largest = history.largest_alarm or history.alarms[-1]
    least = LARGE_CHANGE * max(abs(largest.before), abs(largest.after))
    if largest.kind != "level" or abs(largest.after - largest.before) < least:
        return ""
    when = RowAxis.from_study(study).date_label(largest.onset, largest.onset_time)
    return f" Its {largest.text} ({when})."


def tiles(study: Study) -> tuple[Tile, ...]:
    """The results that are read first, each with a sentence."""
    if not study.scored_rounds:
        return ()
    shown = [_error_tile(study), _gain_tile(study), _band_tile(study)]
    shown.append(_change_tile(study))
    return tuple(tile for tile in shown if tile is not None)


def error_share(study: Study) -> float | None:
    """The mean absolute error over the mean value; None where that says nothing.

    It says nothing where values are on both sides of zero: their mean may be zero.
    """
    observed = study.observed
    known = np.isfinite(observed.mean)
    if not known.any() or np.nanmin(observed.low) < 0:
        return None
    usual = _usual_value(study)
    return study.tracker.absolute / usual if usual > 0 else None


def unit_of(target: str) -> str:
    """The unit that a column's name ends with in brackets, as in "load [MW]"."""
    found = re.search(r"[\[(]\s*([^\])]{1,12}?)\s*[\])]\s*$", target)
    return found.group(1) if found else ""


def with_unit(value: float, target: str) -> str:
    """The value with the target's unit, where its name has one."""
    return f"{format_number(value)} {unit_of(target)}".strip()


def _error_tile(study: Study) -> Tile:
    text = f"On average a forecast of {study.target} misses the value by this much"
    share = error_share(study)
    if share is not None:
        usual = with_unit(_usual_value(study), study.target)
        text += f": {format_percent(share)} of the usual {usual}"
    return Tile(TYPICAL_ERROR, _typical_error(study), f"{text}.")


def _gain_tile(study: Study) -> Tile:
    best = best_simple_method(study)
    own, other = study.tracker.absolute, best.absolute
    count = len(study.baselines)
    among = f", the best of {count} simple methods" if count > 1 else ""
    text = (
        f"{_capitalise(method_words(best))} is off by "
        f"{with_unit(other, study.target)} on average{among}."
    )
    note = large_error_sentence(
        _ratio(own, other), _squared_ratio(study), method_words(study.best_baseline)
    )
    text += "" if note is None else f" {note}"
    return Tile(GAIN, gain_text(_ratio(own, other)), text)


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
    value = f"± {with_unit(width, study.target)}"
    text = "The band around a forecast, on average. It should hold "
    return Tile(BAND, value, f"{text}{share} of all values, and held {held}.")


def _change_tile(study: Study) -> Tile | None:
    history = study.history
    if history is None:
        return None
    count = history.alarm_count
    if not count:
        text = f"No change of {study.target} was found."
        if study.rounds < FEW_ROWS:
            text += f" Among {format_count(study.rounds)} rows only large ones can be."
        return Tile("What changed", "none found", text)
    value = "1 change" if count == 1 else f"{format_count(count)} changes"
    axis = RowAxis.from_study(study)
    named = history.alarms[-NAMED_CHANGES:][::-1]
    dates = [axis.date_label(one.onset, one.onset_time) for one in named]
    text = f"The last one, {dates[0]}: {named[0].text}."
    largest = history.largest_alarm
    if largest is not None:
        when = axis.date_label(largest.onset, largest.onset_time)
        text += f" The largest, {when}: {largest.text}."
    if dates[1:]:
        text += f" Before that: {' and '.join(dates[1:])}."
    return Tile("What changed", value, text)


def _gain_words(study: Study) -> str:
    best = best_simple_method(study)
    ratio = _ratio(study.tracker.absolute, best.absolute)
    return gain_clause(ratio, method_words(best))


def _squared_ratio(study: Study) -> float:
    """The root mean squared error over the least of simple methods."""
    own, other = study.tracker.squared, study.best_baseline.squared
    return math.sqrt(_ratio(own, other)) if own >= 0 else math.nan


def _typical_error(study: Study) -> str:
    return with_unit(study.tracker.absolute, study.target)


def _usual_value(study: Study) -> float:
    """The mean of the values; buckets count by their widths."""
    observed = study.observed
    width = np.diff(observed.last_round, prepend=0).astype(np.float64)
    known = np.isfinite(observed.mean)
    return float(np.average(observed.mean[known], weights=width[known]))


def _ratio(own: float, other: float) -> float:
    if other == 0:
        return 1.0 if own == 0 else math.inf
    return own / other


def _nan_last(error: float) -> float:
    return math.inf if math.isnan(error) else error


def _capitalise(words: str) -> str:
    return words[:1].upper() + words[1:]
