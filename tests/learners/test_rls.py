from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import oracles
from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError, UnsupportedLossError
from thalweg.kernels.compiler.jit import COMPILED
from thalweg.learners import Experts, RecursiveLeastSquares
from thalweg.losses import Logistic, SquaredError
from thalweg.models import Online
from thalweg.types import Block
from tools import ridge_zero

LOSS = SquaredError()


def drifting(rounds=200, n=4, targets=(), seed=0, rates=False):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, n))
    drift = np.cumsum(rng.normal(scale=0.1, size=(rounds, n, *targets)), axis=0)
    y = np.einsum("ti,ti...->t...", x, drift) + 0.1 * rng.normal(
        size=(rounds, *targets)
    )
    extra = rng.uniform(0, 2, size=(2, rounds)) if rates else (None, None)
    return Block(x, y, *extra)


def final_theta(learner, start, block):
    return learner.run(learner.init(start), LOSS, block)[0].theta


@pytest.mark.parametrize("discount", [0.9, 0.99, 1.0])
@pytest.mark.parametrize("rates", [False, True])
@pytest.mark.parametrize("targets", [(), (3,)])
def test_minimises_the_discounted_sum(discount, rates, targets):
    block = drifting(targets=targets, rates=rates)
    start = np.ones((4, *targets))
    learner = RecursiveLeastSquares(discount, ridge=0.5)
    expected = oracles.discounted_least_squares(start, discount, 0.5, block)
    result = final_theta(learner, start, block)
    np.testing.assert_allclose(result, expected, rtol=1e-9)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 8),
    rounds=st.integers(1, 60),
    discount=st.floats(0.5, 1.0),
    ridge=st.floats(1e-3, 1e3),
    scale=st.floats(-3, 3),
)
def test_minimises_the_discounted_sum_at_any_size(
    seed, n, rounds, discount, ridge, scale
):
    rng = np.random.default_rng(seed)
    block = Block(10**scale * rng.normal(size=(rounds, n)), rng.normal(size=rounds))
    start = rng.normal(size=n)
    expected = oracles.discounted_least_squares(start, discount, ridge, block)
    result = final_theta(RecursiveLeastSquares(discount, ridge), start, block)
    # The oracle loses what its own matrix's condition number takes.
    information = RecursiveLeastSquares(discount, ridge)
    state, _ = information.run(information.init(start), LOSS, block)
    loss_of_digits = np.linalg.cond(state.information)
    np.testing.assert_allclose(
        result,
        expected,
        rtol=0,
        atol=1e-14 * loss_of_digits * (1 + abs(expected).max()),
    )


def test_information_and_covariance_are_what_they_are_called():
    block = drifting()
    learner = RecursiveLeastSquares(0.97, ridge=2.0)
    state, _ = learner.run(learner.init(np.zeros(4)), LOSS, block)
    weight, last = oracles.discounted_weights(0.97, block)
    expected = 2.0 * last * np.eye(4) + (block.x.T * weight) @ block.x
    np.testing.assert_allclose(state.information, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(state.covariance @ expected, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("discount", [0.8, 1.0])
@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 5, 30])
def test_without_a_prior_the_fit_is_the_one_nearest_to_the_start(discount, rounds):
    block = drifting(30, seed=5)[:rounds]
    start = np.array([1.0, -1.0, 2.0, 0.5])
    learner = RecursiveLeastSquares(discount, ridge=0.0)
    expected = oracles.nearest_least_squares(start, discount, block)
    np.testing.assert_allclose(final_theta(learner, start, block), expected, rtol=1e-8)


def test_without_a_prior_repeated_rows_bring_nothing_new():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2, 3))
    x = rows[rng.integers(0, 2, size=50)] * rng.uniform(0.1, 1, size=(50, 1))
    y = x @ [1.0, 2.0, 3.0]
    learner = RecursiveLeastSquares(1.0, ridge=0.0)
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, Block(x, y))
    np.testing.assert_allclose(rows @ state.theta, rows @ [1.0, 2.0, 3.0], rtol=1e-9)
    new = rng.normal(size=(1, 3))
    state, _ = learner.run(state, LOSS, Block(new, new @ [1.0, 2.0, 3.0]))
    np.testing.assert_allclose(state.theta, [1.0, 2.0, 3.0], rtol=1e-8)


