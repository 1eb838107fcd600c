"""What separates the cells of a line: a comma, a semicolon, a tab or a bar.

Of a pipe the header decides: the mark that occurs most often in it, outside quotes. Of
a file the next lines are looked at as well, and a mark that gives each of them as many
cells as the header comes first: in ``Date;Power (kW, net)`` and ``1.8.2019;1,5`` that
is the semicolon, with which a decimal comma is no separator.
"""

import re
from collections.abc import Sequence

DELIMITERS = (",", ";", "\t", "|")
LOOK_LINES = 10
"""Lines after the header that are looked at."""
_QUOTED = re.compile(rb'"[^"]*"')


def sniff_delimiter(header: bytes, rows: Sequence[bytes] = ()) -> str:
    """The most likely of ``DELIMITERS``; a comma if the header has none of them."""
    names = _QUOTED.sub(b"", header)
    lines = [_QUOTED.sub(b"", row) for row in rows if row.strip()]
    marks = [mark for mark in DELIMITERS if mark.encode() in names]

    def fit(mark: str) -> tuple[bool, int, bool]:
        count = names.count(mark.encode())
        fits = bool(lines) and all(line.count(mark.encode()) == count for line in lines)
        # Of two that fit alike, the comma is more often a part of a name or a number.
        return fits, count, fits and mark != ","

    return max(marks, key=fit, default=",")
