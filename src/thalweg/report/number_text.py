"""Numbers as people write them: few digits, thousands separators, no exponents.

Every number of a table or a sentence is written here. A number that is not known is
NaN, and is called so; ``finite`` makes it the null of JSON.
"""

import math
import re
from collections.abc import Callable

import numpy as np

from thalweg.types import FloatArray

LARGE_UNITS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
MAX_PLAIN, MIN_PLAIN = 1e15, 1e-5
"""Limits of numbers without an exponent, as nobody counts that many zeros."""
TABLE_DIGITS, BAND_DIGITS = 4, 3
"""Digits of an error in a table, and of the width of a band."""
PLAIN_VALUES = (1e-6, 1e12)
"""Sizes of forecasts that are written without exponent or unit."""
MAX_RATIO = 100.0
"""A ratio has three decimals below this, else as many digits as other numbers."""


def format_number(value: float, digits: int = 3) -> str:
    """The value rounded to ``digits`` significant digits, with separators.

    Millions and above are named, as in "12.3 million".
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size >= MAX_PLAIN or 0 < size < MIN_PLAIN:
        return _with_minus(f"{value:.{digits - 1}e}")
    rounded = float(f"{value:.{digits}g}")
    for unit, name in LARGE_UNITS:
        if abs(rounded) >= unit:
            return f"{_plain(rounded / unit, digits)} {name}"
    return _plain(rounded, digits)


def format_error(value: float) -> str:
    """An error in a table."""
    return format_number(value, TABLE_DIGITS)


def format_ratio(value: float) -> str:
    """An error over another, to three decimals."""
    return f"{value:.3f}" if value < MAX_RATIO else format_number(value)


def format_short_ratio(value: float) -> str:
    """A ratio in a sentence, with two digits that say something: it is never 0.00."""
    if 0 < value < 0.01:
        return "less than 0.01"
    return f"{value:.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def format_percent(part: float) -> str:
    """A part of one as a percentage of two digits; nearly all is not rounded to all."""
    percent = 100 * part
    if math.isnan(percent):
        return "unknown"
    if 0 < percent < 0.1:
        return "less than 0.1 %"
    if 99 < percent < 100:
        return f"{min(percent, 99.9):.1f} %"
    return f"{_plain(percent, 2)} %"


def format_exact_percent(part: float) -> str:
    """A part of one as a percentage with one decimal, to compare several."""
    return f"{100 * part:.1f} %"


def format_level(level: float) -> str:
    """The share of values that a band aims at, as it was given."""
    return f"{100 * level:g} %"


def format_count(count: int) -> str:
    """A count with separators, all of its digits."""
    return f"{count:,}"


def count_of(count: int, one: str, many: str = "") -> str:
    """A count with its noun: "1 row", "1,200 rows"."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def with_unit(value: float, target: str) -> str:
    """The value with the unit that the column's name ends with, as in "load [MW]"."""
    found = re.search(r"[\[(]\s*([^\])]{1,12}?)\s*[\])]\s*$", target)
    return f"{format_number(value)} {found.group(1) if found else ''}".strip()


def forecast_writer(values: FloatArray, widths: FloatArray) -> Callable[[float], str]:
    """Writes forecasts with as many decimals as the widths of their bands give reason
    for; infinite widths do not count. A value that is not finite is empty."""
    known = widths[np.isfinite(widths) & (widths > 0)]
    sizes = np.abs(values[np.isfinite(values)])
    largest = float(sizes.max()) if len(sizes) else 0.0
    decimals = None
    if len(known) and PLAIN_VALUES[0] < largest < PLAIN_VALUES[1]:
        magnitude = math.floor(math.log10(float(np.median(known))))
        decimals = max(BAND_DIGITS - 1 - magnitude, 0)

    def write(value: float) -> str:
        if not np.isfinite(value):
            return ""
        if decimals is None:
            return format_number(float(value), TABLE_DIGITS)
        text = f"{value:,.{decimals}f}"
        return _with_minus(text) if float(value) < 0 else text

    return write


def finite(value: float) -> float | None:
    """The value for JSON, which has no NaN and no infinity: None where it is either."""
    return float(value) if np.isfinite(value) else None


def _plain(value: float, digits: int) -> str:
    """Without exponent and without zeros at the end."""
    if value == 0:
        return "0"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    text = f"{float(f'{value:.{digits}g}'):,.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return _with_minus(text)


def _with_minus(text: str) -> str:
    """The text with a proper minus sign."""
    return text.replace("-", "−", 1) if text.startswith("-") else text
