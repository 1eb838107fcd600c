"""Against points of a ball or a box, the worst interval is that of brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, nnls

from tests.regret.test_adaptive import KINDS, features, forecasts
from thalweg import regret, streams
from thalweg.domains import Ball, Box, Everywhere, Simplex
from thalweg.errors import InvalidParameterError
from thalweg.losses import LinearMap, SquaredError, Tracking
from thalweg.types import Block, Trace

SQUARED = SquaredError()


def least_loss_in_ball(x, y, radius):
    """min ½‖xθ - y‖² over ‖θ‖ ≤ radius, from the secular equation in an eigenbasis."""
    _, singular, basis = np.linalg.svd(x, full_matrices=False)
    squares, target = singular**2, basis @ (x.T @ y)

    def excess(mu):
        return np.linalg.norm(target / (squares + mu)) - radius

    free = np.linalg.lstsq(x, y)[0]
    if np.linalg.norm(free) <= radius:
        theta = free
    else:
        top = np.linalg.norm(target) / radius
        mu = brentq(excess, 1e-30 * top, 2 * top, xtol=1e-300, rtol=1e-15)
        theta = basis.T @ (target / (squares + mu))
    return 0.5 * ((x @ theta - y) ** 2).sum()


def least_loss_in_box(x, y, low, high):
    """min ½‖xθ - y‖² over low ≤ θ ≤ high: the best of all faces of the box."""
    best = np.inf
    for sides in product((-1, 0, 1), repeat=x.shape[1]):
        side = np.array(sides)
        theta = np.where(side < 0, low, high)
        free = side == 0
        theta[free] = 0
        theta[free] = np.linalg.lstsq(x[:, free], y - x @ theta)[0]
        is_inside = (theta >= low - 1e-13) & (theta <= high + 1e-13)
        if is_inside.all():
            best = min(best, 0.5 * ((x @ theta - y) ** 2).sum())
    return best


def least_loss(domain, x, y):
    if isinstance(domain, Ball):
        return least_loss_in_ball(x, y, domain.radius)
    ends = (np.broadcast_to(end, x.shape[1]) for end in (domain.low, domain.high))
    return least_loss_in_box(x, y, *ends)


def brute_force(domain, losses, x, y):
    """The worst regret of all intervals, each solved afresh; x (T, m, n), y (T, m)."""
    best = -np.inf
    for start in range(len(losses)):
        for stop in range(start + 1, len(losses) + 1):
            A, b = x[start:stop].reshape(-1, x.shape[2]), y[start:stop].ravel()
            own = losses[start:stop].sum()
            if own > best:  # no regret is larger than the learner's loss
                best = max(best, own - least_loss(domain, A, b))
    return best


def check_exact(result, worst, domain, losses, x, y):
    """Both ends are the worst regret, and the interval attains it."""
    scale = max(1.0, losses.sum())
    assert result.low <= result.high <= result.low + 1e-12 * scale
    assert result.low == pytest.approx(worst, abs=1e-10 * scale)
    start, stop = result.interval
    A, b = x[start:stop].reshape(-1, x.shape[2]), y[start:stop].ravel()
    attained = losses[start:stop].sum() - least_loss(domain, A, b)
    assert result.low == pytest.approx(attained, abs=1e-10 * scale)


DOMAINS = [
    Ball(0.1),
    Ball(1.5),
    Box(-0.3, 0.2),
    Box([-1.0, 0.5, -0.2], [0.0, 0.5, 3.0]),
]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_search_in_a_domain_equals_brute_force(kind, domain):
    rng = np.random.default_rng(5)
    x = features(kind.replace("_", " "), rng, 30, 3)
    block = Block(x, rng.standard_normal(30) + x @ rng.standard_normal(3))
    trace = Trace.from_predictions(forecasts(block, 1), block, SQUARED)
    x, y = x[:, None], block.y[:, None]
    worst = brute_force(domain, trace.loss, x, y)
    result = regret.adaptive(trace, block, SQUARED, domain=domain)
    check_exact(result, worst, domain, trace.loss, x, y)


@pytest.mark.parametrize("domain", [Ball(0.5), Box(-0.4, 0.3)])
@pytest.mark.slow
def test_two_hundred_drifting_rounds_equal_brute_force(domain):
    stream = streams.random_walk(200, 2, noise=0.3, seed=3)
    block = stream.block
    trace = Trace.from_predictions(forecasts(block, 4), block, SQUARED)
    x, y = block.x[:, None], block.y[:, None]
    worst = brute_force(domain, trace.loss, x, y)
    result = regret.adaptive(trace, block, SQUARED, domain=domain)
    check_exact(result, worst, domain, trace.loss, x, y)
    bracket = regret.adaptive(trace, block, SQUARED, exact_up_to=40, domain=domain)
    assert bracket.low <= worst + 1e-10
    assert bracket.high >= worst - 1e-10


@pytest.mark.parametrize("domain", [Ball(0.4), Box([-0.1, 0.0], [0.5, 0.2])])
def test_points_maps_and_weights_are_searched_in_a_domain_too(domain):
    rng = np.random.default_rng(2)
    T, weight = 30, rng.uniform(0.1, 3, 30)
    root = np.sqrt(weight)
    maps, tall = rng.standard_normal((T, 3, 2)), rng.standard_normal((T, 3))
    x, points = rng.standard_normal((T, 2)), rng.standard_normal((T, 2))
    cases = [
        (SQUARED, Block(x, tall[:, 0], weight), x[:, None], tall[:, :1]),
        (LinearMap(), Block(maps, tall, weight), maps, tall),
        (
            Tracking(),
            Block(None, points, weight),
            np.tile(np.eye(2), (T, 1, 1)),
            points,
        ),
    ]
    for loss, block, A, b in cases:
        trace = Trace.from_predictions(0.1 * block.y, block, loss)
        A, b = root[:, None, None] * A, root[:, None] * b
        worst = brute_force(domain, trace.loss, A, b)
        result = regret.adaptive(trace, block, loss, domain=domain)
        check_exact(result, worst, domain, trace.loss, A, b)
        bracket = regret.adaptive(trace, block, loss, exact_up_to=20, domain=domain)
        assert bracket.low <= worst + 1e-10 <= bracket.high + 2e-10


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_any_short_stream_equals_brute_force(seed, n, rounds):
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, (rounds, n)) * 10.0 ** rng.integers(-3, 4, n)
    block = Block(x, rng.integers(-3, 4, rounds) * 10.0 ** rng.integers(-2, 3))
    trace = Trace.from_predictions(forecasts(block, seed), block, SQUARED)
    size = 10.0 ** rng.integers(-3, 3)
    low = -size * rng.integers(0, 3, n)
    for domain in (Ball(size), Box(low, low + size * rng.integers(0, 3, n))):
        result = regret.adaptive(trace, block, SQUARED, domain=domain)
        arrays = trace.loss, x[:, None], block.y[:, None]
        check_exact(result, brute_force(domain, *arrays), domain, *arrays)


@pytest.mark.parametrize("domain", [Ball(0.6), Box(-0.4, 0.3)])
@pytest.mark.parametrize("kind", ["abrupt", "random_walk", "mixed", "stationary"])
def test_the_bracket_in_a_domain_contains_the_exact_worst(kind, domain):
    block = getattr(streams, kind)(700, 4, noise=0.3, seed=5).block
    mean = np.linalg.lstsq(block.x[:200], block.y[:200])[0]
    played = domain.project(mean)
    trace = Trace.from_predictions(block.x @ played, block, SQUARED)
    exact = regret.adaptive(trace, block, SQUARED, domain=domain)
    bracket = regret.adaptive(trace, block, SQUARED, 300, domain)
    assert exact.high - exact.low <= 1e-12 * trace.loss.sum()
    assert bracket.low <= exact.low * (1 + 1e-12) <= bracket.high * (1 + 2e-12)
    assert bracket.low >= 0.9 * exact.low
    assert bracket.high <= 2 * exact.high
    # Every comparator of the domain is one of all points.
    free = regret.adaptive(trace, block, SQUARED, 300)
    assert bracket.high <= free.high * (1 + 1e-12)
    start, stop = bracket.interval
    part = Trace(trace.prediction[start:stop], trace.loss[start:stop])
    attained = regret.static(part, block[start:stop], SQUARED, domain).total
    assert bracket.low == pytest.approx(attained, rel=1e-9)


def test_a_domain_that_holds_all_minimisers_changes_nothing():
    block = streams.random_walk(150, 3, noise=0.5, seed=8).block
    trace = Trace.from_predictions(forecasts(block, 4), block, SQUARED)
    free = regret.adaptive(trace, block, SQUARED)
    for domain in (Ball(1e9), Box(-1e9, 1e9), Box(-np.inf, np.inf), Everywhere()):
        result = regret.adaptive(trace, block, SQUARED, domain=domain)
        assert result.low == pytest.approx(free.low, rel=1e-12)
        assert result.high == pytest.approx(free.low, rel=1e-12)
        assert result.interval == free.interval


def test_sides_without_an_end_are_searched_as_well():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((40, 3))
    block = Block(x, x @ [1.0, -1.0, 0.2] + rng.standard_normal(40))
    trace = Trace.from_predictions(forecasts(block, 4), block, SQUARED)
    positive = Box(0.0, np.inf)
    arrays = trace.loss, x[:, None], block.y[:, None]
    result = regret.adaptive(trace, block, SQUARED, domain=positive)
    worst = max(
        trace.loss[a:b].sum() - 0.5 * nnls(x[a:b], block.y[a:b])[1] ** 2
        for a in range(40)
        for b in range(a + 1, 41)
    )
    check_exact(result, worst, Box(0.0, 1e6), *arrays)


def test_a_learner_outside_the_domain_may_have_no_interval_of_regret():
    block = Block(np.ones((300, 1)), np.full(300, 2.0))
    trace = Trace.from_predictions(np.full(300, 2.0), block, SQUARED)
    result = regret.adaptive(trace, block, SQUARED, domain=Ball(1.0))
    assert (result.low, result.high) == pytest.approx((-0.5, -0.5), abs=1e-12)
    bracket = regret.adaptive(trace, block, SQUARED, exact_up_to=40, domain=Ball(1.0))
    assert (bracket.low, bracket.high) == pytest.approx((-0.5, -0.5), abs=1e-12)


def test_what_cannot_be_searched_in_a_domain_is_refused_by_name():
    block = Block(np.ones((5, 2)), np.ones(5))
    trace = Trace.from_predictions(np.zeros(5), block, SQUARED)
    with pytest.raises(InvalidParameterError, match="a Ball or a Box. Got Simplex"):
        regret.adaptive(trace, block, SQUARED, domain=Simplex())
    with pytest.raises(InvalidParameterError, match="2 coordinates of θ. Got 3"):
        regret.adaptive(trace, block, SQUARED, domain=Box(np.zeros(3), np.ones(3)))
    with pytest.raises(InvalidParameterError, match="'domain' parameter of adaptive"):
        regret.adaptive(trace, block, SQUARED, domain=0.1)
    wide = Block(block.x, np.ones((5, 2)))
    trace = Trace.from_predictions(np.zeros((5, 2)), wide, SQUARED)
    with pytest.raises(InvalidParameterError, match="one target. Got 2"):
        regret.adaptive(trace, wide, SQUARED, domain=Ball(1.0))
