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
    take,
)
from thalweg.kernels.parts import part
from thalweg.kernels.tracker import rounds
from thalweg.kernels.tracker.layout import (
    LINE,
    lengths,
    room_lengths,
    unpack,
    unpack_room,
)

FORECAST, FRESH, QUIET, STATE, ROOM = range(SETTINGS, SETTINGS + 5)
"""What was last said; whether that was at the features in memory and of this state;
where quiet, state and room begin."""


def places(n: int) -> tuple[int, int, int, int]:
    """Where quiet, state and room of ``n`` features begin, and where all ends."""
    padded = (n + LINE - 1) // LINE * LINE
    state = HEAD + 2 * padded
    room = state + sum(lengths(n))
    return HEAD + padded, state, room, room + sum(room_lengths(n))


@njit(cache=True)
def call(memory, x, y, weight, elapsed, learning):
    """What is said of y at x; then learn it, if so told. NaN, and nothing done, if
    anything is not legal or ``memory`` is closed.
    """
    most = most_legal(memory, weight, elapsed)
    known = memory[FRESH] == 1 and _same(memory, x)
    n = take(memory, x, most)
    if n < 0 or not abs(y) <= most:
        return math.nan
    s = unpack(part(memory, int(memory[STATE]), (memory.size,)), n)
    sums, votes = unpack_room(part(memory, int(memory[ROOM]), (memory.size,)), n)
    row = part(memory, HEAD, (n,))
    if not known:
        memory[FORECAST] = rounds.predict(s, row, sums, votes)
    memory[FRESH] = 1.0
    if learning:
        note_silence(row, part(memory, int(memory[QUIET]), (n,)))
        rounds.learn(s, row, y, weight, elapsed, memory[FORECAST], sums, votes)
        memory[FRESH] = 0.0
        memory[COUNT] += 1
    return memory[FORECAST]


@njit(cache=True)
def _same(memory, x):
    if x.size != memory[GIVEN]:
        return False
    for i in range(x.size):
        if memory[HEAD + i] != x[i]:
            return False
    return True