def test_without_a_prior_an_unseen_feature_is_left_where_it_started():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=40), np.zeros(40)])
    learner = RecursiveLeastSquares(0.9, ridge=0.0)
    state, _ = learner.run(learner.init([0.0, 7.0]), LOSS, Block(x, 2 * x[:, 0]))
    np.testing.assert_allclose(state.theta, [2.0, 7.0], rtol=1e-12)
    assert np.isinf(state.covariance[1, 1])


def test_without_a_prior_rows_of_zeros_and_ones_give_least_squares():
    rows = [[1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 1, 1], [0, 1, 1, 0], [1, 0, 1, 0]]
    x, y = np.array(rows, float), np.array([-3.0, 1, 2, -2, 2])
    learner = RecursiveLeastSquares(1.0, ridge=0.0)
    theta = final_theta(learner, np.zeros(4), Block(x, y))
    np.testing.assert_allclose(theta, [-0.25, -2.75, 2.25, 0.0], atol=1e-12)
    x, y = np.append(x, x[[1, 3]], axis=0), np.append(y, [5.0, -5.0])
    theta = final_theta(learner, np.zeros(4), Block(x, y))
    expected = np.linalg.lstsq(x, y, rcond=None)[0]
    np.testing.assert_allclose(theta, expected, atol=1e-12)


@pytest.mark.parametrize("kind", list(ridge_zero.KINDS))
@pytest.mark.parametrize("discount", [1.0, 0.95])
def test_without_a_prior_sparse_data_give_least_squares(kind, discount):
    """A small part of what ``tools/ridge_zero.py`` plays."""
    sizes, streams = ((2, 4, 8, 24, 64), 8) if COMPILED else ((2, 4, 6), 2)
    for n in sizes:
        for i in range(streams):
            block = ridge_zero.example_stream(1, kind, n, i)
            verdict = ridge_zero.play(block, discount)
            assert verdict.finite and not verdict.wrong, (n, i, verdict)


@pytest.mark.parametrize("n, discount", [(64, 0.95), (64, 0.9), (24, 0.5)])
def test_without_a_prior_features_that_begin_late_never_end_in_nan(n, discount):
    for i in range(20 if COMPILED else 1):
        block = ridge_zero.example_stream(0, "step", n, i)
        assert ridge_zero.play(block, discount).finite, i


