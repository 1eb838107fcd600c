"""Eight experts side by side: kernels/rls.py for all of them at once."""

import math

from thalweg.kernels.jit import kernel
from thalweg.kernels.rls_bank.hold import hold, look
from thalweg.kernels.rls_bank.update import EPS, note_sizes, update
from thalweg.kernels.simd import WIDTH, load, spread, store


@kernel(ieee_division=True)
def play_together(room, at, settings, data, span, first, heard, points):
    """The rounds of ``span`` by up to eight experts from ``first`` on.

    Room (rows, 8) is theirs. What they say, lose and play goes to their places in
    ``heard`` and ``points``: see mixture.py.
    """
    t, stop = span
    while t < stop:
        t, waiting = _rounds(room, at, settings[0], data, span, t, first, heard, points)
        if waiting:
            hold(room, at, points.shape[2])


@kernel(ieee_division=True)
def _rounds(room, at, gamma, data, span, t, first, heard, points):
    """Rounds from t on: the next round, and whether ``hold`` has to act before it."""
    x, y, weight, elapsed = data
    said, incurred = heard
    start, stop = span
    n, members = x.shape[1], min(WIDTH, gamma.size - first)
    passed, waiting = math.nan, False
    while t < stop and not waiting:
        row = t - start
        if points.shape[1]:
            _note(room, at, points, row, first, members)
        root = math.sqrt(weight[t]) if len(weight) else 1.0
        for i in range(n):
            store(room, (at.v + i, 0), root * x[t, i])
        now = elapsed[t] if len(elapsed) else 1.0
        if now != passed:
            passed = now
            for lane in range(members):
                discount = (
                    gamma[first + lane] if now == 1 else gamma[first + lane] ** now
                )
                room[at.grown, lane] = 1 / max(discount, EPS**2)
        note_sizes(room, at, n)
        per_alpha = update(room, at, n)
        _learn(room, at, per_alpha, root, x, y, t, said, incurred, row, first)
        waiting = look(room, at, n)
        t += 1
    return t, waiting


@kernel(inline=True)
def _note(room, at, points, row, first, members):
    """What each expert plays."""
    _, _, n, targets = points.shape
    for lane in range(members):
        for j in range(targets):
            for i in range(n):
                points[first + lane, row, i, j] = room[at.theta + j * n + i, lane]


@kernel(inline=True)
def _learn(room, at, per_alpha, root, x, y, t, said, incurred, row, first):
    """Say what is expected of y, then move θ."""
    n, theta, loss = x.shape[1], at.theta, spread(0.0)
    for j in range(y.shape[1]):
        prediction = spread(0.0)
        for i in range(n):
            prediction = prediction + x[t, i] * load(room, (theta + i, 0))
        store(said, (row, j, first), prediction)
        error = root * (y[t, j] - prediction)
        loss = loss + 0.5 * error * error
        gain = per_alpha * error
        for i in range(n):
            step = load(room, (at.image + i, 0)) * gain
            store(room, (theta + i, 0), load(room, (theta + i, 0)) + step)
        theta += n
    store(incurred, (row, first), loss)
