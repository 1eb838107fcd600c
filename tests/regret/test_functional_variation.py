"""Functional variation against slow searches for the point of the largest change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.domains import Ball, Box, Ellipsoid, Everywhere, Simplex
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.losses import (
    Function,
    Functions,
    Huber,
    LinearMap,
    Logistic,
    Round,
    SquaredError,
    Tracking,
)
from thalweg.regret import functional_variation
from thalweg.types import Block

T = 6
BOX = Box(np.array([-1.0, 0.2]), np.array([0.5, 0.9]))
ELLIPSE = Ellipsoid(np.zeros(2), np.diag([1.0, 4.0]))
EXACT = [
    (SquaredError(), Ball(0.7)),
    (SquaredError(), BOX),
    (Tracking(), Ball(0.7)),
    (Tracking(), BOX),
    (LinearMap(), Ball(0.7)),
]
BRACKETS = [
    (LinearMap(), BOX),
    (SquaredError(), Simplex()),
    (SquaredError(), ELLIPSE),
    (Tracking(), Simplex()),
    (Logistic(), Ball(2.0)),
    (Logistic(), BOX),
    (Huber(0.5), ELLIPSE),
    (Huber(0.5), Simplex()),
]


def random_block(loss, rng, weighted=False, n=2):
    weight = rng.uniform(0, 2, T) if weighted else None
    if isinstance(loss, Tracking):
        return Block(None, rng.standard_normal((T, n)), weight)
    if isinstance(loss, LinearMap):
        A = rng.standard_normal((T, 2, n))
        return Block(A, rng.standard_normal((T, 2)), weight)
    x, y = rng.standard_normal((T, n)), rng.standard_normal(T)
    return Block(x, (y > 0) * 1.0 if isinstance(loss, Logistic) else y, weight)


def grid_points(domain):
    """Points all over a domain of the plane, its boundary included."""
    share = np.linspace(0, 1, 61)
    if isinstance(domain, Simplex):
        return np.column_stack([share, 1 - share])
    if isinstance(domain, Box):
        width = domain.high - domain.low
        across, up = np.meshgrid(share, share)
        return domain.low + np.column_stack([across.ravel(), up.ravel()]) * width
    angle, r = np.meshgrid(np.linspace(0, 2 * np.pi, 721), share)
    disc = np.column_stack([(r * np.cos(angle)).ravel(), (r * np.sin(angle)).ravel()])
    return disc * ([1.0, 0.5] if domain is ELLIPSE else domain.radius)


def slow_suprema(block, loss, domain):
    """max |f_t - f_{t-1}| over a fine grid of points, (T-1,)."""
    points = grid_points(domain)
    assert all(domain.contains(point) for point in points[::97])
    losses = []
    for x, y, weight, _ in block.rounds():
        if isinstance(loss, Tracking):
            values = ((points - y) ** 2).sum(axis=1) / 2
        elif isinstance(loss, LinearMap):
            values = ((points @ x.T - y) ** 2).sum(axis=1) / 2
        else:
            values = loss.phi(points @ x, y)
        losses.append(weight * values)
    return np.abs(np.diff(losses, axis=0)).max(axis=1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("loss", "domain"), EXACT, ids=repr)
def test_exact_changes_are_the_largest_on_a_fine_grid(loss, domain, weighted):
    for seed in range(3):
        block = random_block(loss, np.random.default_rng(seed), weighted)
        result = functional_variation(block, loss, domain)
        np.testing.assert_allclose(result.lower, result.upper, rtol=1e-12)
        slow = slow_suprema(block, loss, domain)
        # A top lies within 1/120 of the width of a grid point, where the change, which
        # is smooth, is less by a multiple of the square of that.
        np.testing.assert_allclose(result.upper, slow, rtol=1e-3)
        assert (slow <= result.upper * (1 + 1e-12)).all()
        assert result.low == result.lower.sum() and result.high == result.upper.sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("loss", "domain"), BRACKETS, ids=repr)
def test_a_bracket_holds_the_largest_on_a_fine_grid(loss, domain, weighted):
    for seed in range(3):
        block = random_block(loss, np.random.default_rng(seed), weighted)
        result = functional_variation(block, loss, domain)
        slow = slow_suprema(block, loss, domain)
        assert (slow <= result.upper * (1 + 1e-9)).all()
        assert (result.lower <= slow * (1 + 1e-3)).all()
        assert (result.lower > 0).all()


def test_many_features_do_no_worse_than_the_plane_they_span():
    """Two rounds see a plane of the features only; the ball is a disc in it."""
    rng = np.random.default_rng(3)
    plane = random_block(SquaredError(), rng)[:2]
    turn = np.linalg.qr(rng.standard_normal((40, 2)))[0]
    wide = Block(plane.x @ turn.T, plane.y)
    flat = functional_variation(plane, SquaredError(), Ball(0.7))
    result = functional_variation(wide, SquaredError(), Ball(0.7))
    np.testing.assert_allclose(result.upper, flat.upper, rtol=1e-12)
    np.testing.assert_allclose(result.lower, flat.lower, rtol=1e-12)


def test_a_change_without_slope_is_largest_along_the_top_eigenvector():
    """The hard case of the trust-region problem: q = 0, so ½μ_1D² is the answer."""
    x = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 2.0]])
    result = functional_variation(Block(x, np.zeros(2)), SquaredError(), Ball(3.0))
    assert result.low == result.high == pytest.approx(0.5 * 4 * 9)


def change(block, loss, t, theta):
    """f_t(θ) - f_{t-1}(θ)."""
    after, before = (
        Round(loss, *list(block.rounds())[i]).value(theta) for i in (t, t - 1)
    )
    return after - before


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([*EXACT, *BRACKETS]))
def test_no_random_point_exceeds_the_upper_end(seed, n, setting):
    loss, domain = setting
    rng = np.random.default_rng(seed)
    if domain is BOX:
        domain = Box(-rng.uniform(0, 1, n), rng.uniform(0, 1, n))
    elif domain is ELLIPSE:
        domain = Ellipsoid(np.zeros(n), np.diag(rng.uniform(0.1, 9, n)))
    block = random_block(loss, rng, weighted=True, n=n)
    result = functional_variation(block, loss, domain)
    assert (result.lower <= result.upper).all()
    for point in 3 * rng.standard_normal((20, n)):
        inside = domain.project(point)
        for t in range(1, T):
            size = abs(change(block, loss, t, inside))
            assert size <= result.upper[t - 1] * (1 + 1e-9) + 1e-12


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 100), st.booleans(), st.booleans())
def test_in_one_dimension_all_points_can_be_tried(seed, radius, boxed, repeated):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((T, 1)), rng.standard_normal(T)
    if repeated:
        x[1:3], y[2] = x[0], y[1]
    block = Block(x, y, rng.choice([0.0, 1.0, 2.5], T))
    domain = Box(np.array([-radius]), np.array([radius])) if boxed else Ball(radius)
    theta = np.linspace(-radius, radius, 4001)
    loss = block.weights[:, None] * (x * theta - y[:, None]) ** 2 / 2
    tried = np.abs(np.diff(loss, axis=0)).max(axis=1)
    result = functional_variation(block, SquaredError(), domain)
    np.testing.assert_allclose(result.lower, result.upper, rtol=1e-9, atol=1e-12)
    steepest = np.abs(np.diff(loss, axis=1)).max() * 2
    assert (tried <= result.upper * (1 + 1e-9) + 1e-12).all()
    assert (result.upper <= tried + steepest).all()


def test_a_ball_and_a_box_that_hold_the_same_line_agree():
    rng = np.random.default_rng(7)
    block = random_block(SquaredError(), rng)
    flat = Block(block.x * [1.0, 0.0], block.y)
    ball = functional_variation(flat, SquaredError(), Ball(0.4))
    box = functional_variation(flat, SquaredError(), Box(-0.4, 0.4))
    np.testing.assert_allclose(ball.upper, box.upper, rtol=1e-12)


def test_losses_that_do_not_change_have_none():
    for loss in (SquaredError(), Tracking(), LinearMap()):
        block = random_block(loss, np.random.default_rng(0))
        x = None if block.x is None else np.repeat(block.x[:1], T, axis=0)
        still = Block(x, np.repeat(block.y[:1], T, axis=0))
        for domain in (Ball(1.0), Box(-1.0, 1.0)):
            assert functional_variation(still, loss, domain).high < 1e-12
    one = functional_variation(block[:1], loss, Ball(1.0))
    assert one.low == one.high == 0


def test_a_box_of_one_point_has_the_change_there():
    block = random_block(LinearMap(), np.random.default_rng(2))
    point = np.array([0.3, -0.2])
    result = functional_variation(block, LinearMap(), Box(point, point))
    there = [abs(change(block, LinearMap(), t, point)) for t in range(1, T)]
    np.testing.assert_allclose(result.lower, there, rtol=1e-12)
    np.testing.assert_allclose(result.upper, there, rtol=1e-9)


def test_what_has_no_functional_variation_is_refused():
    block = random_block(SquaredError(), np.random.default_rng(0))
    with pytest.raises(InvalidParameterError, match="finite radius"):
        functional_variation(block, SquaredError(), Everywhere())
    several = Block(block.x, np.ones((T, 2)))
    with pytest.raises(UnsupportedLossError, match="one target"):
        functional_variation(several, SquaredError(), Ball(1.0))
    bowls = Functions([Function(lambda z: float(z @ z), lambda z: 2 * z)] * 3)
    for loss, rounds in ((bowls, bowls.block()), (Huber(0.5, ridge=1.0), block)):
        with pytest.raises(UnsupportedLossError, match="linear prediction"):
            functional_variation(rounds, loss, Ball(1.0))
