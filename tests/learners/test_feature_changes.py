"""Least squares whose features come and go, held to dense matrices and to zeros."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.domains import Ball, Everywhere
from thalweg.kernels.ud_factor import GROWTH, INPUT_SCALE, RETAINED_RIDGE
from thalweg.learners import (
    DirectionalRLS,
    DiscountedNewton,
    Experts,
    GeneralLeastSquares,
    LogisticTracker,
    OnlineNewtonStep,
    RecursiveLeastSquares,
    SlidingWindow,
)
from thalweg.losses import LinearMap, Logistic, Round, SquaredError
from thalweg.types import Block

LOSS = SquaredError()
LONG = np.longdouble


def rounds(rng, count, n, targets=()):
    return Block(rng.normal(size=(count, n)), rng.normal(size=(count, *targets)))


def with_zeros(block, columns):
    """The block with zeros in these columns of all that it then has."""
    size = block.x.shape[-1] + len(columns)
    x = np.zeros((*block.x.shape[:-1], size))
    x[..., np.delete(np.arange(size), columns)] = block.x
    return Block(x, block.y, block.weight, block.elapsed)


def zeroed(block, columns):
    """The block with these columns set to zero."""
    x = block.x.copy()
    x[..., columns] = 0
    return Block(x, block.y, block.weight, block.elapsed)


class DenseRLS:
    """Recursive least squares on a dense covariance, in extended precision."""

    def __init__(self, discount, ridge, n):
        self.discount, self.ridge = LONG(discount), LONG(ridge)
        self.theta, self.C = np.zeros(n, LONG), np.eye(n, dtype=LONG) / self.ridge

    def learn(self, x, y):
        x, self.C = x.astype(LONG), self.C / self.discount
        gain = self.C @ x / (1 + x @ self.C @ x)
        self.theta = self.theta + gain * (y - x @ self.theta)
        self.C = self.C - np.outer(gain, x @ self.C)

    def add(self, indices):
        n = len(self.theta) + len(indices)
        stay = np.delete(np.arange(n), indices)
        theta, C = np.zeros(n, LONG), np.eye(n, dtype=LONG) / self.ridge
        theta[stay], C[np.ix_(stay, stay)] = self.theta, self.C
        self.theta, self.C = theta, C

    def remove(self, indices):
        stay = np.delete(np.arange(len(self.theta)), indices)
        self.theta, self.C = self.theta[stay], self.C[np.ix_(stay, stay)]


@st.composite
def feature_changes(draw):
    """From how many features to start, and up to six changes: (kind, indices)."""
    start = count = draw(st.integers(1, 4))
    changes = []
    for _ in range(draw(st.integers(1, 6))):
        is_removal = count > 1 and draw(st.booleans())
        most = min(count - 1, 3) if is_removal else 3
        amount = draw(st.integers(1, most))
        size = count if is_removal else count + amount
        indices = draw(st.permutations(range(size)))[:amount]
        changes.append(("remove" if is_removal else "add", indices))
        count += -amount if is_removal else amount
    return start, changes


@settings(max_examples=40)
@given(
    changes=feature_changes(),
    discount=st.sampled_from([1.0, 0.99, 0.9]),
    seed=st.integers(0, 2**32 - 1),
    per_change=st.integers(0, 12),
)
def test_any_order_of_coming_and_going_gives_the_dense_covariance(
    changes, discount, seed, per_change
):
    start, steps = changes
    rng = np.random.default_rng(seed)
    learner, slow = RecursiveLeastSquares(discount, 0.5), DenseRLS(discount, 0.5, start)
    state = learner.init(np.zeros(start))
    for kind, indices in steps:
        for x, y, *_ in rounds(rng, per_change, len(state.theta)).rounds():
            state = learner.update(state, Round(LOSS, x, y))
            slow.learn(x, y)
        getattr(slow, kind)(indices)
        state = getattr(learner, f"{kind}_features")(state, indices)
        sizes = np.sqrt(np.diagonal(slow.C))
        error = abs(state.covariance - slow.C) / np.outer(sizes, sizes)
        assert error.max() <= 1e-12
        scale = max(abs(slow.theta).max(), 1)
        assert abs(state.theta - slow.theta).max() <= 1e-12 * scale


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("added", [[0], [3], [1, 2, 5]])
def test_without_forgetting_a_new_feature_is_one_that_was_zero_to_the_last_bit(
    ridge, added
):
    learner, rng = RecursiveLeastSquares(1.0, ridge), np.random.default_rng(0)
    block = rounds(rng, 40, 3)
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, block)
    start = learner.init(np.zeros(3 + len(added)))
    wide, _ = learner.run(start, LOSS, with_zeros(block, added))
    for ours, theirs in zip(learner.add_features(state, added), wide, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_with_forgetting_a_new_feature_has_a_fresh_prior():
    learner, rng = RecursiveLeastSquares(0.9, 0.5), np.random.default_rng(0)
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, rounds(rng, 42, 3))
    wide = learner.add_features(state, [1])
    stay = [0, 2, 3]
    np.testing.assert_array_equal(wide.covariance[np.ix_(stay, stay)], state.covariance)
    np.testing.assert_array_equal(wide.covariance[1], [0, 1 / 0.5, 0, 0])
    np.testing.assert_array_equal(
        wide.factor[INPUT_SCALE, stay], state.factor[INPUT_SCALE]
    )
    assert wide.factor[INPUT_SCALE, 1] == np.sqrt(0.5)
    assert wide.factor[RETAINED_RIDGE, 1] == 0.5
    first = learner.add_features(state, [0])
    assert first.factor[GROWTH, 0] == state.factor[GROWTH, 0] > 1
    assert (first.factor[GROWTH, 1:] == 0).all()


@pytest.mark.parametrize("removed", [[0], [4], [1, 3]])
@pytest.mark.parametrize("targets", [(), (2,)])
def test_removing_equals_zeros_for_ever(removed, targets):
    learner, rng = RecursiveLeastSquares(0.98, 0.5), np.random.default_rng(1)
    before, after = rounds(rng, 30, 5, targets), rounds(rng, 200, 5, targets)
    state, _ = learner.run(learner.init(np.zeros((5, *targets))), LOSS, before)
    _, slow = learner.run(state, LOSS, zeroed(after, removed))
    narrow = learner.remove_features(state, removed)
    rest = Block(np.delete(after.x, removed, axis=1), after.y)
    _, fast = learner.run(narrow, LOSS, rest)
    np.testing.assert_allclose(fast.prediction, slow.prediction, 1e-12, 1e-12)


def rows_of_kind(rng, kind, count, n):
    """Normal rows; or rows of zeros and ones, or of whole sums of two such columns,
    which often depend on each other.
    """
    if kind == "normal":
        return rng.normal(size=(count, n))
    binary = rng.integers(0, 2, size=(count, n)).astype(float)
    return binary if kind == "binary" else binary + 3 * binary[:, ::-1]


@pytest.mark.parametrize("kind", ["normal", "binary", "sums"])
@pytest.mark.parametrize("removed", [[0], [2], [4], [1, 3], [0, 2, 3, 4]])
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_removing_equals_zeros_for_ever_without_a_prior(kind, removed, discount):
    """Features go after 0 to 8 rows of five, when some directions may not be learnt.

    Until they are, rows that depend on each other leave a choice of fits, which are not
    the same ones.
    """
    learner, rng = RecursiveLeastSquares(discount, 0.0), np.random.default_rng(8)
    for count in range(9):
        state = learner.init(rng.normal(size=5))
        if count:
            before = Block(rows_of_kind(rng, kind, count, 5), rng.normal(size=count))
            state, _ = learner.run(state, LOSS, before)
        after = Block(rows_of_kind(rng, kind, 24, 5), rng.normal(size=24))
        _, slow = learner.run(state, LOSS, zeroed(after, removed))
        rest = Block(np.delete(after.x, removed, axis=1), after.y)
        _, fast = learner.run(learner.remove_features(state, removed), LOSS, rest)
        known = 0 if kind == "normal" else 20
        assert np.linalg.matrix_rank(rest.x[:20]) == rest.x.shape[1]
        difference = abs(fast.prediction - slow.prediction)[known:].max()
        # Rows that are nearly dependent cost as many digits as their condition has.
        assert difference <= 1e-9 * max(abs(slow.prediction).max(), 1)


def test_a_floor_is_kept_where_features_come_and_go():
    """Turns to get it back are shared, so that it is no longer the same to a bit."""
    learner = RecursiveLeastSquares(0.95, 0.5, floor=0.01)
    rng = np.random.default_rng(0)
    before, after = rounds(rng, 300, 3), rounds(rng, 300, 3)
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, before)
    wide, trace = learner.run(
        learner.add_features(state, [1]), LOSS, with_zeros(after, [1])
    )
    _, narrow = learner.run(state, LOSS, after)
    assert 0.25 <= 1 / wide.covariance[1, 1] / 0.01 <= 4
    np.testing.assert_allclose(trace.prediction, narrow.prediction, atol=2e-3)
    back = learner.remove_features(wide, [1])
    assert back.factor.shape == state.factor.shape


def test_vector_measurements_lose_a_column_as_if_it_were_zero():
    learner, rng = GeneralLeastSquares(0.95), np.random.default_rng(2)
    before, after = (
        Block(rng.normal(size=(20, 3, 4)), rng.normal(size=(20, 3))) for _ in range(2)
    )
    state, _ = learner.run(learner.init(np.zeros(4)), LinearMap(), before)
    _, slow = learner.run(state, LinearMap(), zeroed(after, [1]))
    rest = Block(np.delete(after.x, 1, axis=2), after.y)
    _, fast = learner.run(learner.remove_features(state, [1]), LinearMap(), rest)
    np.testing.assert_allclose(fast.prediction, slow.prediction, 1e-10, 1e-10)


@pytest.mark.parametrize(
    "learner",
    [
        DiscountedNewton(0.95, domain=Everywhere()),
        DiscountedNewton(0.95, 1.0, 0.5, "hessian", Everywhere()),
        # Its steps stay inside so large a ball.
        OnlineNewtonStep(1e-3, 0.5, Ball(1e3)),
        Experts((RecursiveLeastSquares(0.9), DiscountedNewton(0.95))),
    ],
    ids=["quasi", "full", "ons", "mixture"],
)
def test_newton_steps_lose_a_feature_as_if_it_were_zero(learner):
    rng = np.random.default_rng(3)
    before, after = rounds(rng, 30, 4), rounds(rng, 60, 4)
    state, _ = learner.run(learner.init(np.zeros(4)), LOSS, before)
    _, slow = learner.run(state, LOSS, zeroed(after, [1]))
    rest = Block(np.delete(after.x, 1, axis=1), after.y)
    _, fast = learner.run(learner.remove_features(state, [1]), LOSS, rest)
    np.testing.assert_allclose(fast.prediction, slow.prediction, 1e-9, 1e-9)


def test_directional_forgetting_marginalises_the_covariance():
    learner, rng = DirectionalRLS(0.9), np.random.default_rng(4)
    state, _ = learner.run(learner.init(np.zeros(4)), LOSS, rounds(rng, 50, 4))
    narrow = learner.remove_features(state, [2])
    dense = np.delete(np.delete(state.covariance, 2, axis=0), 2, axis=1)
    np.testing.assert_allclose(narrow.covariance, dense, rtol=1e-12, atol=1e-14)


def test_a_window_without_a_feature_is_fitted_as_if_it_had_never_been():
    learner, rng = SlidingWindow(15), np.random.default_rng(5)
    block, last = rounds(rng, 40, 4), rounds(rng, 1, 4)
    state, _ = learner.run(learner.init(np.zeros(4)), LOSS, block)
    state, _ = learner.run(
        learner.remove_features(state, [2]),
        LOSS,
        Block(np.delete(last.x, 2, axis=1), last.y),
    )
    never = Block(
        np.delete(np.concatenate([block.x, last.x]), 2, axis=1),
        np.concatenate([block.y, last.y]),
    )
    alone, _ = learner.run(learner.init(np.zeros(3)), LOSS, never)
    np.testing.assert_array_equal(state.theta, alone.theta)


def test_the_logistic_tracker_loses_a_feature_as_if_it_were_at_its_mean():
    """Standardised features are 0 there; zeros would be some number of spreads away."""
    learner, rng = LogisticTracker(), np.random.default_rng(6)
    x = rng.normal(size=(120, 4))
    block = Block(x, (x[:, 0] + x[:, 1] + rng.normal(size=120) > 0) * 1.0)
    state, _ = learner.run(learner.init(np.zeros(4)), Logistic(), block[:40])
    narrow, wide, odds = learner.remove_features(state, [1]), state, []
    for row, y, *_ in block[40:].rounds():
        row = row.copy()
        row[1] = wide.scale[1, 1]
        odds.append(learner.predict(wide, row))
        wide = learner.update(wide, Round(Logistic(), row, y))
    rest = Block(np.delete(x[40:], 1, axis=1), block.y[40:])
    _, trace = learner.run(narrow, Logistic(), rest)
    np.testing.assert_allclose(trace.prediction, odds, rtol=1e-9, atol=1e-9)


def test_the_logistic_tracker_adds_a_feature_as_if_it_had_been_zero():
    learner, rng = LogisticTracker(), np.random.default_rng(7)
    block = Block(rng.normal(size=(50, 2)), 1.0 * (rng.normal(size=50) > 0))
    state, _ = learner.run(learner.init(np.zeros(2)), Logistic(), block)
    start = learner.init(np.zeros(3))
    wide, _ = learner.run(start, Logistic(), with_zeros(block, [0]))
    ours = learner.add_features(state, [0])
    np.testing.assert_array_equal(ours.scale, wide.scale)
    np.testing.assert_allclose(ours.weights, wide.weights, rtol=1e-12)
    np.testing.assert_allclose(ours.points, wide.points, rtol=1e-12)
    # Nothing is forgotten by the first two experts.
    np.testing.assert_allclose(ours.factors[:2], wide.factors[:2], rtol=1e-12)
