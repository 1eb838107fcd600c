"""Numbers as people write them: few digits, thousands separators, no exponents."""

import math

LARGE_UNITS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
MAX_PLAIN, MIN_PLAIN = 1e15, 1e-5
"""Beyond these a number has an exponent, as nobody counts so many zeros."""


def format_number(value: float, digits: int = 3) -> str:
    """The value rounded to so many significant digits, with separators.

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


def format_count(count: int) -> str:
    """A count with separators, all of its digits."""
    return f"{count:,}"


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