@pytest.mark.parametrize("share, new", [(1e-10, True), (1e-13, False)])
def test_without_a_prior_a_row_is_new_where_more_than_rounding_is(share, new):
    x = np.array([[1.0, 1.0], [1.0, 1 + share]])
    learner = RecursiveLeastSquares(1.0, ridge=0.0)
    state, _ = learner.run(learner.init(np.zeros(2)), LOSS, Block(x, x[:, 1]))
    assert (np.diagonal(state.factor).max() < 1e30) == new


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_without_a_prior_the_unit_of_a_feature_does_not_matter(scale):
    units = np.array([1.0, scale, 1 / scale, 1.0])
    block = ridge_zero.example_stream(3, "binary", 4, 0)
    learner = RecursiveLeastSquares(0.95, ridge=0.0)
    expected = final_theta(learner, np.zeros(4), block)
    scaled = Block(block.x * units, block.y, block.weight)
    theta = final_theta(learner, np.zeros(4), scaled)
    np.testing.assert_allclose(theta * units, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("leaky", [False, True])
@pytest.mark.parametrize("discount", [0.95, 0.99])
def test_the_floor_is_a_ridge_that_is_not_forgotten(leaky, discount):
    """Against the ridge put back exactly, O(n³) a round: the forecasts stay close."""
    block = drifting(3000, n=6, seed=3)
    quiet = block.x.copy()
    quiet[500:2500, 3:] = 0  # three features go quiet, then come back
    block = Block(quiet, block.y)
    learner = RecursiveLeastSquares(discount, ridge=0.1, floor=0.1, leaky=leaky)
    _, trace = learner.run(learner.init(np.zeros(6)), LOSS, block, record=("theta",))
    exact = oracles.retained_ridge(discount, 0.1, block, leaky)
    gap = ((trace.prediction - (block.x * exact).sum(axis=1)) ** 2).mean()
    assert gap < 0.02 * 2 * trace.loss.mean()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n, discount", [(20, 0.5), (40, 0.5), (40, 0.8), (100, 0.9)])
@pytest.mark.parametrize("leaky", [False, True])
def test_the_floor_is_stable_where_the_memory_is_shorter_than_n(n, discount, leaky):
    """No run away, and within a factor of the ridge put back exactly."""
    block = drifting(3000, n=n, seed=4)
    block = Block(block.x, block.x @ np.linspace(-1, 1, n))
    learner = RecursiveLeastSquares(discount, floor=0.01, leaky=leaky)
    _, trace = learner.run(learner.init(np.zeros(n)), LOSS, block)
    short = block[:600] if n == 100 else block
    exact = oracles.retained_ridge(discount, 0.01, short, leaky)
    error = 0.5 * ((short.x * exact).sum(axis=1) - short.y) ** 2
    late = slice(len(short) // 2, len(short))
    assert trace.loss[late].mean() < 1.5 * error[late].mean() + 1e-3
    assert trace.loss[-100:].mean() < 2 * trace.loss[late].mean() + 1e-3


def test_the_floor_does_not_depend_on_the_order_of_features():
    block = drifting(800, n=5, seed=1)
    x = block.x.copy()
    x[200:, [1, 3]] = 0
    order = [3, 0, 4, 1, 2]
    learner = RecursiveLeastSquares(0.9, floor=0.05)
    _, one = learner.run(learner.init(np.zeros(5)), LOSS, Block(x, block.y))
    _, two = learner.run(learner.init(np.zeros(5)), LOSS, Block(x[:, order], block.y))
    np.testing.assert_allclose(one.prediction, two.prediction, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("discount", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_feature_that_stays_zero_never_ends_in_nan(discount, dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30_000, 4))
    x[1000:25_000, 1:] = 0
    y = x @ [1.0, 2.0, 3.0, 4.0] + 0.1 * rng.normal(size=len(x))
    learner = RecursiveLeastSquares(discount)
    state, trace = learner.run(learner.init(np.zeros(4, dtype)), LOSS, Block(x, y))
    assert np.isfinite(trace.prediction).all()
    assert (np.diagonal(state.factor) > 0).all()
    fresh, expected = learner.run(
        learner.init(np.zeros(4, dtype)), LOSS, Block(x[26_000:], y[26_000:])
    )
    last = slice(-3000, None)
    assert trace.loss[last].mean() < 1.01 * expected.loss[last].mean()


@pytest.mark.parametrize("frozen", ["frozen", "collinear", "zero"])
def test_inputs_that_stop_exciting_stay_harmless(frozen):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40_000, 3))
    x[500:] = {
        "frozen": x[500],
        "collinear": rng.normal(size=(39_500, 1)) * [1.0, 0.3, -0.7],
        "zero": np.zeros(3),
    }[frozen]
    y = x @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=len(x))
    learner = RecursiveLeastSquares(0.95)
    state, trace = learner.run(learner.init(np.zeros(3)), LOSS, Block(x, y))
    assert np.isfinite(state.factor).all()
    assert trace.loss[1000:].mean() < 0.5 * 0.1**2 * 1.1


