"""What every learner promises. A new learner is picked up from ``examples.py``."""

import pickle
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.examples import (
    ROUNDS,
    START,
    example_block,
    example_learners,
)
from tests.fuzz.fuzz_cases import ORACLE_STRIDE, make_case
from tests.fuzz.fuzz_checks import check_case
from tests.fuzz.random_settings import NAMES
from tests.learners.tracker_arrays import assert_states_agree
from thalweg import checks, learners
from thalweg.domains import Everywhere
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.learners import Learner
from thalweg.learners.tracker import TrackerState
from thalweg.losses import (
    Huber,
    LinearMap,
    Logistic,
    Round,
    SquaredError,
)
from thalweg.types import Block

RLS, NEWTON = learners.RecursiveLeastSquares, learners.DiscountedNewton
EXAMPLES = example_learners()
# What one example each does not show: no prior, learners inside learners, slow paths.
EXAMPLES += [
    (RLS(0.9, ridge=0.0), SquaredError()),
    (RLS(np.float64(0.9)), SquaredError()),
    (learners.FollowTheLeadingHistory(RLS(0.9)), SquaredError()),
    (learners.FollowTheLeadingHistory(NEWTON(0.9)), Logistic()),
    (learners.Experts((RLS(0.9), NEWTON(0.9))), SquaredError()),
    (NEWTON(0.9, 1.0, 1.0, "hessian", Everywhere()), LinearMap()),
    (NEWTON(0.9), Logistic()),
    (learners.DiscountedGradient(np.float64(0.9)), Huber(0.5)),
]
HOSTILE_ROWS = (
    "sparse", "binary", "one hot", "constant", "duplicated columns", "duplicated rows",
    "steps", "extreme",
)  # fmt: skip
OPTIONS = (
    ("ridge", 0.0),
    ("floor", "1e-3"),
    ("floor", "leaky"),
    ("weights", "0 to 1e6"),
    ("elapsed", "0 to 3"),
    ("targets", 3),
    ("dtype", "float32"),
    ("blocked", True),
    ("ridge 1", 0.0),  # of the first expert of a mixture
)
"""Options that each learner is played with on all of these rows, where it has them."""
every_learner = pytest.mark.parametrize(
    "learner, loss",
    EXAMPLES,
    ids=[
        f"{type(a).__name__}-{type(f).__name__}-{i}"
        for i, (a, f) in enumerate(EXAMPLES)
    ],
)


def leaves(tree):
    """The arrays and numbers of a state, however deeply nested, in order."""
    return sum(map(leaves, tree), []) if isinstance(tree, tuple) else [tree]


