"""What is checked of every fuzzed stream, and when an answer counts as wrong.

Every stream is played in one run, and once more in the form that was drawn (in pieces,
row by row, through ``Online``, with a file in between, in blocks). Whatever comes out
must be finite; inputs stay as they were; nothing is raised and nothing warns; forms
that are promised to be the same to the last bit are.

An answer is wrong if it differs from the oracle's (reference_runs.py), in a round that
the oracle judges, by more than

    ``TOLERANCE`` · size + ``SPREAD_FACTOR`` · spread,

where size is the largest label or prediction so far, and spread is how far the oracle's
own answer moves, up to this round, when every number of the stream is changed by up to
``CHANGED_ROUNDINGS`` roundings: no method that rounds can be asked for more. Features
are changed by roundings of the largest of their row, each in units of its column's
largest value: sums of products round like that. The Trackers' are changed by their own,
and all features, and the Tracker's labels, are given in other units as well, to the
definition and to the kernel: nothing but rounding could depend on the unit, and it
counts where two experts agree in nearly all digits and a rule asks what they differ in.
"""

import pickle
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.fuzz.reference_runs import reference_run
from thalweg.errors import NonFiniteError, ThalwegError
from thalweg.learners import LogisticTracker, Tracker
from thalweg.losses import Logistic, Round
from thalweg.models import Online
from thalweg.types import Block

TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-3}
"""In units of the largest label or prediction so far."""
CHANGED_ROUNDINGS = 500
SPREAD_FACTOR = 10.0
CHANGES = 3
"""How many changed streams the spread is measured on."""
BLOCKED_TOLERANCE = 1e-9
"""What ``blocked=True`` promises, in the same unit."""
MISSING_SHARE = 0.1
MAX_DEFINITION_ROUNDS = 8
"""Rounds of the Tracker that are played by ``update``, which takes milliseconds."""

NON_FINITE, ERROR, WRONG = "non-finite", "bare error", "wrong"
CATEGORIES = (NON_FINITE, ERROR, WRONG)


class Failure(NamedTuple):
    """A promise that did not hold on a stream."""

    category: str  # one of ``CATEGORIES``
    message: str


class PromiseBrokenError(Exception):
    """Raised where a check fails; holds the ``Failure``."""

    def __init__(self, category, message):
        super().__init__(message)
        self.failure = Failure(category, message)


def check_case(case):
    """The first failure of a case, or None; and whether an oracle judged any round."""
    judged = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            before = _input_bytes(case)
            state = case.learner.init(case.start)
            state_before = pickle.dumps(state)
            after, trace = play_whole(case, state)
            check_run(case, after, trace)
            FORMS[case.form](case, state, after, trace)
            require(_input_bytes(case) == before, WRONG, "the inputs were changed")
            same = pickle.dumps(state) == state_before
            require(same, WRONG, "the first state was changed")
        if case.with_oracle:
            judged = check_oracle(case, trace)
    except PromiseBrokenError as broken:
        return broken.failure, judged
    except NonFiniteError as error:  # refused by name, but legal numbers went in
        return Failure(NON_FINITE, str(error)[:300]), judged
    except Exception as error:
        return Failure(ERROR, f"{type(error).__name__}: {error}"[:300]), judged
    return None, judged


def require(holds, category, message):
    """Raise a failure unless the promise holds."""
    if not holds:
        raise PromiseBrokenError(category, message)


def _input_bytes(case):
    block = case.block
    return pickle.dumps((block.x, block.y, block.weight, block.elapsed, case.start))


def play_whole(case, state):
    """The run of all rounds, with all that can be recorded cheaply."""
    record = ("interval",) if isinstance(case.learner, Tracker) else ()
    return case.learner.run(state, case.loss, case.block, record)


def check_run(case, state, trace):
    """Everything finite and of the right dtype; intervals in order."""
    require_finite("a prediction", trace.prediction)
    require_finite("a loss", trace.loss)
    require_finite("θ", state.theta)
    dtypes = (state.theta.dtype, trace.prediction.dtype)
    same = all(dtype == case.start.dtype for dtype in dtypes)
    require(same, WRONG, f"dtypes {dtypes} for {case.start.dtype}")
    shape = (len(case.block), *np.shape(case.block.y)[1:])
    require(trace.prediction.shape == shape, WRONG, "the predictions' shape")
    if isinstance(case.learner, Tracker):
        low, high = np.moveaxis(trace.extras["interval"], -1, 0)
        require_interval(low, trace.prediction, high)


def require_interval(low, mean, high):
    """Raise a failure unless forecasts lie in their intervals, and both ends of an
    interval are finite, or infinite where no error is known."""
    # The ends are in float64 also where the forecasts are not.
    slack = np.finfo(mean.dtype).eps * abs(mean)
    ordered = (low <= mean + slack) & (mean - slack <= high)
    require(ordered.all(), WRONG, "a forecast is outside its interval")
    known = np.isfinite(low) | np.isfinite(high)
    require_finite("an interval", low[known], high[known])


