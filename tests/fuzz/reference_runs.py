"""Slow, obvious runs of every learner, in extended precision where that is possible.

``reference_run(learner, loss, start, block)`` gives the predictions that the formula of
the algorithm makes, and in which rounds rounding cannot excuse another answer:

- Least squares is solved afresh for every round by Householder reflections in extended
  precision. A round is judged where the condition of the weighted rows, features in
  units of their largest value so far, is at most ``MAX_CONDITION``: beyond that the
  covariance cap, which is documented, departs from the textbook. Once it may have done
  so, what it retains of the past counts, and ``MAX_CONDITION_AFTER_CAP`` holds.
- Newton's and directional recursions are played with dense matrices, judged by the
  condition of P in the same way; gradient rules as they stand in the papers.
- Mixtures are mixed from runs of each expert alone, by the formula of the paper.
- The Trackers, and least squares with a retained ridge, are compared with ``update``,
  which is their definition in Python.
"""

from typing import NamedTuple

import numpy as np

from thalweg import learners
from thalweg.checks import MAX_MAGNITUDE
from thalweg.learners import Learner
from thalweg.types import Block

MAX_CONDITION = {np.dtype(np.float64): 1e6, np.dtype(np.float32): 30.0}
MAX_CONDITION_AFTER_CAP = 10.0
MAX_SIZE_RATIO = 1e8
"""Of a feature's values, where rounds after the cap are judged: with larger ones, θ was
so far off on the way that its digits are lost."""
MIN_SIZE = {np.dtype(np.float64): 1e-100, np.dtype(np.float32): 1e-12}
"""Of a feature without a prior: the variance of a smaller one stands for infinity."""
MAX_LOG_WEIGHT = {np.dtype(np.float64): 1e6, np.dtype(np.float32): 1e3}
"""Mixtures are judged as long as all losses times the rate are smaller: the logarithm
of a weight has no digits left for the next losses beyond."""
NULL_SHARE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-3}
"""Of the size of rows: what is smaller is rounding, not another direction."""
MAX_GRADIENT = {np.dtype(np.float64): 1e70, np.dtype(np.float32): 1e8}
"""Newton is judged as long as no gradient is larger: it is scaled down beyond."""


class ReferenceRun(NamedTuple):
    """What the formula predicts, and where it is certain enough to judge by."""

    prediction: np.ndarray  # of the shape of the trace's
    is_judged: np.ndarray  # (T,) bool


def reference_run(learner, loss, start, block):
    """The run of the slow oracle from ``start``, whose dtype says how strict it is."""
    dtype = start.dtype
    wide = Block(
        *(
            None if c is None else np.asarray(c, np.float64)
            for c in (block.x, block.y, block.weight, block.elapsed)
        )
    )
    with np.errstate(all="ignore"):
        function = REFERENCES[type(learner)]
        return function(learner, loss, start.astype(np.float64), wide, dtype)


def _rates(block):
    T = len(block.y)
    weight = np.ones(T) if block.weight is None else block.weight
    elapsed = np.ones(T) if block.elapsed is None else block.elapsed
    return weight.astype(np.longdouble), elapsed


# Least squares


def solve_least_squares(A, b):
    """argmin ‖Aθ - b‖ by Householder reflections in extended precision."""
    n = A.shape[1]
    R = np.column_stack([A, b]).astype(np.longdouble)
    for j in range(n):
        v = R[j:, j].copy()
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        square = v @ v
        if square > 0:
            R[j:, j:] -= np.outer(2 * v / square, v @ R[j:, j:])
    theta = np.zeros((n, R.shape[1] - n), np.longdouble)
    for j in range(n - 1, -1, -1):
        theta[j] = (R[j, n:] - R[j, j + 1 : n] @ theta[j + 1 :]) / R[j, j]
    return theta


def condition(A):
    """1/σ_min of rows whose entries are at most 1 in size, or their condition."""
    if not np.isfinite(A).all():
        return np.inf
    sigma = np.linalg.svd(A.astype(np.float64), compute_uv=False)
    if len(sigma) < A.shape[1] or sigma[-1] == 0:
        return np.inf
    return max(sigma[0], 1.0) / sigma[-1]


