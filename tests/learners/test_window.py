from fractions import Fraction

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
