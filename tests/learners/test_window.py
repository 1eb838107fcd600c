from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.learners.window import SlidingWindow
from thalweg.losses import Huber, SquaredError
from thalweg.types import Block


def random_block():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 3)), rng.normal(size=120)
    return Block(x, y, rng.uniform(0, 2, size=120))


def hostile_block():
    """Long spells of one direction, of nothing at all, and of spikes."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(120, 3)), rng.normal(size=120)
    x[20:60] = [1.0, 1.0, -1.0]
    x[60:90] = y[60:90] = 0
    x[100], y[105] = 1e4, 1e6
    return Block(x, y)


def exact(window, ridge, block):
    """The normal equations by Cramer's rule in fractions: no rounding, so no doubt."""
    played, rounds = [], []
    for x, y, weight, _ in block.rounds():
        rounds.append([Fraction(float(part)) for part in (*x, y, weight)])
        A = [[Fraction(ridge) * (i == j) for j in range(3)] for i in range(3)]
        b = [Fraction(0)] * 3
        for *u, v, w in rounds[-window:]:
            A = [[A[i][j] + w * u[i] * u[j] for j in range(3)] for i in range(3)]
            b = [b[i] + w * u[i] * v for i in range(3)]
        columns = list(zip(*A, strict=True))
        swapped = [[*columns[:j], b, *columns[j + 1 :]] for j in range(3)]
        played.append([float(determinant(B) / determinant(A)) for B in swapped])
    return np.array(played)


def determinant(matrix):
    (a, b, c), (d, e, f), (g, h, i) = matrix
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def shortest(window, block):
    """The solution of least norm, by the pseudo-inverse of the rows as they came."""
    played, rows, targets = [], [], []
    for x, y, weight, _ in block.rounds():
        rows.append(np.sqrt(weight) * x)
        targets.append(np.sqrt(weight) * y)
        inverse = np.linalg.pinv(np.array(rows[-window:]), rcond=1e-12)
        played.append(inverse @ targets[-window:])
    return np.array(played)


@pytest.mark.parametrize("make", [random_block, hostile_block])
@pytest.mark.parametrize("window", [1, 2, 10, 1000])
@pytest.mark.parametrize("ridge", [0.0, 0.1, 10.0])
def test_every_point_played_is_the_oracles(make, window, ridge):
    block, start = make(), np.array([0.5, 0.0, -0.2])
    learner = SlidingWindow(window, ridge)
    state = learner.init(start)
    state, trace = learner.run(state, SquaredError(), block, record=("theta",))
    np.testing.assert_array_equal(trace.theta[0], start)
    played = np.vstack([trace.theta[1:], state.theta])
    expected = exact(window, ridge, block) if ridge else shortest(window, block)
    size = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(played - expected) <= 1e-9 * size + 1e-12).all()


def test_several_targets_are_as_many_problems():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    learner = SlidingWindow(10)
    both, trace = learner.run(
        learner.init(np.zeros((3, 2))), SquaredError(), Block(x, y)
    )
    assert trace.prediction.shape == (60, 2)
    for k in range(2):
        block = Block(x, y[:, k])
        one, alone = learner.run(learner.init(np.zeros(3)), SquaredError(), block)
        np.testing.assert_allclose(both.theta[:, k], one.theta, rtol=1e-12)
        np.testing.assert_allclose(
            trace.prediction[:, k], alone.prediction, rtol=1e-9, atol=1e-12
        )


def test_without_a_ridge_too_few_rounds_give_the_solution_of_least_norm():
    """Of all θ with θ_1 + θ_2 = 2 the shortest is (1, 1)."""
    learner = SlidingWindow(window=5, ridge=0.0)
    block = Block(np.array([[1.0, 1.0, 0.0]]), np.array([2.0]))
    state, _ = learner.run(learner.init(np.zeros(3)), SquaredError(), block)
    np.testing.assert_allclose(state.theta, [1, 1, 0], rtol=0, atol=1e-15)


