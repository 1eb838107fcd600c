"""How one column of a table is written, where the first cell alone does not say it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from thalweg.tables.cells import Cells
from thalweg.tables.date_literals import DATE_ORDERS, DateOrder, UnixUnit, parse_date
from thalweg.tables.literals import Kind
from thalweg.tables.number_literals import NumberStyle, parse_styled_number
from thalweg.tables.timestamps import Timestamps
from thalweg.tables.unix_times import unix_times

TIME_EXAMPLES = "such as 2024-01-31, 2024-01-31T18:30:00 or Jan 31 2024"
_MARKS: dict[NumberStyle, str] = {"decimal point": ".", "decimal comma": ","}
Setting = Callable[[str, str], str]
"""How a user says it: ``Chunk.setting``."""


class ColumnFormat(NamedTuple):
    """What a column holds and how; all rows of a run are read so."""

    name: str
    kind: Kind
    number_style: NumberStyle = "plain"
    date_order: DateOrder = "month first"
    unix_unit: UnixUnit = ""  # of numbers that are times

    def timestamps(self, cells: Cells) -> Timestamps:
        """The cells as times."""
        if self.unix_unit:
            return unix_times(cells, self.unix_unit)
        return cells.timestamps(self.date_order)


PLAIN = ColumnFormat("", "number")
"""The format of columns that have no other."""


def decimal_hint(
    value: Any, known: ColumnFormat, setting: Setting, texts: Sequence[str] = ()
) -> str:
    """What to say of a cell that is a number in another style than its column's.

    ``texts`` are cells of a column that is read as plain numbers: all of them must be
    numbers in the other style.
    """
    texts = texts if known.number_style == "plain" else ()
    for style, mark in _MARKS.items():
        if not isinstance(value, str) or parse_styled_number(value, style) is None:
            continue
        no_number = (text for text in texts if parse_styled_number(text, style) is None)
        culprit = next(no_number, None)
        if culprit is not None:
            return (
                f" in plain digits, and {culprit!r} in the same column is none with a "
                f"{style} either"
            )
        wanted = setting("decimal", mark)
        other = "comma" if style == "decimal point" else "point"
        if known.number_style != "plain" or style == "decimal comma":
            return f" with a decimal {other}; read all with a {style}: {wanted}"
        return f" in plain digits; read thousands separators as well: {wanted}"
    return ""


def order_hint(value: Any, known: ColumnFormat, setting: Setting) -> str:
    """What to say of a cell that is no time: the order of day and month, or how."""
    first, last = DATE_ORDERS
    other = last if known.date_order == first else first
    if isinstance(value, str) and parse_date(value.strip(), other) is not None:
        wanted = setting("dayfirst", str(other == "day first"))
        return f" with the {known.date_order}; read all with the {other}: {wanted}"
    return f" {TIME_EXAMPLES}"
