from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.kernels.compiler.jit import COMPILED
from thalweg.kernels.hindsight import fused_lasso

ROUNDS = 5000 if COMPILED else 200


def problem(rounds, seed, spread=1.0):
    """Weights over some decades and targets that jump now and then."""
    rng = np.random.default_rng(seed)
    w = 10 ** rng.uniform(-spread, spread, rounds)
    level = np.cumsum((rng.random(rounds) < 0.1) * rng.normal(size=rounds))
    return w, w * (level + 0.3 * rng.normal(size=rounds))


def fuse(w, c, price):
    """The path, its length and the derivative of that."""
    z, sums = (
        np.empty_like(w),
        (fused_lasso.compensated_sums(w), fused_lasso.compensated_sums(c)),
    )
    return z, *fused_lasso.fused_lasso(
        *sums, price, z, *fused_lasso.allocate_workspace(len(w))
    )


def cost(w, c, price, z):
    return np.sum(0.5 * w * z**2 - c * z) + price * np.abs(np.diff(z)).sum()


def least_cost(w, c, price):
    """By trying every way to cut the rounds, and every direction at each cut."""
    best = np.inf
    for cuts in product((-1, 0, 1), repeat=len(w) - 1):
        run = np.concatenate([[0], np.cumsum(np.abs(cuts))]).astype(int)
        signs = [0, *(cut for cut in cuts if cut), 0]
        total = np.bincount(run, c) + price * np.diff(signs)
        z = (total / np.bincount(run, w))[run]
        best = min(best, cost(w, c, price, z))
    return best


@pytest.mark.parametrize("seed", range(10))
def test_no_cut_of_a_short_stream_costs_less(seed):
    w, c = problem(2 + seed % 6, seed)
    for price in (0.01, 0.1, 1.0, 10.0):
        z, _, _ = fuse(w, c, price)
        assert cost(w, c, price, z) == pytest.approx(least_cost(w, c, price), abs=1e-12)


@settings(max_examples=60)
@given(
    rounds=st.integers(1, 200),
    seed=st.integers(0, 2**32 - 1),
    price=st.floats(1e-3, 1e2),
)
def test_the_path_meets_the_conditions_for_the_optimum(rounds, seed, price):
    w, c = problem(rounds, seed)
    z, _, _ = fuse(w, c, price)
    # u_t = Σ_{s≤t} (c - wz) is the force on link t: at most λ, and λ where z jumps.
    u = np.cumsum(c - w * z)
    rounding = 1e-12 * (np.abs(c).sum() + price)
    assert abs(u[-1]) <= rounding
    assert (np.abs(u[:-1]) <= price + rounding).all()
    jump = np.diff(z)
    assert u[:-1][jump != 0] == pytest.approx(
        -price * np.sign(jump[jump != 0]), abs=rounding
    )


def test_the_path_length_and_its_derivative_are_those_of_the_path():
    w, c = problem(ROUNDS, seed=1)
    z, length, slope = fuse(w, c, price=2.0)
    assert length == pytest.approx(np.abs(np.diff(z)).sum(), rel=1e-12)
    step = 1e-7  # too small for the cuts to change on these data
    change = fuse(w, c, 2.0 + step)[1] - fuse(w, c, 2.0 - step)[1]
    assert slope == pytest.approx(change / (2 * step), rel=1e-4)


def test_a_high_price_fuses_all_rounds_and_a_low_one_none():
    w, c = problem(50, seed=2)
    assert fuse(w, c, 1e6)[0] == pytest.approx(np.full(50, c.sum() / w.sum()))
    assert fuse(w, c, 1e-12)[0] == pytest.approx(c / w, abs=1e-9)


def test_one_round_is_its_own_path():
    assert fuse(np.array([2.0]), np.array([3.0]), price=5.0)[0] == 1.5


@pytest.mark.parametrize("seed", range(215, 225))
def test_a_higher_price_never_lengthens_the_path(seed):
    # Weights from 1e-18 to 1. With seed 220 a sum kept by adding and taking away lost
    # the small ones, and the path grew fortyfold.
    rng = np.random.default_rng(seed)
    x = rng.normal(size=265) * 10 ** rng.uniform(-6, 0, 265)
    level = np.cumsum(rng.normal(size=265) * (rng.random(265) < 0.02))
    y = x * level + 0.1 * rng.normal(size=265) * np.abs(x).mean()
    lengths = [fuse(x * x, x * y, price)[1] for price in np.logspace(-12, 2, 60)]
    assert (np.diff(lengths) <= 1e-12 * lengths[0]).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_budget_just_short_of_every_target_is_spent(seed):
    x, y = np.random.default_rng(seed).normal(size=(2, 30))
    y -= x * (x @ y) / (x @ x)
    highest = np.abs(np.cumsum(x * y)).max()
    full = np.abs(np.diff(y / x)).sum()
    for budget in (np.nextafter(full, 0.0), full, np.nextafter(full, np.inf)):
        z = fused_lasso.best_path(x, y, budget, highest)
        assert z == pytest.approx(y / x, rel=1e-9, abs=1e-9)


def test_sums_of_an_interval_have_the_digits_that_prefixes_lose():
    values = np.array([1e16, 1.0, 1.0, 1.0, -1e16, 3.0])
    sums = fused_lasso.compensated_sums(values)
    assert fused_lasso.interval_sum(sums, 0, 3) == 1e16 + 3 + 1  # to the next even
    assert fused_lasso.interval_sum(sums, 1, 3) == 3
    assert fused_lasso.interval_sum(sums, 0, 5) == 6