def assert_close(left, right):
    if isinstance(left, TrackerState):  # without the unused lanes of SIMD vectors
        n = len(left.theta)
        assert_states_agree(left.packed, right.packed, n, rtol=1e-9)
        left, right = left.theta, right.theta
    for a, b in zip(leaves(left), leaves(right), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def assert_identical(left, right):
    for a, b in zip(leaves(left), leaves(right), strict=True):
        np.testing.assert_array_equal(a, b)


def parts(trace):
    return (trace.prediction, trace.loss, trace.theta)


# It bites for every learner: none calls its kernel in ``update``. Mutations tried, each
# in a kernel alone: those of the Tracker in tests/learners/test_tracker_definition.py;
# the logistic Tracker's share, step sizes, curvature and first standardised round; a
# bank's mixing rate. Each was found.
@every_learner
@pytest.mark.parametrize("weighted", [False, True])
def test_the_kernel_equals_update(learner, loss, weighted):
    state, block = learner.init(START), example_block(loss, weighted)
    fast_state, fast = learner.run(state, loss, block, record=("theta",))
    slow_state, slow = Learner._play(learner, state, loss, block, ("theta",))
    assert_close(parts(fast), parts(slow))
    assert_close(fast_state, slow_state)


@every_learner
def test_a_learner_says_whether_its_run_is_compiled(learner, loss, monkeypatch):
    kind, updates = type(learner), []
    update = kind.update

    def counted_update(self, state, f):
        updates.append(f)
        return update(self, state, f)

    monkeypatch.setattr(kind, "update", counted_update)
    learner.run(learner.init(START), loss, example_block(loss))
    assert learner.has_compiled_run(loss, START) == (not updates)


@every_learner
def test_a_subclass_with_an_update_of_its_own_is_played_by_it(learner, loss):
    kind, updates = type(learner), []

    class Counted(kind):
        def update(self, state, f):
            updates.append(f)
            return super().update(state, f)

    settings = {field.name: getattr(learner, field.name) for field in fields(learner)}
    counted, block = Counted(**settings), example_block(loss)
    assert not counted.has_compiled_run(loss, START)
    for one in (counted, type("Heir", (Counted,), {})(**settings)):
        updates.clear()
        one.run(one.init(START), loss, block)
        assert len(updates) == ROUNDS


@every_learner
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@settings(max_examples=10)
@given(cuts=st.sets(st.integers(1, ROUNDS - 1), max_size=4))
def test_a_run_can_be_cut_anywhere(learner, loss, dtype, cuts):
    block = example_block(loss)
    state = learner.init(START.astype(dtype))
    whole, trace = learner.run(state, loss, block)
    edges, pieces = [0, *sorted(cuts), ROUNDS], []
    for start, end in zip(edges, edges[1:], strict=False):
        state, piece = learner.run(state, loss, block[start:end])
        pieces.append(piece)
    assert_identical(state, whole)
    prediction = np.concatenate([piece.prediction for piece in pieces])
    assert_identical(prediction, trace.prediction)


@every_learner
def test_single_predictions_are_those_of_the_whole_run(learner, loss):
    block = example_block(loss)
    state = learner.init(START)
    _, trace = learner.run(state, loss, block)
    for t in range(ROUNDS):
        x = None if block.x is None else block.x[t]
        assert_identical(learner.predict(state, x), trace.prediction[t])
        state, _ = learner.run(state, loss, block[t : t + 1])


@every_learner
def test_inputs_are_left_unchanged(learner, loss):
    state, block = learner.init(START), example_block(loss)
    before = pickle.dumps((state, block.y, block.x, block.weight))
    x, y, weight, elapsed = next(block.rounds())
    learner.update(state, Round(loss, x, y, weight, elapsed))
    learner.run(state, loss, block)
    assert pickle.dumps((state, block.y, block.x, block.weight)) == before


@every_learner
def test_nothing_is_seen_before_it_is_played(learner, loss):
    block = example_block(loss)
    y = block.y.copy()
    y[30:] = block.y[::-1][30:]
    other = Block(block.x, y, block.weight, block.elapsed)
    traces = [learner.run(learner.init(START), loss, b)[1] for b in (block, other)]
    np.testing.assert_array_equal(*(trace.prediction[:31] for trace in traces))
    assert (traces[0].prediction[31:] != traces[1].prediction[31:]).any()


@every_learner
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_a_round_that_is_not_legal_is_named(learner, loss, bad):
    block = example_block(loss)
    y = block.y.copy()
    y[7] = bad
    with pytest.raises(StreamError, match=r"Round 7 .* y\[7"):
        learner.run(learner.init(START), loss, Block(block.x, y))


@every_learner
@pytest.mark.parametrize(
    "bad", [np.zeros((60, 3), object), np.full((60, 3), "a"), np.zeros((60, 4, 1, 1))]
)
def test_features_of_another_kind_are_refused(learner, loss, bad):
    with pytest.raises(StreamError):
        learner.run(learner.init(START), loss, Block(bad, example_block(loss).y))


@every_learner
def test_an_empty_block_is_refused(learner, loss):
    with pytest.raises(StreamError, match="at least one round"):
        learner.run(learner.init(START), loss, example_block(loss)[:0])


@every_learner
@pytest.mark.parametrize("name", ["weight", "elapsed"])
def test_a_negative_rate_is_named(learner, loss, name):
    block = example_block(loss)
    rates = np.ones(ROUNDS)
    rates[5] = -1
    with pytest.raises(StreamError, match=f"Round 5 .* negative {name}: -1"):
        learner.run(learner.init(START), loss, Block(block.x, block.y, **{name: rates}))


@every_learner
@pytest.mark.parametrize("bad", [[np.nan, 0, 0], [], 3.0, ["a", "b", "c"], None])
def test_a_start_that_is_no_point_is_refused(learner, loss, bad):
    with pytest.raises(InvalidParameterError):
        learner.init(bad)


@every_learner
def test_a_start_outside_the_domain_is_refused(learner, loss):
    domain = getattr(learner, "domain", None)
    if domain is None or domain.contains(np.full(3, 1e6)):
        pytest.skip("no domain to leave")
    with pytest.raises(InvalidParameterError, match="must lie in its domain"):
        learner.init(np.full(3, 1e6))


@every_learner
def test_single_precision_stays_single(learner, loss):
    state, trace = learner.run(
        learner.init(START.astype(np.float32)), loss, example_block(loss)
    )
    assert state.theta.dtype == trace.prediction.dtype == np.float32
    _, double = learner.run(learner.init(START), loss, example_block(loss))
    np.testing.assert_allclose(trace.prediction, double.prediction, atol=2e-3)


@every_learner
def test_an_update_keeps_single_precision(learner, loss):
    state = learner.init(START.astype(np.float32))
    block = example_block(loss)
    data = checks.check_block(block, loss, state.theta)
    for x, y, weight, elapsed in data.rounds():
        state = learner.update(state, Round(loss, x, y, weight, elapsed))
    assert state.theta.dtype == np.float32


@every_learner
@pytest.mark.parametrize("gap", [1e4, 1e150])
def test_a_long_gap_in_time_is_survived(learner, loss, gap):
    block = example_block(loss)
    elapsed = np.ones(ROUNDS)
    elapsed[30] = gap
    gone = Block(block.x, block.y, None, elapsed)
    state = learner.init(START)
    fast, trace = learner.run(state, loss, gone)
    assert np.isfinite(trace.prediction).all() and np.isfinite(fast.theta).all()
    slow, expected = Learner._play(learner, state, loss, gone, ())
    np.testing.assert_allclose(
        trace.prediction, expected.prediction, rtol=1e-6, atol=1e-9
    )


@every_learner
def test_features_of_the_wrong_size_are_refused_in_predict(learner, loss):
    if np.ndim(example_block(loss).x) != 2 or not learner.plays_points:
        pytest.skip("no features to predict from")
    for bad in (np.ones(50), np.ones(2), "abc", 3.0):
        with pytest.raises(StreamError):
            learner.predict(learner.init(START), bad)


@every_learner
def test_a_state_that_is_none_is_refused(learner, loss):
    with pytest.raises(InvalidParameterError, match="a state that its init gave"):
        learner.run(None, loss, example_block(loss))


@every_learner
def test_settings_survive_a_round_trip(learner, loss):
    assert pickle.loads(pickle.dumps(learner)) == learner
    assert hash(learner) == hash(pickle.loads(pickle.dumps(learner)))


@every_learner
def test_what_cannot_be_recorded_is_refused(learner, loss):
    with pytest.raises(InvalidParameterError, match="can record"):
        learner.run(
            learner.init(START), loss, example_block(loss), record=("nonsense",)
        )


UNDETERMINED = {
    ("GeneralLeastSquares", rows)
    for rows in ("one hot", "constant", "duplicated columns", "duplicated rows")
}
"""Streams with rounds that do not determine θ, of which nothing is promised."""


# Each case is one of the fuzzer's, with the rows and one option given and all else
# drawn: finite, equal in all forms of calls, and right by the oracle.
@pytest.mark.parametrize("rows", HOSTILE_ROWS)
@pytest.mark.parametrize("name", NAMES)
def test_an_oracle_agrees_on_hostile_rows_with_every_option(name, rows):
    failures, judged = [], 0
    for number, (option, value) in enumerate(OPTIONS):
        seed = number * ORACLE_STRIDE
        case = make_case(name, seed, {"stream": rows, option: value})
        if case.options.get(option) != value:
            continue  # the learner has no such option
        failure, rounds = check_case(case)
        judged += rounds > 0
        if failure is not None:
            failures.append(f"{failure.message}\n{case.describe()}")
    assert not failures, "\n".join(failures)
    assert judged or rows == "extreme" or (name, rows) in UNDETERMINED
