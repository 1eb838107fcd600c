import numpy as np
import pytest

from thalweg.domains import Ball, Everywhere
from thalweg.errors import InvalidParameterError
from thalweg.learners.ader import Ader, hedge
from thalweg.losses import Function, Functions, Round, SquaredError
from thalweg.types import Block


def random_block():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    return Block(x, y, rng.uniform(0, 2, size=200))


def hostile_block():
    """The same direction for ever, with targets that flip sign and, at times, spike."""
    x = np.tile([1.0, 1.0, -1.0], (200, 1))
    y = 2.0 * (-1.0) ** (np.arange(200) // 5)
    y[::17] *= 10
    return Block(x, y)


def oracle(theta, T, G, radius, surrogate, block):
    D = 2 * radius
    N = int(np.ceil(0.5 * np.log2(1 + 4 * T / 7))) + 1
    steps = [2 ** (i - 1) * D / G * np.sqrt(7 / (2 * T)) for i in range(1, N + 1)]
    weights = np.array([(1 + 1 / N) / (i * (i + 1)) for i in range(1, N + 1)])
    points, played = [theta] * N, []
    for x, y, w, _ in block.rounds():
        theta = sum(weights[i] * points[i] for i in range(N)) / sum(weights)
        played.append(theta)
        for i in range(N):
            at = theta if surrogate else points[i]
            grad = w * (x @ at - y) * x
            cost = w * 0.5 * (x @ points[i] - y) ** 2
            if surrogate:
                cost = grad @ (points[i] - theta)
            weights[i] *= np.exp(-np.sqrt(8 / (T * G**2 * D**2)) * cost)
            points[i] = points[i] - steps[i] * grad
            points[i] = points[i] / max(1, np.sqrt(points[i] @ points[i]) / radius)
        weights /= sum(weights)
    return np.array(played)


@pytest.mark.parametrize("make", [random_block, hostile_block])
@pytest.mark.parametrize("surrogate", [False, True])
@pytest.mark.parametrize("horizon", [1, 200, 5000])
def test_every_point_played_is_the_oracles(make, surrogate, horizon):
    learner = Ader(horizon, 4.0, Ball(0.8), surrogate)
    start = np.array([0.5, 0.0, -0.2])
    state = learner.init(start)
    _, trace = learner.run(state, SquaredError(), make(), record=("theta",))
    expected = oracle(start, horizon, 4.0, 0.8, surrogate, make())
    np.testing.assert_allclose(trace.theta, expected, rtol=1e-9, atol=1e-12)


def test_the_grid_at_a_hundred_rounds_is_the_one_worked_out_by_hand():
    """½log₂(1 + 400/7) = 2.93, so N = 4; η_1 = (2/4)√.035; C = 5/4; α = √.08/8."""
    learner = Ader(100, gradient_bound=4.0, domain=Ball(1.0))
    first = 0.09354143466934853
    by_hand = [first, 2 * first, 4 * first, 8 * first]
    np.testing.assert_allclose(learner.step_sizes, by_hand, rtol=1e-15)
    prior = np.exp(learner.init(np.zeros(3)).log_weights)
    np.testing.assert_allclose(prior, [5 / 8, 5 / 24, 5 / 48, 1 / 16], rtol=1e-14)
    assert learner.mixing_rate == pytest.approx(0.035355339059327376, rel=1e-15)


@pytest.mark.parametrize("horizon", [1, 2, 10, 1000, 10**6])
def test_the_grid_spans_every_step_size_that_may_be_best(horizon):
    """η* = (D/G)√((7 + 4V/D)/2T) for path lengths V from 0 to TD."""
    steps = Ader(horizon, gradient_bound=1.0, domain=Ball(0.5)).step_sizes
    low, high = np.sqrt(7 / (2 * horizon)), np.sqrt((7 + 4 * horizon) / (2 * horizon))
    assert steps[0] == pytest.approx(low, rel=1e-14)
    assert steps[-1] >= high / 2


@pytest.mark.parametrize("surrogate", [False, True])
@pytest.mark.parametrize("adversary", ["best", "last", "random"])
def test_meta_regret_stays_under_the_bound_of_hedge(surrogate, adversary):
    """Against expert i at most GD√(T/8)(1 + ln 1/w_i), by Hoeffding's lemma.

    The slopes lead from the best expert's point so far, or from the last one's, to
    the one played, or anywhere.
    """
    T, G, radius = 300, 2.0, 1.5
    rng = np.random.default_rng(0)
    learner = Ader(T, G, Ball(radius), surrogate)
    state = learner.init(np.zeros(3))
    prior, regret = np.exp(state.log_weights), np.zeros(len(state.log_weights))
    for _ in range(T):
        rival = regret.argmax() if adversary == "best" else -1
        push = state.theta - state.points[rival]
        if adversary == "random" or not push.any():
            push = rng.normal(size=3)
        slope = G * push / np.linalg.norm(push)
        regret += slope @ state.theta - state.points @ slope
        state = learner.update(state, linear(slope))
    bound = G * 2 * radius * np.sqrt(T / 8) * (1 - np.log(prior))
    assert (regret <= bound).all()


def test_on_linear_losses_the_surrogate_changes_nothing():
    rng = np.random.default_rng(0)
    plain, improved = Ader(50, 4.0), Ader(50, 4.0, surrogate=True)
    one, other = plain.init(np.zeros(3)), improved.init(np.zeros(3))
    for slope in rng.normal(size=(50, 3)):
        one = plain.update(one, linear(slope))
        other = improved.update(other, linear(slope))
        np.testing.assert_allclose(one.theta, other.theta, rtol=0, atol=1e-12)


def linear(slope):
    f = Function(lambda theta: slope @ theta, lambda theta: slope)
    return Round(Functions([f]), None, 0.0)


def test_losses_far_beyond_the_gradient_bound_leave_the_weights_right():
    """A loss of 1e300 for all experts alike moves no weight and no point past S."""
    x, y = np.ones((20, 3)), np.full(20, 1e150)
    learner = Ader(20, 1.0)
    start = learner.init(np.zeros(3))
    state, _ = learner.run(start, SquaredError(), Block(x, y))
    np.testing.assert_allclose(state.log_weights, start.log_weights, rtol=1e-12)
    assert np.linalg.norm(state.theta) == pytest.approx(1, rel=1e-14)


def test_weights_sum_to_one_when_the_last_becomes_as_good_as_the_first():
    log_weights = hedge(np.array([-1e299, 0.0]), np.array([0.0, 1e299]), rate=1.0)
    np.testing.assert_array_equal(np.exp(log_weights), [0.5, 0.5])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((0, 1.0), r"'horizon' .* must be in \[1, inf\)"),
        ((100, 0.0), r"'gradient_bound' .* must be in \(0, inf\)"),
        ((100, 1.0, Everywhere()), r"'radius' .* of Everywhere must be in \(0, inf\)"),
        ((100, 1.0, Ball(1.0), "yes"), r"'surrogate' .* must be one of False, True"),
    ],
)
def test_settings_outside_their_range_are_refused(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        Ader(*settings)