def require_finite(what, *arrays):
    """Raise a failure unless all numbers are finite."""
    for array in arrays:
        bad = ~np.isfinite(array)
        if bad.any():
            where = np.argwhere(bad)[0].tolist()
            raise PromiseBrokenError(NON_FINITE, f"{what} is not finite at {where}")


def leaves(tree):
    """The arrays and numbers of a state, however deeply nested, in order."""
    return sum(map(leaves, tree), []) if isinstance(tree, tuple) else [tree]


def require_identical(what, ours, theirs):
    """Raise a failure unless two states, or arrays, are the same to the last bit."""
    for a, b in zip(leaves(ours), leaves(theirs), strict=True):
        same = np.array_equal(a, b, equal_nan=True)
        require(same, WRONG, f"{what} is not the same to the last bit")


# Forms of calls


def play_cut(case, state, after, trace):
    """The run in pieces: the same to the last bit."""
    T = len(case.block)
    count = min(int(case.rng.integers(1, 5)), max(T - 1, 0))
    cuts = (
        sorted(case.rng.choice(np.arange(1, T), count, replace=False)) if T > 1 else []
    )
    edges, pieces = [0, *map(int, cuts), T], []
    for start, end in zip(edges, edges[1:], strict=False):
        state, piece = case.learner.run(state, case.loss, case.block[start:end])
        pieces.append(piece.prediction)
    joined = np.concatenate(pieces)
    require_identical(f"a run cut at {edges}", joined, trace.prediction)
    require_identical(f"the state of a run cut at {edges}", state, after)


def play_rows(case, state, after, trace):
    """``predict``, then a run of one row: the same to the last bit."""
    for t in range(len(case.block)):
        x = None if case.block.x is None else case.block.x[t]
        prediction = case.learner.predict(state, x)
        require_identical(f"predict in round {t}", prediction, trace.prediction[t])
        state, _ = case.learner.run(state, case.loss, case.block[t : t + 1])
    require_identical("the state after single rows", state, after)


def play_updates(case, state, after, trace):
    """``update`` round by round: finite, and of the same dtype."""
    slow = isinstance(case.learner, Tracker)
    block = case.block[:MAX_DEFINITION_ROUNDS] if slow else case.block
    for t, (x, y, weight, elapsed) in enumerate(block.rounds()):
        state = case.learner.update(state, Round(case.loss, x, y, weight, elapsed))
        require_finite(f"θ after update {t}", state.theta)
        kept = state.theta.dtype == case.start.dtype
        require(kept, WRONG, f"{state.theta.dtype} after update {t}")


def play_online(case, state, after, trace):
    """Single calls of ``Online``: those of its run, to the last bit."""
    _compare_online(case, case.block, "refuse", lambda model: model)


def play_saved(case, state, after, trace):
    """Single calls with a file in the middle."""
    _compare_online(case, case.block, "refuse", _through_file)


def play_cloned(case, state, after, trace):
    """Single calls with a clone in the middle."""
    _compare_online(case, case.block, "refuse", lambda model: model.clone())


def play_skipping(case, state, after, trace):
    """Rounds with missing values, which are not learnt from."""
    _compare_online(case, _with_missing(case), "skip", lambda model: model)


def play_imputing(case, state, after, trace):
    """Rounds with missing values, which are filled in."""
    _compare_online(case, _with_missing(case), "impute", lambda model: model)


def _with_missing(case):
    x, y = case.block.x.copy(), case.block.y.copy()
    x[case.rng.uniform(size=x.shape) < MISSING_SHARE] = np.nan
    y[case.rng.uniform(size=len(y)) < MISSING_SHARE] = np.nan
    return Block(x, y, case.block.weight, case.block.elapsed)


def _through_file(model):
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.thalweg")
        return Online.load(Path(folder) / "model.thalweg")


def _compare_online(case, block, missing, midway):
    """One model that runs, beside one that is called row by row; ``midway`` once."""
    settings = (case.learner, case.loss, case.intercept, missing)
    whole, single = Online(*settings), Online(*settings)
    trace = whole.run(block.x, block.y, block.weight, block.elapsed)
    require_finite("a prediction of Online", trace.prediction)
    middle = len(block) // 2
    for t, (x, y, weight, elapsed) in enumerate(block.rounds()):
        if t == middle:
            single = midway(single)
        if t > 0 or block.y.ndim == 1:  # before it is known how many targets there are
            prediction = single.predict(x)
            require_identical(f"Online.predict({t})", prediction, trace.prediction[t])
        single.update(x, y, weight, elapsed)
    require_identical("Online's state", single.state, whole.state)
    require_finite("Online's θ", whole.state.theta)
    if isinstance(case.learner, Tracker):
        mean, low, high = single.predict(np.nan_to_num(block.x[-1]), interval=0.9)
        require_interval(*np.array([[low], [mean], [high]]))


