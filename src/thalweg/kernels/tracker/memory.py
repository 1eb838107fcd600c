"""What lies where in the one array that the Tracker's kernel works with.

Handing over an argument takes longer than many a step of a round, so all is in there:
a header (kernels/call_header.py), then
    rounds   rows of x (n), y, weight and elapsed time; a call puts its own in the first
    index    where each of the following parts begins
    quiet, state and room (layout.py), and what is recorded of each round (Records)
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.kernels.call_header import HEADER_SIZE, SETTINGS
from thalweg.kernels.jit import inline_function
from thalweg.kernels.layout import view
from thalweg.kernels.tracker.layout import (
    EXPERTS,
    LINE_FLOATS,
    STATE_PARTS,
    WORKSPACE_PARTS,
    lengths,
    starts,
    workspace_lengths,
)

FORECAST, FRESH, MANY, LEVEL, INDEX = range(SETTINGS, SETTINGS + 5)
"""What was last said; whether that was at the features of the first row and of this
state; how many rows there are to play, or 0 where a call brings its own round; the
coverage of intervals; where the index begins."""
BEHIND = 3
"""Numbers of a row behind its features: y, weight, elapsed."""
QUIET = STATE_PARTS + WORKSPACE_PARTS
"""Of the index: where ``quiet`` begins. Then the records, 0 where not wanted."""
RECORDS = QUIET + 1


class Records(NamedTuple):
    """What is kept of each round, from before y is seen: each of these or empty."""

    forecast: np.ndarray  # (rows,)
    theta: np.ndarray  # (rows, n)
    weights: np.ndarray  # (rows, EXPERTS)
    memory: np.ndarray  # (rows,)
    interval: np.ndarray  # (rows, 2) at coverage ``memory[LEVEL]``


@functools.lru_cache(256)
def plan(n: int, size: int, rows: int, wanted: tuple[str, ...]) -> tuple[int, ...]:
    """What the index says, and where all ends.

    For ``n`` features, a state of that ``size``, so many ``rows``, and the names of
    those Records that are ``wanted``.
    """
    quiet = index_place(n, rows) + _whole_lines(RECORDS + len(Records._fields))
    state = quiet + _whole_lines(n)
    workspace = starts(workspace_lengths(n), state + _whole_lines(size))
    found, end = (
        [*starts(lengths(n), state), *workspace, quiet],
        _whole_lines(workspace[-1]),
    )
    for name, width in zip(Records._fields, (1, n, EXPERTS, 1, 2), strict=True):
        found.append(end if name in wanted else 0)
        end += rows * width if name in wanted else 0
    return (*found, end)


def index_place(n: int, rows: int) -> int:
    """Where the index begins."""
    return _whole_lines(HEADER_SIZE + rows * (n + BEHIND))


def _whole_lines(numbers: int) -> int:
    return (numbers + LINE_FLOATS - 1) // LINE_FLOATS * LINE_FLOATS


def records_at(memory: np.ndarray, at: Sequence[int], n: int, rows: int) -> Records:
    """The records, which begin ``at`` these places of ``memory``, or are not wanted."""
    said, theta, weights = int(at[RECORDS]), int(at[RECORDS + 1]), int(at[RECORDS + 2])
    length, interval = int(at[RECORDS + 3]), int(at[RECORDS + 4])
    return Records(
        view(memory, said, (rows if said else 0,)),
        view(memory, theta, (rows if theta else 0, n)),
        view(memory, weights, (rows if weights else 0, EXPERTS)),
        view(memory, length, (rows if length else 0,)),
        view(memory, interval, (rows if interval else 0, 2)),
    )


unpack_records = inline_function(records_at)
"""For kernels only, as the parts in it are."""