def test_excited_data_give_textbook_recursive_least_squares():
    """The safety cap must not show: the plain covariance recursion, to 1e-9."""
    block = drifting(5000, n=5, seed=2)
    theta, C, played = np.zeros(5), np.eye(5), []
    for x, y in zip(block.x, block.y, strict=True):
        played.append(theta)
        gain = C @ x / (0.95 + x @ C @ x)
        theta = theta + gain * (y - x @ theta)
        C = (C - np.outer(gain, x @ C)) / 0.95
        C = (C + C.T) / 2
    learner = RecursiveLeastSquares(0.95, ridge=1.0)
    _, trace = learner.run(learner.init(np.zeros(5)), LOSS, block, record=("theta",))
    np.testing.assert_allclose(trace.theta, played, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "before, after", [(1e-20, 1e148), (1e-60, 1e100), (1.0, 1e140)]
)
@pytest.mark.parametrize("discount", [0.5, 0.9, 0.99])
def test_features_may_grow_out_of_all_proportion(before, after, discount):
    rng = np.random.default_rng(0)
    x = np.clip(rng.normal(size=(4000, 3)), -3, 3)
    x *= np.where(np.arange(4000) < 2900, before, after)[:, None]
    learner = RecursiveLeastSquares(discount)
    state, trace = learner.run(learner.init(np.zeros(3)), LOSS, Block(x, x @ [1, 2, 3]))
    assert np.isfinite(trace.prediction).all() and (np.diagonal(state.factor) > 0).all()


def assert_finite(state, trace):
    for numbers in (state.theta, trace.prediction, trace.loss):
        assert np.isfinite(numbers).all()
    assert not np.isnan(state.factor).any() and (np.diagonal(state.factor) > 0).all()
    assert np.isfinite(np.tril(state.factor[: len(state.theta)], -1)).all()


ENDLESS = [([1e-150] * 8000, [1.0] * 8000), ([], [])][not COMPILED]


@pytest.mark.parametrize(
    "ridge, x, y",
    [
        (0.0, [1e-150, 1e150, 1, 1], [1e150, 1, 1, 1]),
        (1.0, [*ENDLESS[0], 1e-150, 1e150, 1, 1], [*ENDLESS[1], 1e150, 1, 1, 1]),
        (0.0, [1e-78] * 4, [1.0] * 4),
    ],
)
def test_legal_numbers_give_finite_numbers(ridge, x, y):
    block = Block(np.array(x)[:, None], np.array(y))
    learner = RecursiveLeastSquares(ridge=ridge)
    state, trace = learner.run(learner.init(np.zeros(1)), LOSS, block)
    assert_finite(state, trace)
    assert abs(state.theta[0]) < 1e100  # a large error is learnt from as it is
    model = Online(learner, intercept=False)
    for row, label in zip(block.x[-4:], block.y[-4:], strict=True):
        model.update(row, label)
        assert np.isfinite(model.predict([1e150]))
    bank = Experts((learner, RecursiveLeastSquares(0.9, ridge=ridge)))
    _, trace = bank.run(bank.init(np.zeros(1)), LOSS, block)
    assert np.isfinite(trace.prediction).all() and np.isfinite(trace.loss).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("extra", [{}, {"floor": 0.1}, {"floor": 0.1, "leaky": True}])