def play_blocked(case, state, after, trace):
    """Blocks: finite, and the predictions of single rounds as far as promised."""
    many, blocked = case.learner.run(state, case.loss, case.block, blocked=True)
    check_run(case, many, blocked)
    size = np.maximum(np.abs(trace.prediction).max(), np.abs(case.block.y).max())
    error = np.abs(blocked.prediction - trace.prediction).max()
    near = error <= BLOCKED_TOLERANCE * size
    require(near, WRONG, f"blocks are {error:.1e} apart, at labels of {size:.1e}")


FORMS = {
    "cut": play_cut,
    "rows": play_rows,
    "updates": play_updates,
    "online": play_online,
    "saved": play_saved,
    "cloned": play_cloned,
    "skip missing": play_skipping,
    "impute missing": play_imputing,
    "blocked": play_blocked,
}
"""How the rounds are played once more, by the name of the form."""


# The oracle


def check_oracle(case, trace):
    """Compare the run with the oracle; returns how many rounds were judged."""
    expected = run_reference(case, case.block)
    if expected is None or not expected.is_judged.any():
        return 0
    moved = [run_changed(case, expected, trace) for _ in range(CHANGES)]
    if any(other is None for other in moved):
        return 0
    reference, judged = _by_round(expected.prediction), expected.is_judged.copy()
    spread = np.zeros(len(reference), np.longdouble)
    with np.errstate(all="ignore"):
        for away, is_judged in moved:
            spread, judged = np.maximum(spread, away), judged & is_judged
        labels = np.abs(_by_round(case.block.y)).max(axis=1)
        size = np.maximum(labels, np.abs(reference).max(axis=1))
        size, spread = map(np.maximum.accumulate, (size, spread))
        allowed = TOLERANCE[case.start.dtype] * size + SPREAD_FACTOR * spread
        error = np.abs(_by_round(trace.prediction) - reference).max(axis=1)
        judged &= SPREAD_FACTOR * spread < size  # else the oracle does not know itself
        wrong = judged & ~(error <= allowed)
    if wrong.any():
        t = int(wrong.argmax())
        raise PromiseBrokenError(
            WRONG,
            f"round {t}: {error[t]:.2e} from the oracle, {allowed[t]:.2e} allowed "
            f"(size {size[t]:.2e}, spread {spread[t]:.2e})",
        )
    return int(judged.sum())


def run_reference(case, block):
    """The oracle's run, or None where it cannot play these rounds itself."""
    try:
        return reference_run(case.learner, case.loss, case.start, block)
    except (ThalwegError, np.linalg.LinAlgError):
        return None


def run_changed(case, expected, trace):
    """How far a changed block moves each prediction, and the rounds to judge then."""
    block, unit = changed_block(case), 1.0
    is_tracker = isinstance(case.learner, Tracker | LogisticTracker)
    if is_tracker:
        x = block.x * case.rng.uniform(0.5, 1)  # larger numbers may be illegal
        unit = 1.0 if isinstance(case.loss, Logistic) else case.rng.uniform(0.5, 1)
        block = Block(x, block.y * unit, block.weight, block.elapsed)
    run = run_reference(case, block)
    if run is None:
        return None
    with np.errstate(all="ignore"):
        moved = np.abs(
            _by_round(run.prediction / unit) - _by_round(expected.prediction)
        )
        if is_tracker:
            _, ours = play_whole(
                case._replace(block=block), case.learner.init(case.start)
            )
            away = np.abs(
                _by_round(ours.prediction / unit) - _by_round(trace.prediction)
            )
            moved = np.maximum(moved, away)
    return moved.max(axis=1), run.is_judged


def changed_block(case):
    """The block with every number changed by up to ``CHANGED_ROUNDINGS`` roundings."""
    block = case.block
    y = block.y if isinstance(case.loss, Logistic) else _change(case, block.y)
    by_row = not isinstance(case.learner, Tracker | LogisticTracker)
    return Block(
        _change(case, block.x, by_row), y, _change(case, block.weight), block.elapsed
    )


def _change(case, values, by_row=False):
    """The values with random changes; ``by_row``: of the size of the row's largest."""
    if values is None:
        return None
    wide = values.astype(np.float64)
    unit = np.abs(wide)
    if by_row:
        column = unit.reshape(-1, unit.shape[-1]).max(axis=0)
        share = np.divide(unit, column, out=np.zeros_like(unit), where=column > 0)
        unit = share.max(axis=-1, keepdims=True) * column
    delta = CHANGED_ROUNDINGS * float(np.finfo(case.start.dtype).eps)
    return wide + delta * unit * case.rng.uniform(-1, 1, wide.shape)


def _by_round(values):
    """(T, ...) as (T, k) in extended precision."""
    return np.asarray(values, np.longdouble).reshape(len(values), -1)
