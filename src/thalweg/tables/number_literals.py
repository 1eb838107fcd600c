"""Numbers as people write them: with thousands separators or a decimal comma.

In the style ``"decimal point"`` 1,234.5 and 1 234.5 and 1'234.5 are numbers, in the
style ``"decimal comma"`` 1.234,5 and 1 234,5 and 1'234,5. Groups have three digits, and
one number has one kind of separator. A sign of a currency before or after the number,
and a percent sign after it, are no part of it: 5 % is 5. A number in parentheses is
negative, as in accounts: (1,234.50), ($5) and $(5). In the styles with suffixes
1.2K, 1.2M, 1.2B and 1.2T are 1200, 1.2 million, 1.2 billion and 1.2 trillion.
"""

import re
from typing import Literal

from thalweg.tables.literals import is_missing, parse_number

NumberStyle = Literal[
    "plain", "decimal point", "decimal comma", "decimal point, suffixes",
    "decimal comma, suffixes",
]  # fmt: skip
"""``"plain"`` is what ``literals.parse_number`` reads."""
NUMBER_STYLES: tuple[NumberStyle, ...] = ("plain", "decimal point", "decimal comma")
SUFFIX_STYLES: tuple[NumberStyle, ...] = (
    "decimal point, suffixes", "decimal comma, suffixes",
)  # fmt: skip
ALL_STYLES = (*NUMBER_STYLES, *SUFFIX_STYLES)
POWER_OF_SUFFIX = {"K": "e3", "k": "e3", "M": "e6", "B": "e9", "T": "e12"}
_BLANK = "[ \u00a0\u202f\u2009]"
_CURRENCY = f"(?:[$€£¥]{_BLANK}?)"
_UNIT = f"(?:{_BLANK}?[$€£¥%])?"
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_SUFFIX = f"(?:{_BLANK}?[{''.join(POWER_OF_SUFFIX)}])?"


def _pattern(decimal: str, thousands: str, ending: str = _EXPONENT) -> str:
    groups = "|".join(
        rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+"
        for mark in (thousands, _BLANK, "['’]")
    )
    number = (
        rf"(?:(?:{groups}|[0-9]+)(?:{decimal}[0-9]*)?|{decimal}[0-9]+){ending}{_UNIT}"
    )
    return (
        rf"{_CURRENCY}?(?:[+-]?{_CURRENCY}?{number}|"
        rf"[(]{_BLANK}?{_CURRENCY}?{number}{_BLANK}?[)]{_UNIT})"
    )


PATTERNS: dict[NumberStyle, str] = {
    "decimal point": _pattern(r"\.", ","),
    "decimal comma": _pattern(",", r"\."),
    "decimal point, suffixes": _pattern(r"\.", ",", _SUFFIX),
    "decimal comma, suffixes": _pattern(",", r"\.", _SUFFIX),
}
"""Each style as a regular expression, of Python and of RE2, for a whole cell."""
_POINT_SEPARATORS = f"[,'’$€£¥%)]|{_BLANK}"
_COMMA_SEPARATORS = f"[.'’$€£¥%)]|{_BLANK}"
SEPARATORS: dict[NumberStyle, str] = {
    "decimal point": _POINT_SEPARATORS,
    "decimal comma": _COMMA_SEPARATORS,
    "decimal point, suffixes": _POINT_SEPARATORS,
    "decimal comma, suffixes": _COMMA_SEPARATORS,
}
"""What is removed before the decimal mark becomes a point, and ( a minus."""
_COMPILED = {style: re.compile(pattern) for style, pattern in PATTERNS.items()}
_REMOVED = {style: re.compile(pattern) for style, pattern in SEPARATORS.items()}
_FRACTION_AND_SUFFIX = {
    style: re.compile(rf"{mark}[0-9]+{_BLANK}?[{''.join(POWER_OF_SUFFIX)}]")
    for style, mark in zip(SUFFIX_STYLES, (r"\.", ","), strict=True)
}


def has_fraction_and_suffix(text: str, style: NumberStyle) -> bool:
    """Whether a number such as 1.2M stands there, which 2B, a name of a place, is not.

    ``style`` is one of those with suffixes.
    """
    return _FRACTION_AND_SUFFIX[style].search(text) is not None


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
    bare = _REMOVED[style].sub("", text).replace(",", ".").replace("(", "-")
    if style in SUFFIX_STYLES:
        power = POWER_OF_SUFFIX.get(bare[-1])
        bare = bare if power is None else bare[:-1] + power
    return float(bare)
