"""Numbers as people write them: with thousands separators or a decimal comma.

In the style ``"decimal point"`` 1,234.5 and 1 234.5 and 1'234.5 are numbers, in the
style ``"decimal comma"`` 1.234,5 and 1 234,5 and 1'234,5. Groups have three digits, and
one number has one kind of separator. A sign of a currency before or after the number,
and a percent sign after it, are no part of it: 5 % is 5.
"""

import re
from typing import Literal

from thalweg.tables.literals import is_missing, parse_number

NumberStyle = Literal["plain", "decimal point", "decimal comma"]
"""``"plain"`` is what ``literals.parse_number`` reads."""
NUMBER_STYLES: tuple[NumberStyle, ...] = ("plain", "decimal point", "decimal comma")
_BLANK = "[ \u00a0\u202f\u2009]"
_CURRENCY = f"(?:[$€£¥]{_BLANK}?)"


def _pattern(decimal: str, thousands: str) -> str:
    groups = "|".join(
        rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+"
        for mark in (thousands, _BLANK, "['’]")
    )
    return (
        rf"{_CURRENCY}?(?P<number>[+-]?{_CURRENCY}?(?:(?:{groups}|[0-9]+)"
        rf"(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?)"
        rf"(?:{_BLANK}?[$€£¥%])?"
    )


PATTERNS: dict[NumberStyle, str] = {
    "decimal point": _pattern(r"\.", ","),
    "decimal comma": _pattern(",", r"\."),
}
"""Each style as a regular expression, of Python and of RE2, for a whole cell."""
SEPARATORS: dict[NumberStyle, str] = {
    "decimal point": f"[,'’$€£¥%]|{_BLANK}",
    "decimal comma": f"[.'’$€£¥%]|{_BLANK}",
}
"""What is removed before the decimal mark becomes a point."""
_COMPILED = {style: re.compile(pattern) for style, pattern in PATTERNS.items()}
_REMOVED = {style: re.compile(pattern) for style, pattern in SEPARATORS.items()}


def style_of_mark(mark: str) -> NumberStyle:
    """The style that has this decimal mark, a point or a comma."""
    return "decimal comma" if mark == "," else "decimal point"


def parse_styled_number(text: str, style: NumberStyle) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is text."""
    if style == "plain":
        return parse_number(text)
    text = text.strip()
    if _COMPILED[style].fullmatch(text) is None:
        # Words such as true and inf, and missing values.
        is_word = text[-1:].isalpha() or is_missing(text)
        return parse_number(text) if is_word else None
    return float(_REMOVED[style].sub("", text).replace(",", "."))
