"""``run(..., blocked=True)`` beside round by round: the same predictions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import oracles
from tests.contracts.examples import LEARNERS
from tests.learners.test_hostile import KINDS, hostile
from thalweg import learners
from thalweg.errors import InvalidParameterError
from thalweg.kernels.rls_blocked import blocked as blocks
from thalweg.kernels.ud_factor import GROWTH, INPUT_SCALE, RETAINED_RIDGE
from thalweg.learners import Learner, RecursiveLeastSquares
from thalweg.losses import LinearMap, SquaredError
from thalweg.types import Block

LOSS = SquaredError()
CLOSE = 1e-9
"""Of the largest prediction or label, or of the largest entry of what is compared."""
FLOORS = [(None, False), (0.01, False), (0.01, True)]


@pytest.fixture
def counted(monkeypatch):
    """How many rounds each run has played in blocks."""
    counts, original = [], blocks.rls_blocked
    monkeypatch.setattr(
        "thalweg.learners.rls.rls_blocked", lambda *g: counts.append(original(*g))
    )
    return counts


def stream(rounds, n, targets=(), seed=0, rates=False):
    """A drifting regression; with rates, some rounds weigh nothing or take no time."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, n))
    theta = np.cumsum(rng.normal(scale=0.1, size=(rounds, n, *targets)), axis=0)
    y = np.einsum("ti,ti...->t...", x, theta) + rng.normal(size=(rounds, *targets))
    if not rates:
        return Block(x, y)
    weight, elapsed = rng.uniform(0, 2, size=(2, rounds))
    weight[rng.uniform(size=rounds) < 0.1] = 0.0
    elapsed[rng.uniform(size=rounds) < 0.1] = 0.0
    return Block(x, y, weight, elapsed)


def assert_close(result, expected, scale=None):
    scale = np.abs(expected).max() if scale is None else scale
    np.testing.assert_allclose(result, expected, rtol=0, atol=CLOSE * scale)


def scale_of(trace, block):
    return max(np.abs(trace.prediction).max(), np.abs(block.y).max())


def assert_same_run(learner, state, block):
    """The same predictions, losses and state; the state after the blocked run."""
    one, single = learner.run(state, LOSS, block)
    many, blocked = learner.run(state, LOSS, block, blocked=True)
    scale = scale_of(single, block)
    assert_close(blocked.prediction, single.prediction, scale)
    assert_close(blocked.loss, single.loss, scale * scale)
    assert_close(many.theta, one.theta)
    unit = np.outer(*[np.sqrt(np.diagonal(one.covariance))] * 2)
    assert_close(many.covariance / unit, one.covariance / unit)
    assert_close(many.factor[RETAINED_RIDGE], one.factor[RETAINED_RIDGE])
    rows = [INPUT_SCALE, GROWTH]
    # What ``cap_covariance`` goes by is not touched by rounding at all.
    np.testing.assert_array_equal(many.factor[rows], one.factor[rows])
    return many


settings_of_rls = st.builds(
    lambda discount, ridge, kept: RecursiveLeastSquares(discount, 10**ridge, *kept),
    st.sampled_from([1e-20, 0.7, 0.9, 0.97, 0.99, 0.999, 1.0]),
    st.floats(-3, 2),
    st.one_of(
        st.just((None, False)),
        st.tuples(st.floats(-3, 0).map(lambda power: 10**power), st.booleans()),
    ),
)


@settings(max_examples=60)
@given(
    learner=settings_of_rls,
    n=st.integers(14, 40),
    rounds=st.integers(1, 300),
    targets=st.sampled_from([(), (1,), (3,), (9,)]),
    rates=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    cut=st.floats(0, 1),
)
def test_blocks_predict_what_single_rounds_do(
    learner, n, rounds, targets, rates, seed, cut
):
    """And so do blocks that begin elsewhere, and single rounds after blocks."""
    block, first = stream(rounds, n, targets, seed, rates), int(cut * rounds)
    start = learner.init(np.zeros((n, *targets)))
    whole = assert_same_run(learner, start, block)
    if 0 < first < rounds:
        half, _ = learner.run(start, LOSS, block[:first], blocked=True)
        for blocked in (True, False):
            end, _ = learner.run(half, LOSS, block[first:], blocked=blocked)
            assert_close(end.theta, whole.theta)


@pytest.mark.parametrize("n", [16, 33, 64])
@pytest.mark.parametrize("floor, leaky", FLOORS)
def test_ordinary_data_are_played_in_blocks(counted, n, floor, leaky):
    block = stream(500, n)
    learner = RecursiveLeastSquares(0.99, 0.1, floor, leaky)
    assert_same_run(learner, learner.init(np.zeros(n)), block)
    assert counted == [500]