def weighted_rows(discount, ridge, start, block, t):
    """Rows and labels, prior first, whose least squares are θ after t rounds."""
    weight, elapsed = _rates(block)
    gamma = np.longdouble(discount)
    factors = gamma ** elapsed[:t]
    after = np.append(np.cumprod(factors[::-1])[::-1][1:], [1.0])[:t]
    root = np.sqrt(weight[:t] * after)[:, None]
    kept = np.sqrt(np.longdouble(ridge) * np.prod(factors))
    n = len(start)
    y = block.y[:t].reshape(t, start.size // n)
    A = np.concatenate([kept * np.eye(n), root * block.x[:t]])
    b = np.concatenate([kept * start.reshape(n, -1), root * y])
    return A, b


def least_squares(learner, loss, start, block, dtype):
    """RLS as least squares over all rounds so far, solved afresh in every round."""
    if learner.floor is not None:
        return definition(learner, loss, start, block, dtype)
    T = len(block)
    prediction = np.zeros((T, *block.y.shape[1:]), np.longdouble)
    conditions, root = np.zeros(T), np.sqrt(_rates(block)[0])[:, None]
    seen_conditions = np.zeros(T)
    for t in range(T):
        A, b = weighted_rows(learner.discount, learner.ridge, start, block, t)
        # The covariance cap takes √ridge for the first size of every feature.
        first = max(np.sqrt(learner.ridge), np.finfo(float).tiny)
        size = np.abs(root[:t] * block.x[:t]).max(axis=0, initial=first)
        conditions[t] = seen_conditions[t] = condition(A / size)
        if learner.ridge == 0:
            seen_conditions[t] = _seen_condition(
                A / size, root[:t] * block.x[:t] / size, dtype
            )
        if conditions[t] <= MAX_CONDITION[dtype]:
            theta = solve_least_squares(A / size, b) / size[:, None]
            prediction[t] = (block.x[t] @ theta).reshape(block.y.shape[1:])
    judged = _judge(
        conditions, seen_conditions, learner.ridge == 0, root * block.x, dtype
    )
    return ReferenceRun(prediction, judged)


def general_least_squares(learner, loss, start, block, dtype):
    """Least squares over all rows of all rounds so far, solved afresh.

    There is no prior: a round is judged where the matrix of every earlier one has full
    column rank, which the theorems assume and the learner's promise asks for, and no
    feature changes its size by more than ``MAX_SIZE_RATIO``.
    """
    T, m, n = block.x.shape
    # Rows of one round as rounds between which no time passes.
    weight, elapsed = _rates(block)
    times = np.zeros((T, m))
    times[:, 0] = elapsed
    rows = Block(
        block.x.reshape(-1, n), block.y.ravel(), np.repeat(weight, m), times.ravel()
    )
    prediction, scaled = np.zeros((T, m), np.longdouble), np.sqrt(rows.weight)[:, None]
    scaled = scaled * rows.x
    conditions, seen_conditions = np.full(T, np.inf), np.zeros(T)
    for t in range(1, T):
        A, b = weighted_rows(learner.discount, 0.0, start, rows, t * m)
        size = np.abs(scaled[: t * m]).max(axis=0, initial=np.finfo(float).tiny)
        conditions[t] = condition(A / size)
        seen_conditions[t] = _seen_condition(A / size, scaled[: t * m] / size, dtype)
        if conditions[t] <= MAX_CONDITION[dtype]:
            theta = solve_least_squares(A / size, b) / size[:, None]
            prediction[t] = (block.x[t] @ theta)[:, 0]
    judged = _judge(conditions, seen_conditions, True, scaled, dtype)
    judged &= _size_ratio(scaled) <= MAX_SIZE_RATIO
    limit = MAX_CONDITION[dtype]
    has_rank = [condition(x / np.abs(x).max(axis=0)) <= limit for x in block.x]
    judged &= np.logical_and.accumulate(np.append(True, has_rank)[:-1])
    # Rows of zeros predict 0, whatever was learnt.
    return ReferenceRun(prediction, judged | ~block.x.any(axis=(1, 2)))


def _seen_condition(weighted, rows, dtype):
    """The condition of weighted rows in the span of all rows, faded or not.

    Without a prior, directions that were never seen are unknown, and not capped; those
    that were seen are capped, once what is left of their rows is too little.
    """
    if not np.isfinite(rows).all() or not rows.any():
        return 0.0
    _, sigma, basis = np.linalg.svd(rows.astype(np.float64), full_matrices=False)
    span = basis[sigma > NULL_SHARE[dtype] * sigma[0]]
    return condition(weighted.astype(np.float64) @ span.T)


def _judge(conditions, seen_conditions, without_prior, rows, dtype):
    """The rounds to judge: well conditioned, and before the cap may have acted.

    It may have where a direction that was seen has faded: ``seen_conditions``.
    """
    small = conditions <= MAX_CONDITION[dtype]
    sizes = np.abs(rows[rows != 0])
    if sizes.size and without_prior and sizes.min() < MIN_SIZE[dtype]:
        return np.zeros_like(small)
    uncapped = np.logical_and.accumulate(seen_conditions <= MAX_CONDITION[dtype])
    if _size_ratio(rows) > MAX_SIZE_RATIO:
        return small & uncapped
    return small & (uncapped | (conditions <= MAX_CONDITION_AFTER_CAP))


def _size_ratio(rows):
    """The largest ratio of two values of one feature, zeros apart."""
    sizes = np.where(rows == 0, np.nan, np.abs(rows))
    sizes = sizes[:, (rows != 0).any(axis=0)]
    return np.max(np.nanmax(sizes, axis=0) / np.nanmin(sizes, axis=0), initial=1.0)


def definition(learner, loss, start, block, dtype):
    """``update`` round by round; of RLS, judged where the retained ridge is known."""
    _, trace = Learner._play(learner, learner.init(start), loss, block, ())
    judged = np.ones(len(block), bool)
    if isinstance(learner, learners.RecursiveLeastSquares):
        # The ridge is restored after the round was learnt without it. In single
        # precision the step back may cancel all digits, so that the ridge that is
        # restored does not count for the condition.
        single = dtype == np.float32
        restored = np.sqrt(0.0 if single else learner.floor / 4) * np.eye(len(start))
        first = np.sqrt(max(learner.floor, learner.ridge))
        root = np.sqrt(_rates(block)[0])[:, None]
        for t in range(len(block)):
            A, _ = weighted_rows(learner.discount, learner.ridge, start, block, t)
            size = np.abs(root[:t] * block.x[:t]).max(axis=0, initial=first)
            A = np.concatenate([A, restored]) / size
            judged[t] = condition(A) <= MAX_CONDITION[dtype]
    return ReferenceRun(trace.prediction, np.logical_and.accumulate(judged))


def clipped(learner, loss, start, block, dtype):
    run = least_squares(learner.rls, loss, start, block, dtype)
    return run._replace(prediction=np.clip(run.prediction, learner.low, learner.high))


def sliding_window(learner, loss, start, block, dtype):
    """Least squares over the last rounds, each time afresh."""
    T, n = block.x.shape
    root = np.sqrt(_rates(block)[0])[:, None]
    prediction = np.zeros((T, *block.y.shape[1:]), np.longdouble)
    judged = np.zeros(T, bool)
    prediction[0], judged[0] = block.x[0] @ start, True
    for t in range(1, T):
        rows = slice(max(t - learner.window, 0), t)
        ridge = np.sqrt(np.longdouble(learner.ridge)) * np.eye(n)
        A = np.concatenate([ridge, root[rows] * block.x[rows]])
        y = block.y[rows].reshape(rows.stop - rows.start, -1)
        b = np.concatenate([np.zeros((n, y.shape[1])), root[rows] * y])
        size = np.abs(A).max()
        judged[t] = size > 0 and condition(A / size) <= MAX_CONDITION[dtype]
        if judged[t]:
            theta = solve_least_squares(A, b)
            prediction[t] = (block.x[t] @ theta).reshape(block.y.shape[1:])
    return ReferenceRun(prediction, judged)


def last_value(learner, loss, start, block, dtype):
    prediction, last = np.zeros_like(block.y), np.zeros(block.y.shape[1:])
    for t, weight in enumerate(_rates(block)[0]):
        prediction[t] = last
        last = block.y[t] if weight > 0 else last
    return ReferenceRun(prediction, np.ones(len(block), bool))


# Recursions with dense matrices


def _play_points(update, theta, loss, block, dtype):
    """The run of points that ``update(θ, ∇, data)`` moves, and judges."""
    predictions, judged = [], []
    certain = True
    for x, y, weight, elapsed in block.rounds():
        predictions.append(theta if x is None else x @ theta)
        judged.append(certain)
        grad = weight * loss.grad(theta, x, y)
        theta, now = update(theta, grad, (x, y, weight, elapsed))
        # Beyond this θ is limited, which is documented (domains/everywhere.py).
        certain = certain and now and bool(np.abs(theta).max() < MAX_MAGNITUDE[dtype])
        if not certain:
            theta = np.nan_to_num(theta, posinf=0.0, neginf=0.0)
    return ReferenceRun(np.array(predictions), np.array(judged))


def _move(theta, P, grad, step, domain):
    """Π(θ - step · P⁻¹∇) in the norm of P."""
    point = theta - step * solve_least_squares(P, grad[:, None])[:, 0]
    point = point.astype(np.float64)
    if np.isfinite(point).all() and not domain.contains(point):
        unit = (P / np.abs(P).max()).astype(np.float64)
        point = domain.project_in(point, unit).point
    return point


def _is_certain(P, sizes, dtype):
    """Whether P, features in units of their sizes, is far from singular."""
    unit = np.maximum(sizes, np.sqrt(np.abs(np.diagonal(P))))
    unit = np.where(unit > 0, unit, 1.0)
    return condition(P / np.outer(unit, unit)) <= MAX_CONDITION[dtype]


def directional(learner, loss, start, block, dtype):
    P = learner.ridge * np.eye(len(start), dtype=np.longdouble)

    def update(theta, grad, data):
        nonlocal P
        x, _, weight, elapsed = data
        v = np.sqrt(np.longdouble(weight)) * x
        Pv = P @ v
        square = v @ Pv
        if square > 0:
            share = 1 - np.longdouble(learner.discount) ** elapsed
            P = P - share * np.outer(Pv, Pv) / square + np.outer(v, v)
        P = (P + P.T) / 2
        certain = condition(P / np.abs(P).max()) <= MAX_CONDITION[dtype]
        return _move(theta, P, grad, 1.0, learner.domain), certain

    return _play_points(update, start, loss, block, dtype)


def newton(learner, loss, start, block, dtype):
    n = len(start)
    # The covariance cap measures a feature that was not seen yet in units of the ridge.
    P, sizes = learner.ridge * np.eye(n, dtype=np.longdouble), np.sqrt(learner.ridge)

    def update(theta, grad, data):
        nonlocal P, sizes
        x, y, weight, elapsed = data
        hess = weight * loss.hess(theta, x, y).astype(np.longdouble)
        if learner.curvature == "gradient":
            hess = np.outer(grad, grad.astype(np.longdouble))
        P = np.longdouble(learner.discount) ** elapsed * P + hess
        sizes = np.maximum(sizes, np.sqrt(np.abs(np.diagonal(hess))))
        certain = (
            _is_certain(P, sizes, dtype) and np.abs(grad).max() < MAX_GRADIENT[dtype]
        )
        return _move(theta, P, grad, learner.newton_step, learner.domain), certain

    return _play_points(update, start, loss, block, dtype)


def online_newton(learner, loss, start, block, dtype):
    P = learner.ridge * np.eye(len(start), dtype=np.longdouble)

    def update(theta, grad, data):
        nonlocal P
        P = P + np.outer(grad, grad.astype(np.longdouble))
        certain = condition(P / np.abs(P).max()) <= MAX_CONDITION[dtype]
        return _move(theta, P, grad, 1 / learner.beta, learner.domain), certain

    return _play_points(update, start, loss, block, dtype)


# Gradient rules


def discounted_gradient(learner, loss, start, block, dtype):
    count = 0.0
    ell, u = learner.strong_convexity, learner.smoothness

    def update(theta, grad, data):
        nonlocal count
        weight, elapsed = data[2:]
        past = learner.discount**elapsed * count
        count = past + weight
        if weight == 0:
            return theta, True
        rate = {
            "tracking": count, "smooth": ell * past + u * weight,
            "strongly_convex": ell * count,
        }[learner.rule]  # fmt: skip
        return learner.domain.project(theta - grad / rate), True

    return _play_points(update, start, loss, block, dtype)


def gradient_descent(learner, loss, start, block, dtype):
    t = 0

    def update(theta, grad, data):
        nonlocal t
        t += 1
        return learner.domain.project(theta - learner.step_size * grad / t**0.5), True

    return _play_points(update, start, loss, block, dtype)


def constant_step(learner, loss, start, block, dtype):
    def update(theta, grad, data):
        target = learner.domain.project(theta - grad / learner.smoothness)
        return theta + learner.averaging * (target - theta), True

    return _play_points(update, start, loss, block, dtype)


# Mixtures: the experts play alone, then the formula of the paper mixes them.


def _run_alone(expert, loss, start, block, dtype):
    """The trace of one expert, in the precision that the mixture gives it."""
    columns = (block.x, block.y, block.weight, block.elapsed)
    narrow = Block(*(None if c is None else c.astype(dtype) for c in columns))
    return expert.run(expert.init(start.astype(dtype)), loss, narrow)[1]


def _first_weights(count):
    i = np.arange(1, count + 1)
    return np.log((1 + 1 / count) / (i * (i + 1))).astype(np.longdouble)


def _normalise(log_weights):
    shifted = log_weights - log_weights.max()
    return shifted - np.log(np.exp(shifted).sum())


def _mix(log_weights, predictions):
    weights = np.exp(log_weights)
    return np.tensordot(weights, np.asarray(predictions, np.longdouble), axes=1)


def experts(learner, loss, start, block, dtype):
    traces = [_run_alone(e, loss, start, block, dtype) for e in learner.experts]
    losses = np.array([trace.loss for trace in traces], np.longdouble)
    log_w, predictions = _first_weights(len(traces)), []
    for t in range(len(block)):
        predictions.append(_mix(log_w, [trace.prediction[t] for trace in traces]))
        log_w = _normalise(log_w - learner.mixing_rate * losses[:, t])
    limit = MAX_LOG_WEIGHT[dtype] / learner.mixing_rate
    return ReferenceRun(np.array(predictions), _before_overflow(losses, limit))


def _before_overflow(losses, limit):
    """The rounds up to which no expert has lost more than ``limit``."""
    small = (losses <= limit).all(axis=0)
    return np.append(True, np.logical_and.accumulate(small))[: len(small)]


def ader(learner, loss, start, block, dtype):
    steps, theta = learner.step_sizes, np.tile(start, (len(learner.step_sizes), 1))
    log_w, predictions, judged = _first_weights(len(steps)), [], [True]
    project, limit = learner.domain.project, MAX_LOG_WEIGHT[dtype] / learner.mixing_rate
    for x, y, weight, _ in block.rounds():
        point = _mix(log_w, theta).astype(np.float64)
        predictions.append(point if x is None else x @ point)
        if learner.surrogate:
            grads = weight * np.tile(loss.grad(point, x, y), (len(steps), 1))
            losses = (theta - point) @ grads[0]
        else:
            grads = weight * np.array([loss.grad(own, x, y) for own in theta])
            losses = weight * np.array([loss.value(own, x, y) for own in theta])
        judged.append(bool(judged[-1] and (np.abs(losses) <= limit).all()))
        log_w = _normalise(log_w - learner.mixing_rate * np.nan_to_num(losses))
        moved = np.nan_to_num(theta - steps[:, None] * grads)
        theta = np.array([project(own) for own in moved])
    return ReferenceRun(np.array(predictions), np.array(judged[:-1]))


def aggregating(learner, loss, start, block, dtype):
    Y = np.longdouble(learner.label_bound)
    traces = [_run_alone(e, loss, start, block, dtype) for e in learner.experts]
    p = np.clip(np.array([trace.prediction for trace in traces], np.longdouble), -Y, Y)
    log_w, predictions, weight = _first_weights(len(traces)), [], _rates(block)[0]
    losses = weight * (block.y - p) ** 2 / 2
    for t in range(len(block)):
        low, high = (
            _log_sum(log_w - (y - p[:, t]) ** 2 / (2 * Y * Y)) for y in (-Y, Y)
        )
        predictions.append(np.clip((high - low) * Y / 2, -Y, Y))
        log_w = _normalise(log_w - losses[:, t] / Y**2)
    limit = MAX_LOG_WEIGHT[dtype] * Y**2
    return ReferenceRun(np.array(predictions), _before_overflow(losses, limit))


def _log_sum(exponents):
    top = exponents.max()
    return top + np.log(np.exp(exponents - top).sum())


def leading_history(learner, loss, start, block, dtype):
    return _follow_history(
        learner.expert, learner.exp_concavity, loss, start, block, dtype
    )


def restarts(learner, loss, start, block, dtype):
    rate = 0.25 / learner.label_bound**2
    return _follow_history(learner.expert, rate, loss, start, block, dtype)


def _follow_history(expert, rate, loss, start, block, dtype):
    """Experts that start in every round s = r2^k and live for 2^(k+2) + 1 rounds."""
    T, limit = len(block), MAX_LOG_WEIGHT[dtype] / rate
    traces = {
        s: _run_alone(expert, loss, start, block[s - 1 :], dtype)
        for s in range(1, T + 1)
    }
    weights, predictions, judged = {1: np.longdouble(0)}, [], [True]
    for t in range(1, T + 1):
        alive = list(weights)
        log_v = _normalise(np.array([weights[s] for s in alive]))
        predictions.append(_mix(log_v, [traces[s].prediction[t - s] for s in alive]))
        losses = np.array([traces[s].loss[t - s] for s in alive], np.longdouble)
        judged.append(bool(judged[-1] and (losses <= limit).all()))
        log_v = _normalise(log_v - rate * losses)
        survivors = [s for s in alive if t + 1 - s <= 4 * (s & -s)]
        share = np.log1p(-1 / np.longdouble(t + 1))
        weights = {s: log_v[alive.index(s)] + share for s in survivors}
        weights[t + 1] = -np.log(np.longdouble(t + 1))
    return ReferenceRun(np.array(predictions), np.array(judged[:-1]))


REFERENCES = {
    learners.Ader: ader,
    learners.AggregatingExperts: aggregating,
    learners.ClippedRLS: clipped,
    learners.ConstantStepGradient: constant_step,
    learners.DirectionalRLS: directional,
    learners.DiscountedGradient: discounted_gradient,
    learners.DiscountedNewton: newton,
    learners.Experts: experts,
    learners.FollowTheLeadingHistory: leading_history,
    learners.GeneralLeastSquares: general_least_squares,
    learners.LastValue: last_value,
    learners.LogisticTracker: definition,
    learners.OnlineGradientDescent: gradient_descent,
    learners.OnlineNewtonStep: online_newton,
    learners.RecursiveLeastSquares: least_squares,
    learners.RestartExperts: restarts,
    learners.SlidingWindow: sliding_window,
    learners.Tracker: definition,
}
"""For each learner, the function that plays its formula."""
