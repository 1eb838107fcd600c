"""What the text in a cell means: a missing value, a number, a time, or just text.

One rule for every format. A value is missing where the cell is empty or holds a text in
``MISSING`` such as NA, n.a., NULL, ? or -, in capital letters or small ones. A number
is plain if it is written with a decimal point and without thousands separators (others:
``number_literals``); true and false are 1 and 0. How times are written is said in
``date_literals``; four digits are a number, and so are eight, unless the column is one
of dates. Blanks around a value are no part of it.
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