def test_what_left_the_window_is_forgotten_to_the_last_bit():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    other = y.copy()
    other[:20] = 1e100
    learner = SlidingWindow(window=20)
    start = learner.init(np.zeros(3))
    clean, _ = learner.run(start, SquaredError(), Block(x, y))
    dirty, _ = learner.run(start, SquaredError(), Block(x, other))
    np.testing.assert_array_equal(clean.theta, dirty.theta)


LARGEST = {np.float64: 1e150, np.float32: 1e15}
DENORMAL = {np.float64: 5e-324, np.float32: 1e-45}


def extreme_rows(kind, dtype, rounds=40, n=3):
    """x and y of legal numbers, as large and as small as they come."""
    rng, huge, one = np.random.default_rng(0), LARGEST[dtype], np.ones((rounds, n))
    powers = np.log10(huge)
    late = one * np.where(np.arange(rounds) < rounds // 2, 1 / huge, huge)[:, None]
    spread = 10 ** rng.uniform(-powers, powers, size=(rounds, n))
    spikes = np.where(rng.uniform(size=(rounds, n)) < 0.05, huge, rng.normal(size=n))
    return {
        "nothing": (0 * one, np.zeros(rounds)),
        "the smallest numbers": (DENORMAL[dtype] * one, np.full(rounds, huge)),
        "tiny rows, huge labels": (one / huge, np.full(rounds, huge)),
        "huge rows after tiny": (late, np.where(late[:, 0] < 1, huge, 1.0)),
        "huge rows, tiny labels": (huge * one, np.full(rounds, 1 / huge)),
        "both, mixed": (rng.choice([1 / huge, huge], size=(rounds, n)), late[::-1, 0]),
        "all sizes": (np.minimum(spread, huge), np.minimum(spread[::-1, 0], huge)),
        "spikes": (spikes, rng.normal(size=rounds)),
    }[kind]


@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        "nothing",
        "the smallest numbers",
        "tiny rows, huge labels",
        "huge rows after tiny",
        "huge rows, tiny labels",
        "both, mixed",
        "all sizes",
        "spikes",
    ],
)
def test_every_legal_stream_gives_finite_numbers(kind, weighted, dtype):
    x, y = extreme_rows(kind, dtype)
    weight = np.resize([0, 1, 1e-6, 1e6], len(y)) if weighted else np.ones(len(y))
    root = np.sqrt(np.maximum(weight, 1))
    block = Block(x / root[:, None], y / root, weight)
    for window, ridge in product([1, 3, 20], [0.0, 1e-8, 1.0, 1 / LARGEST[dtype]]):
        learner = SlidingWindow(window, ridge)
        state, trace = learner.run(
            learner.init(np.zeros(3, dtype)), SquaredError(), block, record=("theta",)
        )
        assert np.isfinite(trace.prediction).all()
        assert np.isfinite(trace.loss).all()
        for theta in (trace.theta, state.theta):
            assert (np.abs(theta) <= dtype(LARGEST[dtype])).all()


@pytest.mark.parametrize(
    "ridge, dtype", [(1e300, np.float64), (1e-200, np.float64), (1e20, np.float32)]
)
def test_a_ridge_that_the_dtype_cannot_hold_is_refused_by_name(ridge, dtype):
    with pytest.raises(InvalidParameterError, match="'ridge' .* SlidingWindow"):
        SlidingWindow(ridge=ridge).init(np.zeros(3, dtype))


def test_it_learns_from_squared_error_only():
    with pytest.raises(UnsupportedLossError, match="learns from SquaredError"):
        SlidingWindow().check_loss(Huber(width=0.7, ridge=0.1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 0}, r"'window' .* must be in \[1, inf\)"),
        ({"window": float("inf")}, r"'window' .* must be in \[1, inf\)"),
        ({"window": 2.5}, r"'window' .* must be a whole number. Got 2.5 instead"),
        ({"ridge": -1e-9}, r"'ridge' .* must be in \[0, inf\)"),
    ],
)
def test_settings_outside_their_range_are_refused(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        SlidingWindow(**settings)