def test_extreme_rows_give_finite_numbers(dtype, ridge, extra):
    """Features and labels over all of the legal range, silent rounds among them."""
    largest = np.log10(checks.MAX_MAGNITUDE[np.dtype(dtype)])
    for seed in range(100 if COMPILED else 3):
        rng = np.random.default_rng(seed)
        rounds, n = rng.integers(3, 60), rng.integers(1, 6)
        sizes = rng.choice([-1.0, 0.0, 1.0], size=(rounds, n)) * largest
        x = rng.uniform(-1, 1, size=(rounds, n)) * 10 ** (sizes * rng.choice([0.5, 1]))
        x *= rng.random((rounds, n)) < rng.choice([0.5, 1.0])
        x[rounds // 3 : rounds // 2] = 0
        y = rng.uniform(-1, 1, rounds) * 10.0 ** rng.choice([-largest, largest], rounds)
        block = Block(x.astype(dtype), y.astype(dtype))
        learner = RecursiveLeastSquares(rng.choice([1.0, 0.9, 0.3]), ridge, **extra)
        state, trace = learner.run(learner.init(np.zeros(n, dtype)), LOSS, block)
        assert_finite(state, trace)
        cut = int(rng.integers(1, rounds))
        first, _ = learner.run(learner.init(np.zeros(n, dtype)), LOSS, block[:cut])
        second, _ = learner.run(first, LOSS, block[cut:])
        np.testing.assert_array_equal(second.theta, state.theta)
        np.testing.assert_array_equal(second.factor, state.factor)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_a_prior_the_scale_does_not_matter(scale, dtype):
    rng = np.random.default_rng(0)
    x = (scale * rng.normal(size=(50, 3))).astype(dtype)
    learner = RecursiveLeastSquares(1.0, ridge=0.0)
    start = learner.init(np.zeros(3, dtype))
    state, _ = learner.run(start, LOSS, Block(x, x @ [1.0, 2.0, 3.0]))
    digits = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(state.theta, [1.0, 2.0, 3.0], rtol=digits)


def test_plays_before_it_sees():
    block = drifting()
    learner = RecursiveLeastSquares()
    state = learner.init(np.zeros(4))
    _, trace = learner.run(state, LOSS, block, record=("theta",))
    np.testing.assert_array_equal(trace.theta[0], state.theta)
    assert trace.loss[0] == 0.5 * block.y[0] ** 2


def test_half_life_and_window_are_other_words_for_discount():
    assert RecursiveLeastSquares(half_life=1).discount == 0.5
    assert RecursiveLeastSquares(window=100).discount == 0.99
    assert RecursiveLeastSquares(window=100) == RecursiveLeastSquares(0.99)
    assert RecursiveLeastSquares(half_life=50).half_life == pytest.approx(50)
    assert RecursiveLeastSquares(window=20).window == pytest.approx(20)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"half_life": 3, "window": 4}, "half_life=3 and window=4"),
        ({"discount": 0.9, "half_life": 3}, "discount=0.9 and half_life=3"),
        ({"discount": 0.9, "window": 4}, "discount=0.9 and window=4"),
        ({"discount": 0.99, "half_life": 3}, "discount=0.99 and half_life=3"),
        (
            {"discount": 0.9, "half_life": 3, "window": 4},
            "discount=0.9, half_life=3 and window=4",
        ),
    ],
)
def test_two_words_for_the_discount_are_refused_by_name(settings, message):
    rule = "takes only one of 'discount', 'half_life' and 'window'"
    with pytest.raises(InvalidParameterError, match=f"{rule}. Got {message} instead"):
        RecursiveLeastSquares(**settings)


def test_the_default_discount_is_a_plain_float():
    assert RecursiveLeastSquares().discount == 0.99
    assert type(RecursiveLeastSquares().discount) is float


def test_a_setting_can_be_replaced():
    learner = RecursiveLeastSquares(half_life=50, floor=0.1)
    assert replace(learner, ridge=2.0).half_life == learner.half_life
    assert replace(learner, discount=0.5) == RecursiveLeastSquares(0.5, floor=0.1)


@pytest.mark.parametrize("discount", [0.0, -0.1, 1.1, float("nan"), "0.9", None])
def test_a_discount_outside_its_range_is_refused(discount):
    with pytest.raises(
        InvalidParameterError, match=r"'discount' .* must be in \(0, 1\]"
    ):
        RecursiveLeastSquares(discount)


@pytest.mark.parametrize("word", ["half_life", "window"])
def test_another_word_outside_its_range_is_refused_by_its_own_name(word):
    with pytest.raises(InvalidParameterError, match=f"'{word}' parameter of Recursive"):
        RecursiveLeastSquares(**{word: -1})


@pytest.mark.parametrize("ridge", [1e-320, 1e300, 10**400, np.complex128(1)])
def test_a_ridge_that_is_no_legal_number_is_refused(ridge):
    with pytest.raises(InvalidParameterError, match="'ridge' parameter"):
        RecursiveLeastSquares(ridge=ridge).init(np.zeros(2))


