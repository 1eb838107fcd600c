"""The entry point of the Tracker's kernels: plays the round of a call, or many rows.

Compiling the round takes seconds, so it is compiled in one place, for both. What a
forecast was computed from stays in the workspace, so that learning at the same features
need not compute it again.
"""

from thalweg.kernels.call_header import (
    COUNT,
    HEADER_SIZE,
    N_GIVEN,
    REFUSAL,
    N,
    copy_features,
    count_unexcited,
    finite_or_refusal,
    max_legal_value,
)
from thalweg.kernels.compiler.jit import (
    inline_function,
    inner_function,
    kernel,
    reacquire_gil,
    release_gil,
)
from thalweg.kernels.compiler.layout import view
from thalweg.kernels.compiler.record import record_function
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.diagnostics import record_round
from thalweg.kernels.tracker.replay import (
    begin_replay,
    end_replay,
    is_judged,
    set_replay_row,
)
from thalweg.kernels.tracker.round import observe, predict

record = record_function(layout.BUFFER, layout.BufferViews, layout.TABLE)


# No exception may be raised while the interpreter lock is released, and whoever calls
# holds the arrays: kernels/compiler/jit.py.
@kernel(ieee_division=True, counts_references=False)
def call(buffer, x, y, weight, elapsed, learning):
    """The prediction of y at x; then, if ``learning``, learn the round.

    Returns ``REFUSAL``, and does nothing, if any number is not legal or ``buffer`` is
    closed. Where ``buffer`` has rows to play, which must be legal, these are played
    instead of the round given: the forecast of the last row is returned, and other
    threads run meanwhile.
    """
    row_count, is_predicted = int(buffer[layout.ROW_COUNT]), False
    if row_count == 0:
        limit = max_legal_value(buffer, weight, elapsed)
        is_predicted = buffer[layout.HAS_FORECAST] == 1 and _has_features(buffer, x)
        # y is checked first: once x is copied, the forecast must belong to it.
        n = copy_features(buffer, x, limit) if abs(y) <= limit else -1
        if n < 0:
            return REFUSAL
        label = HEADER_SIZE + n
        buffer[label], buffer[label + 1], buffer[label + 2] = y, weight, elapsed
    thread = release_gil(row_count > 0)
    _play_rows(buffer, max(row_count, 1), is_predicted, learning)
    buffer[layout.HAS_FORECAST] = 1.0 if row_count == 0 and not learning else 0.0
    reacquire_gil(thread)
    return finite_or_refusal(buffer[layout.FORECAST])


# An inner function, since most of what it calls is called by inner functions too, and
# would be compiled again for a kernel (kernels/compiler/jit.py).
@inner_function
def _play_rows(buffer, count, is_predicted, learning):
    """Play the first ``count`` rows of the buffer.

    Where ``is_predicted``, the forecast is that of the buffer. If the last rounds are
    to be replayed after a row, they are played before the next one.
    """
    n, fields = int(buffer[N]), record(buffer)
    s, former, workspace = fields.state, fields.former, fields.workspace
    status, packed, copy = workspace.experts.status, fields.packed, fields.former_packed
    t, replayed, to_replay, loss = 0, 0, 0, 0.0
    while t < count:
        row, is_replay, is_due = fields.rows[t], replayed < to_replay, False
        features, y, forecast = view(row, 0, (n,)), 0.0, buffer[layout.FORECAST]
        if is_replay:  # in the place of the row that was just learnt
            set_replay_row(former, replayed, row, n)
        if is_replay or not is_predicted:
            forecast = predict(s, features, workspace)
        if not is_replay:
            _record(buffer, fields, t, forecast, features, learning)
        if learning:
            y, weight, elapsed = row[n], row[n + 1], row[n + 2]
            is_due = observe(s, features, y, weight, elapsed, forecast, workspace)
        if is_replay:
            loss += (y - forecast) ** 2 if is_judged(replayed) else 0.0
            replayed += 1
            if replayed == to_replay:
                end_replay(s, former, packed, copy, loss)
                status[layout.HAS_FACTORS] = 0.0
        elif is_due:
            to_replay, replayed, loss = begin_replay(s, former, packed, copy), 0, 0.0
            status[layout.HAS_FACTORS] = 0.0
        if replayed == to_replay:
            t += 1


@kernel(ieee_division=True)
def call_targets(buffer, x, y, weight, elapsed, learning):
    """``call`` for k targets, whose buffers of equal length follow each other.

    y (k,) holds the labels, or is filled with the forecasts unless ``learning``.
    Returns a number, or ``REFUSAL`` where nothing was learnt.
    """
    targets = int(buffer[layout.TARGETS])
    limit = max_legal_value(buffer, weight, elapsed)
    if y.size != targets:
        return REFUSAL
    for j in range(targets if learning else 0):
        if not abs(y[j]) <= limit:  # also refuses NaN
            return REFUSAL
    size, forecast = buffer.size // targets, 0.0
    for j in range(targets):
        # The first refuses what any of them would refuse.
        own, label = view(buffer, j * size, (size,)), y[j] if learning else 0.0
        forecast = call(own, x, label, weight, elapsed, learning)
        if forecast != forecast:
            return REFUSAL
        if not learning:
            y[j] = forecast
    return forecast


@inline_function
def _record(buffer, fields, t, forecast, features, learning):
    """Record the forecast of row t and its diagnostics; count it, if it is learnt."""
    buffer[layout.FORECAST], records = forecast, fields.records
    coverage = buffer[layout.COVERAGE]
    record_round(records, t, forecast, fields.state, fields.workspace, coverage)
    if learning:
        count_unexcited(features, fields.unexcited_rounds)
        buffer[COUNT] += 1


@inner_function
def _has_features(buffer, x):
    """Whether the features of the first row are ``x``."""
    if x.size != buffer[N_GIVEN]:
        return False
    for i in range(x.size):
        if buffer[HEADER_SIZE + i] != x[i]:
            return False
    return True
