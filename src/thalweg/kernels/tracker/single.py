"""The Tracker one call at a time: a head (head.py), then x, quiet, state and room.

What a forecast was computed from stays in the room, so that learning at the same
features need not compute it again.
"""

import math

from numba import njit

from thalweg.kernels.head import (
    COUNT,
    GIVEN,
    HEAD,
    SETTINGS,
    most_legal,
    note_silence,
    said,
    take,
)
from thalweg.kernels.parts import part
from thalweg.kernels.tracker import rounds
from thalweg.kernels.tracker.layout import (
    LINE,
    room_lengths,
    unpack,
    unpack_room,
)

FORECAST, FRESH, QUIET, STATE, ROOM = range(SETTINGS, SETTINGS + 5)
"""What was last said; whether that was at the features in memory and of this state;
where quiet, state and room begin."""


def places(n: int, size: int) -> tuple[int, int, int, int]:
    """Where quiet, state and room of ``n`` features begin, and where all ends.

    ``size`` is that of the state.
    """
    padded = (n + LINE - 1) // LINE * LINE
    state = HEAD + 2 * padded
    room = state + (size + LINE - 1) // LINE * LINE
    return HEAD + padded, state, room, room + sum(room_lengths(n))


@njit(cache=True)
def call(memory, x, y, weight, elapsed, learning):
    """What is said of y at x; then learn it, if so told. NaN, and nothing done, if
    anything is not legal or ``memory`` is closed.
    """
    most = most_legal(memory, weight, elapsed)
    known = memory[FRESH] == 1 and _same(memory, x)
    # y first: once x is taken, what was said belongs to it.
    n = take(memory, x, most) if abs(y) <= most else -1
    if n < 0:
        return math.nan
    state, room = int(memory[STATE]), int(memory[ROOM])
    s = unpack(part(memory, state, (room - state,)), n)
    sums, votes = unpack_room(part(memory, room, (memory.size - room,)), n)
    row = part(memory, HEAD, (n,))
    if not known:
        memory[FORECAST] = rounds.predict(s, row, sums, votes)
    memory[FRESH] = 1.0
    if learning:
        note_silence(row, part(memory, int(memory[QUIET]), (n,)))
        rounds.observe(s, row, y, weight, elapsed, memory[FORECAST], sums, votes)
        memory[FRESH] = 0.0
        memory[COUNT] += 1
    return said(memory[FORECAST])


@njit(cache=True)
def _same(memory, x):
    if x.size != memory[GIVEN]:
        return False
    for i in range(x.size):
        if memory[HEAD + i] != x[i]:
            return False
    return True