def test_a_ridge_too_small_to_matter_is_forgotten_only_so_far(counted):
    block = stream(500, 16)
    learner = RecursiveLeastSquares(0.8, floor=1e-35)
    state = assert_same_run(learner, learner.init(np.zeros(16)), block)
    assert counted[0] > 400
    np.testing.assert_array_equal(state.factor[17], 1e-30)


@pytest.mark.parametrize("floor, leaky", FLOORS)
def test_single_rounds_go_on_where_blocks_ended(floor, leaky):
    block = stream(900, 24, rates=True)
    learner = RecursiveLeastSquares(0.98, 0.1, floor, leaky)
    start = learner.init(np.zeros(24))
    _, expected = learner.run(start, LOSS, block)
    state, _ = learner.run(start, LOSS, block[:300])
    state, _ = learner.run(state, LOSS, block[300:600], blocked=True)
    _, result = learner.run(state, LOSS, block[600:])
    scale = scale_of(expected, block)
    assert_close(result.prediction, expected.prediction[600:], scale)


@pytest.mark.parametrize("discount, quiet", [(0.9, 400), (0.97, 1200)])
def test_where_the_cap_acts_rounds_are_played_one_by_one(counted, discount, quiet):
    """After it, in blocks."""
    block = stream(quiet + 1000, 20)
    x = block.x.copy()
    x[300 : 300 + quiet, 3:6] = 0
    block = Block(x, block.y)
    learner = RecursiveLeastSquares(discount)
    start = learner.init(np.zeros(20))
    state, _ = learner.run(start, LOSS, block[: 300 + quiet])
    textbook = oracles.discounted_weights(discount, block[: 300 + quiet])[1]
    assert 1 / state.covariance[3, 3] > 1e3 * textbook  # the cap has acted
    assert_same_run(learner, start, block)
    assert 0 < counted[0] < len(block) - 100


@pytest.mark.parametrize("floor, leaky", FLOORS)
def test_without_a_prior_blocks_wait_until_all_is_known(counted, floor, leaky):
    block = stream(400, 20)
    learner = RecursiveLeastSquares(0.99, 0.0, floor, leaky)
    assert_same_run(learner, learner.init(np.zeros(20)), block)
    assert 200 < counted[0] < 400


@pytest.mark.parametrize("floor, leaky", FLOORS)
@pytest.mark.parametrize("gap", [1e4, 1e150])
def test_a_long_gap_in_time_is_survived(counted, floor, leaky, gap):
    """For some thousand rounds after it the first row still outweighs all others."""
    block, elapsed = stream(9000, 20), np.ones(9000)
    elapsed[250] = gap
    learner = RecursiveLeastSquares(0.99, 1.0, floor, leaky)
    gone = Block(block.x, block.y, None, elapsed)
    state = learner.init(np.zeros(20))
    _, single = learner.run(state, LOSS, gone)
    _, blocked = learner.run(state, LOSS, gone, blocked=True)
    assert_close(blocked.prediction, single.prediction, scale_of(single, gone))
    assert 0 < counted[0] < len(block) - 250


@pytest.mark.parametrize("floor, leaky", FLOORS)
@pytest.mark.parametrize("scales", [0.0, 5.0])
@pytest.mark.parametrize("apart", [1e-2, 1e-5])
def test_nearly_equal_features_of_any_scale(floor, leaky, scales, apart):
    block, n = stream(400, 24), 24
    x = block.x.copy()
    x[:, 1] = x[:, 0] + apart * x[:, 1]
    x *= 10 ** np.linspace(-scales, scales, n)
    learner = RecursiveLeastSquares(0.99, 0.1, floor, leaky)
    state = learner.init(np.zeros(n))
    _, single = learner.run(state, LOSS, Block(x, block.y))
    _, blocked = learner.run(state, LOSS, Block(x, block.y), blocked=True)
    assert_close(blocked.prediction, single.prediction, scale_of(single, block))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("discount", [0.8, 0.97, 0.999])
