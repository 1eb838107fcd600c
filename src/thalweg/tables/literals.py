"""What the text in a cell means: a missing value, a number, a time, or just text.

One rule for every format. A value is missing where the cell is empty or holds a text in
``MISSING`` such as NA, n.a., NULL, ? or -, in capital letters or small ones. A number
is plain if it is written with a decimal point and without thousands separators; true
and false are 1 and 0. How times are written is said in ``date_literals``; four digits
are a number, and so are eight, unless the column is one of dates. Blanks around a value
are no part of it.

Other numbers are read by the style of their column. In the style ``"decimal point"``
1,234.5 and 1 234.5 and 1'234.5 are numbers, in the style ``"decimal comma"`` 1.234,5
and 1 234,5 and 1'234,5. Groups have three digits, and one number has one kind of
separator. A sign of a currency before or after the number, and a percent sign after it,
are no part of it: 5 % is 5. A number in parentheses is negative, as in accounts:
(1,234.50), ($5) and $(5). In the styles with suffixes 1.2K, 1.2M, 1.2B and 1.2T are
1200, 1.2 million, 1.2 billion and 1.2 trillion.
"""

import re
from math import inf, nan
from typing import Literal

from thalweg.tables.date_literals import (
    DATE_ORDERS,
    NOT_A_TIME,
    DateOrder,
    ParsedTime,
    parse_date,
)

Kind = Literal["number", "text", "time", "other"]
"""What a column holds; lists, objects, bytes and durations are "other" and not used."""

MISSING = (
    "", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".",
    "n.a.", "n.a", "n. a.", "n/a.", "#na", "<na>", "nat", "nil", "missing", "(missing)",
    "not available", "no data", "nodata", "k.a.", "k. a.", "n.v.", "n.d.", "--", "---",
    "–", "—", "..", "...", "…", "??", "\\n", "(null)", "#null!", "#value!", "#ref!",
    "#div/0!", "#num!",
)  # fmt: skip
"""Texts that stand for a missing value, in small letters. Of other languages only those
that are no words: k.A. and n.v. are German, n.d. French."""
_MISSING = frozenset(MISSING)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER_WORDS = {"true": 1.0, "false": 0.0} | {
    sign + name: inf if sign != "-" else -inf
    for sign in ("", "+", "-")
    for name in ("inf", "infinity")
}


def is_missing(text: str) -> bool:
    """Whether the cell says that its value is missing."""
    return text.strip().lower() in _MISSING


def parse_number(text: str) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is text."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    text = text.lower()
    return nan if text in _MISSING else _NUMBER_WORDS.get(text)


def parse_time(text: str, order: DateOrder = "month first") -> ParsedTime | None:
    """The time in a cell, ``NOT_A_TIME`` where missing, None where it is text."""
    text = text.strip()
    if text.lower() in _MISSING:
        return ParsedTime(NOT_A_TIME)
    return parse_date(text, order)


def may_be_value(text: str) -> bool:
    """Whether a cell may be a number or a time, in whatever style."""
    if text.lstrip("([$€£¥'+−-., ")[:1].isdigit() or parse_number(text) is not None:
        return True
    return any(parse_time(text, order) is not None for order in DATE_ORDERS)


def text_kind(text: str) -> Kind:
    """What a column holds whose first cell is this text; numbers where missing."""
    if parse_number(text) is not None:
        return "number"
    return "time" if any(parse_time(text, order) for order in DATE_ORDERS) else "text"


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
