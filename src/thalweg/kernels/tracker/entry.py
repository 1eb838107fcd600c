"""The one way into the Tracker's kernels: a round that a call brings, or many rows.

Compiling the round takes seconds, so it is compiled in one place, for both.
What a forecast was computed from stays in the room, so that learning at the same
features need not compute it again.
"""

import math

from numba import njit

from thalweg.kernels.head import (
    COUNT,
    GIVEN,
    HEAD,
    N,
    most_legal,
    note_silence,
    said,
    take,
)
from thalweg.kernels.inner import inner
from thalweg.kernels.interpreter import release, retake
from thalweg.kernels.parts import part
from thalweg.kernels.tracker import report, rounds
from thalweg.kernels.tracker.layout import (
    ROOM_PARTS,
    STATE_PARTS,
    unpack,
    unpack_room,
)
from thalweg.kernels.tracker.memory import (
    BEHIND,
    FORECAST,
    FRESH,
    INDEX,
    LEVEL,
    MANY,
    QUIET,
    RECORDS,
    unpack_records,
)


# No exception while the interpreter is let go; references as in kernels/inner.py.
@njit(cache=True, error_model="numpy", _nrt=False)
def call(memory, x, y, weight, elapsed, learning):
    """What is said of y at x; then learn it, if so told. NaN, and nothing done, if
    anything is not legal or ``memory`` is closed.

    Where ``memory`` has rows to play, these, which must be legal: the round given is
    not looked at, what is said of the last of them is the answer, and other threads go
    on meanwhile.
    """
    many, known = int(memory[MANY]), False
    if many == 0:
        most = most_legal(memory, weight, elapsed)
        known = memory[FRESH] == 1 and _same(memory, x)
        # y first: once x is taken, what was said belongs to it.
        n = take(memory, x, most) if abs(y) <= most else -1
        if n < 0:
            return math.nan
        label = HEAD + n
        memory[label], memory[label + 1], memory[label + 2] = y, weight, elapsed
    thread = release(many > 0)
    n, count = int(memory[N]), max(many, 1)
    at = part(memory, int(memory[INDEX]), (RECORDS + 5,))
    s = unpack(memory, at, n)
    sums, votes = unpack_room(memory, part(at, STATE_PARTS, (ROOM_PARTS,)), n)
    quiet = part(memory, int(at[QUIET]), (n,))
    records = unpack_records(memory, at, n, count)
    for t in range(count):
        row = part(memory, HEAD + t * (n + BEHIND), (n + BEHIND,))
        features = part(row, 0, (n,))
        if not known:
            memory[FORECAST] = rounds.predict(s, features, sums, votes)
        forecast = memory[FORECAST]
        report.record(records, t, forecast, s, votes, memory[LEVEL])
        if learning:
            note_silence(features, quiet)
            y, weight, elapsed = row[n], row[n + 1], row[n + 2]
            rounds.observe(s, features, y, weight, elapsed, forecast, sums, votes)
            memory[COUNT] += 1
    memory[FRESH] = 1.0 if many == 0 and not learning else 0.0
    retake(thread)
    return said(memory[FORECAST])


@inner
def _same(memory, x):
    if x.size != memory[GIVEN]:
        return False
    for i in range(x.size):
        if memory[HEAD + i] != x[i]:
            return False
    return True