@pytest.mark.parametrize("floor, leaky", FLOORS)
def test_hostile_stretches(kind, discount, floor, leaky):
    """The same; where rounding rules, no further off than features in another order."""
    block, n = stream(900, 20), 20
    x, y = block.x.copy(), block.y.copy()
    x[300:600], y[300:600] = hostile(kind, x[300:600], y[300:600])
    learner = RecursiveLeastSquares(discount, 1.0, floor, leaky)
    state, order = learner.init(np.zeros(n)), np.random.default_rng(0).permutation(n)
    _, single = learner.run(state, LOSS, Block(x, y))
    _, blocked = learner.run(state, LOSS, Block(x, y), blocked=True)
    _, reordered = learner.run(state, LOSS, Block(x[:, order], y))
    unsure = np.abs(reordered.prediction - single.prediction).max()
    gap = np.abs(blocked.prediction - single.prediction).max()
    assert gap <= max(CLOSE * scale_of(single, Block(x, y)), 10 * unsure)


def one_hot(rng, rounds, n):
    return np.eye(n)[rng.integers(n, size=rounds)]


def one_hot_in_turn(rng, rounds, n):
    return np.eye(n)[np.arange(rounds) % n]


def steps(rng, rounds, n):
    """Features that are 0 at first and 1 from some round on."""
    return 1.0 * (np.arange(rounds)[:, None] >= rounds // n * np.arange(n))


def piecewise_constant(rng, rounds, n):
    return np.repeat(rng.integers(2, size=(rounds // 20, n)), 20, axis=0).astype(float)


def binary(rng, rounds, n):
    return rng.integers(2, size=(rounds, n)).astype(float)


def sparse(rng, rounds, n):
    return rng.normal(size=(rounds, n)) * (rng.uniform(size=(rounds, n)) < 0.1)


def repeated_rows(rng, rounds, n):
    return rng.normal(size=(8, n))[rng.integers(8, size=rounds)]


def repeated_features(rng, rounds, n):
    return np.tile(rng.normal(size=(rounds, n // 2)), 2)


def constant(rng, rounds, n):
    return np.ones((rounds, n))


DEGENERATE = [
    one_hot, one_hot_in_turn, steps, piecewise_constant, binary, sparse, repeated_rows,
    repeated_features, constant,
]  # fmt: skip


@pytest.mark.parametrize("n", [32, 64, 96])
@pytest.mark.parametrize("make", DEGENERATE)
def test_blocks_predict_what_single_rounds_do_on_degenerate_rows(make, n):
    """The same bits, or to 1e-9: features that tie, repeat or are rarely excited."""
    rng = np.random.default_rng(n)
    x = make(rng, 2000, n)
    block = Block(x, x @ rng.normal(size=n) + rng.normal(size=len(x)))
    apart = {}
    for discount, ridge, kept in product(
        [1.0, 0.999, 0.98, 0.95, 0.9],
        [1.0, 0.0],
        [(None, False), (1.0, False), (0.1, True), (0.01, True)],
    ):
        learner = RecursiveLeastSquares(discount, ridge, *kept)
        state = learner.init(np.zeros(n))
        _, single = learner.run(state, LOSS, block)
        _, blocked = learner.run(state, LOSS, block, blocked=True)
        gap = np.abs(blocked.prediction - single.prediction).max()
        same = np.array_equal(blocked.prediction, single.prediction, equal_nan=True)
        if not (same or gap <= CLOSE * scale_of(single, block)):
            apart[discount, ridge, kept] = gap / scale_of(single, block)
    assert not apart, "\n".join(f"{how}: {gap:.0e}" for how, gap in apart.items())


@pytest.mark.parametrize("floor, leaky", FLOORS)
def test_a_prediction_is_exact_beside_a_huge_label(floor, leaky):
    block = stream(200, 20)
    y = block.y.copy()
    y[150] = 1e12
    learner = RecursiveLeastSquares(0.99, 1.0, floor, leaky)
    state = learner.init(np.zeros(20))
    _, single = learner.run(state, LOSS, Block(block.x, y))
    _, blocked = learner.run(state, LOSS, Block(block.x, y), blocked=True)
    assert_close(blocked.prediction[:151], single.prediction[:151])


@pytest.mark.parametrize("discount", [0.9, 0.999])
@pytest.mark.parametrize("floor, leaky", FLOORS)
def test_blocks_are_as_exact_as_single_rounds(discount, floor, leaky):
    """Against dense matrices in extended precision."""
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("no extended precision here")
    block = stream(250, 20)
    learner = RecursiveLeastSquares(discount, 0.1, floor, leaky)
    exact = extended(learner, block)
    for blocked, close in ((False, 1e-13), (True, 1e-11)):
        _, trace = learner.run(learner.init(np.zeros(20)), LOSS, block, blocked=blocked)
        scale = scale_of(trace, block)
        np.testing.assert_allclose(trace.prediction, exact, rtol=0, atol=close * scale)


def extended(learner, block):
    """Predictions by C ← (C - C v vᵀ C / (1 + vᵀCv)) / γ, and the ridge restored."""
    n, gamma = block.x.shape[1], np.longdouble(learner.discount)
    C, theta = (
        np.eye(n, dtype=np.longdouble) / learner.ridge,
        np.zeros(n, np.longdouble),
    )
    ridge, floor = np.full(n, np.longdouble(learner.ridge)), learner.floor
    turns = min(max(int(np.ceil(2 * n * (1 - learner.discount))), 1), 8)
    predictions = []
    for x, y in zip(block.x.astype(np.longdouble), block.y, strict=True):
        predictions.append(x @ theta)
        C = C / gamma
        gain = C @ x / (1 + x @ C @ x)
        theta, C = theta + gain * (y - x @ theta), C - np.outer(gain, x @ C)
        if floor is None:
            continue
        ridge = ridge * gamma
        quiet = int((np.diagonal(C) * floor > 0.1).sum())
        target = floor * min(gamma ** (-quiet / np.longdouble(2 * turns)), 2)
        for turn in range(turns + 1):
            need = (target - ridge) * np.diagonal(C)
            k = int(need.argmax())
            if need[k] <= 0:
                break
            if turn == turns:
                back = max(1 / max(need[k], 1), gamma)
                C, ridge = C * back, ridge / back
                break
            raised, ridge[k] = target - ridge[k], target
            gain = C[:, k] * raised / (1 + raised * C[k, k])
            C = C - np.outer(gain, C[k])
            theta = theta - learner.leaky * gain * theta[k]
    return np.array(predictions)


def test_rounding_does_not_add_up():
    block = stream(30_000, 16)
    learner = RecursiveLeastSquares(0.9999, 0.01, floor=0.01)
    assert_same_run(learner, learner.init(np.zeros(16)), block)


def test_few_features_go_the_usual_way_bit_by_bit(counted):
    block = stream(300, 15)
    learner = RecursiveLeastSquares(0.99)
    start = learner.init(np.zeros(15))
    one, single = learner.run(start, LOSS, block)
    many, blocked = learner.run(start, LOSS, block, blocked=True)
    np.testing.assert_array_equal(blocked.prediction, single.prediction)
    np.testing.assert_array_equal(many.factor, one.factor)
    assert counted == [0]


def test_inputs_are_left_unchanged():
    block, learner = stream(200, 20), RecursiveLeastSquares(0.99)
    state = learner.init(np.zeros(20))
    before = [array.copy() for array in (*state, block.x, block.y)]
    learner.run(state, LOSS, block, blocked=True)
    for array, was in zip((*state, block.x, block.y), before, strict=True):
        np.testing.assert_array_equal(array, was)


OTHERS = [
    kind
    for name in learners.__all__
    if isinstance(kind := getattr(learners, name), type)
    and issubclass(kind, Learner)
    and kind not in (Learner, RecursiveLeastSquares)
]


@pytest.mark.parametrize("kind", OTHERS)
def test_other_learners_refuse_by_their_name(kind):
    learner, loss = LEARNERS[kind]()
    block = Block(np.ones((3, 2)), np.ones(3))
    if loss.shapes(np.zeros(2))[0] is None:
        block = Block(None, np.ones((3, 2)))
    elif isinstance(loss, LinearMap):
        block = Block(np.ones((3, 2, 2)), np.ones((3, 2)))
    with pytest.raises(InvalidParameterError, match=f"'blocked' .* {kind.__name__}"):
        learner.run(learner.init(np.zeros(2)), loss, block, blocked=True)


def test_points_cannot_be_recorded_in_blocks():
    learner, block = RecursiveLeastSquares(), stream(3, 2)
    with pytest.raises(InvalidParameterError, match=r"'blocked' .* record=\(\)"):
        learner.run(learner.init(np.zeros(2)), LOSS, block, ("theta",), blocked=True)


def test_single_precision_is_refused_by_name():
    learner, block = RecursiveLeastSquares(), stream(3, 2)
    state = learner.init(np.zeros(2, np.float32))
    with pytest.raises(InvalidParameterError, match="'blocked' .* float64.* float32"):
        learner.run(state, LOSS, block, blocked=True)


def test_blocked_is_true_or_false():
    learner, block = RecursiveLeastSquares(), stream(3, 2)
    with pytest.raises(InvalidParameterError, match="'blocked' .* type bool"):
        learner.run(learner.init(np.zeros(2)), LOSS, block, blocked=32)
