"""The one way into the Tracker's kernels: a round that a call brings, or many rows.

Compiling the round takes seconds, so it is compiled in one place, for both.
What a forecast was computed from stays in the room, so that learning at the same
features need not compute it again.
"""

from thalweg.kernels.call_header import (
    COUNT,
    HEADER_SIZE,
    N_GIVEN,
    REFUSED,
    N,
    copy_features,
    count_unexcited,
    max_legal_value,
    not_refused,
)
from thalweg.kernels.jit import inner_function, kernel, reacquire_gil, release_gil
from thalweg.kernels.layout import view
from thalweg.kernels.tracker import report, rounds
from thalweg.kernels.tracker.layout import (
    STATE_PARTS,
    WORKSPACE_PARTS,
    unpack,
    unpack_workspace,
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


# No exception while the interpreter is let go; references as in kernels/jit.py.
@kernel(ieee_division=True, counts_references=False)
def call(memory, x, y, weight, elapsed, learning):
    """What is said of y at x; then learn it, if so told. NaN, and nothing done, if
    anything is not legal or ``memory`` is closed.

    Where ``memory`` has rows to play, these, which must be legal: the round given is
    not looked at, what is said of the last of them is the answer, and other threads go
    on meanwhile.
    """
    many, known = int(memory[MANY]), False
    if many == 0:
        most = max_legal_value(memory, weight, elapsed)
        known = memory[FRESH] == 1 and _same(memory, x)
        # y first: once x is taken, what was said belongs to it.
        n = copy_features(memory, x, most) if abs(y) <= most else -1
        if n < 0:
            return REFUSED
        label = HEADER_SIZE + n
        memory[label], memory[label + 1], memory[label + 2] = y, weight, elapsed
    thread = release_gil(many > 0)
    n, count = int(memory[N]), max(many, 1)
    at = view(memory, int(memory[INDEX]), (RECORDS + 5,))
    s = unpack(memory, at, n)
    expert_workspace, rule_workspace = unpack_workspace(
        memory, view(at, STATE_PARTS, (WORKSPACE_PARTS,)), n
    )
    quiet = view(memory, int(at[QUIET]), (n,))
    records = unpack_records(memory, at, n, count)
    for t in range(count):
        row = view(memory, HEADER_SIZE + t * (n + BEHIND), (n + BEHIND,))
        features = view(row, 0, (n,))
        if not known:
            memory[FORECAST] = rounds.predict(
                s, features, expert_workspace, rule_workspace
            )
        forecast = memory[FORECAST]
        report.record(records, t, forecast, s, rule_workspace, memory[LEVEL])
        if learning:
            count_unexcited(features, quiet)
            y, weight, elapsed = row[n], row[n + 1], row[n + 2]
            rounds.observe(
                s,
                features,
                y,
                weight,
                elapsed,
                forecast,
                expert_workspace,
                rule_workspace,
            )
            memory[COUNT] += 1
    memory[FRESH] = 1.0 if many == 0 and not learning else 0.0
    reacquire_gil(thread)
    return not_refused(memory[FORECAST])


@inner_function
def _same(memory, x):
    if x.size != memory[N_GIVEN]:
        return False
    for i in range(x.size):
        if memory[HEADER_SIZE + i] != x[i]:
            return False
    return True
