"""Errors beside those of a simple method, in words that pages and tables share.

A ratio is an error over that of the method, of mean absolute errors if it is called
typical, and of root mean squared ones if it is called squared.
"""

import math

from thalweg.evaluation.study import Entry
from thalweg.report.number_text import format_percent
from thalweg.report.section import Tile

TYPICAL_ERROR, GAIN = "Typical error", "Against the usual method"
"""The titles of the tiles of the error, and of the gain over the best simple method."""
METHOD_WORDS = {"persistence": "repeating the last value"}
"""What a simple method does, by its name: older files have no description of it."""
NO_SCORE = "No row was scored yet, so that nothing can be said."
"""The headline of a result without errors."""
CLOSE = 0.02
"""Errors that differ by no more than this part are called equal."""
MIN_DIFFERENCE = 0.03
"""Minimum difference of the ratios of typical and of squared errors to give both."""
HALF = (0.47, 0.53)
"""Ratios that are called half."""


def gain_text(ratio: float) -> str:
    """The gain over a method in two or three words: "34 % less error"."""
    if not math.isfinite(ratio):
        return "no gain"
    if abs(ratio - 1) <= CLOSE:
        return "equally good"
    if HALF[0] <= ratio <= HALF[1]:
        return "half the error"
    part = format_percent(abs(1 - ratio))
    return f"{part} less error" if ratio < 1 else f"{part} more error"


def gain_clause(ratio: float, method: str) -> str:
    """The gain over a method with its name: "34 % less error than repeating …"."""
    if not math.isfinite(ratio):
        return f"{method} makes no error at all here"
    if abs(ratio - 1) <= CLOSE:
        return f"as good as {method}"
    link = "of" if HALF[0] <= ratio <= HALF[1] else "than"
    return f"{gain_text(ratio)} {link} {method}"


def method_words(entry: Entry) -> str:
    """What the simple method does, as in "repeating the last value"."""
    return entry.description or METHOD_WORDS.get(entry.name, entry.name)


def gain_tile(ratio: float, method: str, error: str, count: int, note: str) -> Tile:
    """The gain over the best of ``count`` simple methods, whose error is a text."""
    among = f", the best of {count} simple methods" if count > 1 else ""
    text = f"{capitalise(method)} was off by {error} on average{among}. {note}"
    return Tile(GAIN, gain_text(ratio), text.rstrip(), is_in_headline=not note)


def capitalise(words: str) -> str:
    """The words as the start of a sentence."""
    return words[:1].upper() + words[1:]


def large_error_sentence(typical: float, squared: float, method: str) -> str:
    """How squared errors compare, where typical ones compare otherwise; else empty.

    A forecast of the mean seldom has large errors, one that is often nearly right has
    small ones. ``method`` is the best simple method by squared errors.
    """
    is_known = math.isfinite(typical) and math.isfinite(squared)
    if not is_known or _verdict(typical) == _verdict(squared):
        return ""
    if abs(typical - squared) <= MIN_DIFFERENCE:
        return ""
    start = "Large errors count more in the squared error, by which"
    if _verdict(squared) == 0:
        return f"{start} the forecast is as good as {method}."
    if squared < 1:
        return f"{start} the forecast is better: {gain_clause(squared, method)}."
    return f"{start} {method} is better: the forecast has {gain_text(squared)}."


def _verdict(ratio: float) -> int:
    """-1 where the forecast is better, 1 where the method is, 0 where neither is."""
    return 0 if abs(ratio - 1) <= CLOSE else 1 if ratio > 1 else -1
