"""What a study says in ten seconds: the usual error, the gain, bands and changes."""

import math
import re

import numpy as np

from thalweg.evaluation.study import Entry, Study
from thalweg.evaluation.summary import FEW_ROWS
from thalweg.report.number_text import format_count, format_number, format_percent
from thalweg.report.row_axis import RowAxis
from thalweg.report.section import Tile

SMALL_DIFFERENCE = 0.02
"""Errors that differ by no more than this part are called equal."""
BAND = "How sure it is"
"""The title of the tile of the bands around forecasts."""
NAMED_CHANGES = 3
"""Changes whose dates are named, the newest."""
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
    return f"{miss}: {_gain_words(study)}."


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
    return Tile("Typical error", _typical_error(study), f"{text}.")


def _gain_tile(study: Study) -> Tile:
    best = best_simple_method(study)
    own, other = study.tracker.absolute, best.absolute
    count = len(study.baselines)
    among = f", the best of {count} simple methods" if count > 1 else ""
    text = (
        f"{_capitalise(method_words(best))} is off by "
        f"{with_unit(other, study.target)} on average{among}."
    )
    return Tile("Against the usual method", _gain_value(own, other), text)


def _band_tile(study: Study) -> Tile | None:
    history = study.history
    if history is None or not history.coverage:
        return None
    nominal, measured = min(history.coverage, key=lambda pair: abs(pair[0] - 0.9))
    share, held = format_percent(nominal), format_percent(measured)
    text = f"The band around a forecast should hold {share} of all values; it held "
    if (width := _half_width(study)) is None:
        return Tile(BAND, f"{held} held", f"{text}{held}.")
    value = f"± {with_unit(width, study.target)}"
    text = f"The usual band around a forecast. It should hold {share} of all values, "
    return Tile(BAND, value, f"{text}and held {held}.")


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
    dates = [axis.date_label(one.onset) for one in named]
    text = f"The last one, {dates[0]}: {named[0].text}."
    if dates[1:]:
        text += f" Before that: {' and '.join(dates[1:])}."
    return Tile("What changed", value, text)


def _half_width(study: Study) -> float | None:
    """Half the mean width of the bands; None where there are none."""
    if study.bands is None:
        return None
    widths = study.bands.high.mean - study.bands.low.mean
    return float(np.nanmedian(widths)) / 2 if np.isfinite(widths).any() else None


def _gain_words(study: Study) -> str:
    best = best_simple_method(study)
    ratio = _ratio(study.tracker.absolute, best.absolute)
    words = method_words(best)
    if not math.isfinite(ratio):
        return f"{words} makes no error at all here"
    if abs(ratio - 1) <= SMALL_DIFFERENCE:
        return f"as good as {words}"
    if 0.47 <= ratio <= 0.53:
        return f"half the error of {words}"
    if ratio < 1:
        return f"{format_percent(1 - ratio)} less error than {words}"
    return f"{format_percent(ratio - 1)} more error than {words}"


def _gain_value(own: float, other: float) -> str:
    ratio = _ratio(own, other)
    if not math.isfinite(ratio):
        return "no gain"
    if abs(ratio - 1) <= SMALL_DIFFERENCE:
        return "equally good"
    if 0.47 <= ratio <= 0.53:
        return "half the error"
    part = format_percent(abs(1 - ratio))
    return f"{part} less error" if ratio < 1 else f"{part} more error"


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