def test_leaky_without_a_floor_is_refused():
    with pytest.raises(InvalidParameterError, match="needs a 'floor'"):
        RecursiveLeastSquares(leaky=True)


def test_a_loss_it_cannot_take_is_refused():
    learner = RecursiveLeastSquares()
    with pytest.raises(UnsupportedLossError, match="learns from SquaredError"):
        learner.run(learner.init(np.zeros(4)), Logistic(), drifting())


@pytest.mark.parametrize("shape", [(200,), (200, 3), (200, 5), (200, 4, 1)])
def test_features_of_the_wrong_shape_are_refused(shape):
    learner = RecursiveLeastSquares()
    with pytest.raises(StreamError, match=r"needs x of shape \(200, 4\)"):
        block = Block(np.zeros(shape), np.zeros(200))
        learner.run(learner.init(np.zeros(4)), LOSS, block)


@pytest.mark.parametrize("gap", [300, 1000, 1e150])
@pytest.mark.parametrize("bank", [False, True])
def test_after_a_long_gap_only_the_rows_since_then_count(gap, bank):
    rng = np.random.default_rng(0)
    x, elapsed = rng.normal(size=(130, 3)), np.ones(130)
    y, elapsed[100] = rng.normal(size=130), gap
    block, learner = Block(x, y, None, elapsed), RecursiveLeastSquares(0.9)
    learner = Experts((learner,)) if bank else learner
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, block)
    since = Block(x[100:], y[100:])
    expected = oracles.discounted_least_squares(np.zeros(3), 0.9, 0.0, since)
    np.testing.assert_allclose(state.theta, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("bank", [False, True])
@pytest.mark.parametrize("size", [2e6, 1e9, 1e12, 1e20])
def test_many_large_features_are_learnt_like_small_ones(size, bank):
    rng, n, gamma = np.random.default_rng(0), 20, 0.95
    x, y = rng.normal(size=(60, n)), rng.normal(size=60)
    learner = RecursiveLeastSquares(gamma)
    learner = Experts((learner,)) if bank else learner
    state, _ = learner.run(learner.init(np.zeros(n)), LOSS, Block(size * x, y))
    expected = oracles.discounted_least_squares(np.zeros(n), gamma, 0.0, Block(x, y))
    np.testing.assert_allclose(size * state.theta, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("bank", [False, True])
def test_after_two_long_gaps_only_the_rows_since_then_count(bank):
    rng = np.random.default_rng(0)
    x, y, elapsed = rng.normal(size=(130, 3)), rng.normal(size=130), np.ones(130)
    elapsed[[98, 100]] = 1e4
    learner = RecursiveLeastSquares(0.9)
    learner = Experts((learner,)) if bank else learner
    block = Block(x, y, None, elapsed)
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, block)
    since = Block(x[100:], y[100:])
    expected = oracles.discounted_least_squares(np.zeros(3), 0.9, 0.0, since)
    np.testing.assert_allclose(state.theta, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("gap", [100, 1000, 1e6])
@pytest.mark.parametrize("leaky", [False, True])
def test_after_a_long_gap_a_retained_ridge_is_that_of_a_new_model(gap, leaky):
    rng, n, before = np.random.default_rng(0), 3, 100
    x, y, elapsed = rng.normal(size=(160, n)), rng.normal(size=160), np.ones(160)
    elapsed[before] = gap
    learner = RecursiveLeastSquares(0.9, 0.01, 0.01, leaky)
    start = learner.init(np.zeros(n))
    _, trace = learner.run(start, LOSS, Block(x, y, None, elapsed))
    _, new = learner.run(start, LOSS, Block(x[before:], y[before:]))
    # What is left of the time before, after so many rounds of 0.9.
    np.testing.assert_allclose(
        trace.prediction[before + 30 :], new.prediction[30:], rtol=0, atol=0.05
    )
