"""Theorems 2 to 6 and the appendix, against numbers worked out by hand."""

import math

import numpy as np
import pytest

from thalweg import bounds, discounts
from thalweg.bounds import Problem
from thalweg.bounds.problem import (
    discounted_count,
    effective_memory,
    step_sum,
    step_sum_bound,
)
from thalweg.errors import InvalidParameterError

# T, n, D, ℓ, u, α, G
SIMPLE = Problem(4, 2, 3.0, 0.5, 2.0, 0.25, 5.0)
DISCOUNTS = (0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-10)


def problems():
    rng = np.random.default_rng(4)
    for _ in range(30):
        ell, more, G, D = np.exp(rng.uniform(-2, 2, 4)).tolist()
        T = int(rng.integers(2, 2000))
        yield Problem(T, 3, 0.1 + D, ell, ell + more, ell / G**2, G)


def pairs(problem, discount):
    """(printed, sharp) of every bound that has both, at several path lengths."""
    for bound in (bounds.tracking_static, bounds.smooth_static):
        yield bound(problem, discount), bound(problem, discount, sharp=True)
    static = [bounds.general_static(problem, discount, 1.0, sharp=s) for s in (0, 1)]
    yield tuple(static)
    for V in (0.0, 2.0, float(problem.horizon)):
        for bound in (
            bounds.tracking_dynamic,
            bounds.smooth_dynamic,
            bounds.strongly_convex,
        ):
            at = (problem, discount, None, V)
            yield bound(*at), bound(*at, sharp=True)
        at = (problem, discount, 1.0, None, V)
        yield bounds.general_dynamic(*at), bounds.general_dynamic(*at, sharp=True)


def test_sums_by_hand():
    assert discounted_count(0.5, 3) == pytest.approx(1.75)
    assert discounted_count(1.0, 7) == 7
    assert discounted_count(0.9, 0) == 0
    assert effective_memory(0.75) == 4
    assert math.isinf(effective_memory(1.0))
    # ½/(1-½), ½/(1-¼), ½/(1-⅛) = 1, ⅔, 4/7.
    assert step_sum(0.5, 3) == pytest.approx(1 + 2 / 3 + 4 / 7)
    assert step_sum(1.0, 3) == pytest.approx(1 + 1 / 2 + 1 / 3)
    assert step_sum_bound(0.5, 3) == pytest.approx(1 + 1 + math.log(2))


def test_a_discount_of_all_but_one_loses_no_digits():
    assert discounted_count(1 - 1e-15, 1000) == pytest.approx(1000, rel=1e-12)
    assert step_sum(1 - 1e-15, 1000) == pytest.approx(step_sum(1.0, 1000), rel=1e-9)


def test_tracking_by_hand():
    # D = 3, γ = ½: 2·3·2·(1 + 4), and with S_4 = 1.875 in place of 2·2.
    at = (SIMPLE, 0.5, 4, 4.0)
    assert bounds.tracking_dynamic(*at, start_distance=1.0) == pytest.approx(60)
    sharp = bounds.tracking_dynamic(*at, start_distance=1.0, sharp=True)
    assert sharp == pytest.approx(3 * 1.875 * 5)
    assert bounds.tracking_dynamic(*at) == pytest.approx(2 * 3 * 2 * (6 + 4))
    expected = 18 * (1 + 0.5 * 3 + math.log(2))
    assert bounds.tracking_static(SIMPLE, 0.5) == pytest.approx(expected)
    expected = 18 * (1 + 2 / 3 + 4 / 7 + 8 / 15)
    assert bounds.tracking_static(SIMPLE, 0.5, sharp=True) == pytest.approx(expected)


def test_smooth_by_hand():
    # G = 5, u/ℓ = 4, γ = ½: 5(2(2-1) + 4)(1 + 4), sharp 5(0.875 + 4)(1 + 4).
    at = (SIMPLE, 0.5, 4, 4.0)
    assert bounds.smooth_dynamic(*at, start_distance=1.0) == pytest.approx(150)
    sharp = bounds.smooth_dynamic(*at, start_distance=1.0, sharp=True)
    assert sharp == pytest.approx(5 * 4.875 * 5)
    # 2·1.5·9 + 12.5·min{4/2, ½ + (1 + ½·2 + log 2)/¼}
    assert bounds.smooth_static(SIMPLE, 0.5) == pytest.approx(27 + 12.5 * 2)
    # η = 1/2, 1/(¼+2), 1/(3/8+2), 1/(7/16+2)
    steps = 0.5 + 1 / 2.25 + 1 / 2.375 + 1 / 2.4375
    result = bounds.smooth_static(SIMPLE, 0.5, sharp=True)
    assert result == pytest.approx(27 + 12.5 * steps)


def test_strongly_convex_by_hand():
    # 2Dℓ/(1-γ)·V = 3·2·4; (G²/2)Σ η = 12.5·2·(1 + ⅔ + 4/7 + 8/15).
    steps = 25 * (1 + 2 / 3 + 4 / 7 + 8 / 15)
    result = bounds.strongly_convex(SIMPLE, 0.5, 4, 4.0)
    assert result == pytest.approx(24 + steps)
    result = bounds.strongly_convex(SIMPLE, 0.5, 4, 4.0, sharp=True)
    assert result == pytest.approx(3 * 1.75 * 4 + steps)
    assert bounds.strongly_convex(SIMPLE, 1.0, 4) == pytest.approx(25 * 25 / 12)


def test_general_least_squares_by_hand():
    # δ = 1.5: ρ = √1.5·1.5γ/(1.5γ + 1 - γ), at γ = ½ √1.5·0.6.
    problem = Problem(4, 2, 1.0, 2.0, 3.0, 1.0, 1.0)
    rho = math.sqrt(1.5) * 0.6
    result = bounds.general_dynamic(problem, 0.5, 7.0, 4, 4.0, start_distance=1.0)
    assert result == pytest.approx(math.sqrt(3) * 2.5 * 7 / (1 - rho) * 5)
    result = bounds.general_static(problem, 0.5, 7.0)
    assert result == pytest.approx(0.75 * 2.5**2 * 49 * (1 + 1.5 + math.log(2)))
    result = bounds.general_static(problem, 0.5, 7.0, sharp=True)
    assert result == pytest.approx(0.75 * 2.5**2 * 49 * (1 + 2 / 3 + 4 / 7 + 8 / 15))


@pytest.mark.parametrize(
    ("condition", "largest"), [(1.0, 1.0), (1.5, 0.748), (4.0, 0.2), (20.0, 0.0142)]
)
def test_general_least_squares_leaves_little_memory(condition, largest):
    problem = Problem(10**6, 1, 1.0, 1.0, condition, 1.0, 1.0)
    limit = bounds.general_largest_discount(problem)
    assert limit == pytest.approx(largest, rel=2e-3)
    assert math.isfinite(bounds.general_dynamic(problem, limit * 0.999, 1.0))
    if limit < 1:
        assert math.isinf(bounds.general_dynamic(problem, limit * 1.001, 1.0))


def test_sharp_is_never_above_printed():
    for problem in problems():
        for discount in DISCOUNTS:
            for printed, sharp in pairs(problem, discount):
                assert 0 < sharp <= printed * (1 + 1e-9)


def test_without_forgetting_the_sharp_forms_stay_finite():
    for problem in problems():
        finite = [
            bounds.tracking_static(problem, 1.0, sharp=True),
            bounds.smooth_static(problem, 1.0, sharp=True),
            bounds.tracking_dynamic(problem, 1.0, None, 1.0, sharp=True),
            bounds.smooth_dynamic(problem, 1.0, None, 1.0, sharp=True),
            bounds.strongly_convex(problem, 1.0, None, 1.0, sharp=True),
            bounds.general_static(problem, 1.0, 1.0, sharp=True),
        ]
        assert all(map(math.isfinite, finite))
        assert math.isinf(bounds.tracking_dynamic(problem, 1.0, None, 1.0))
        assert math.isinf(bounds.strongly_convex(problem, 1.0, None, 1.0))


def test_the_integral_lemma_bounds_the_sum_of_steps():
    for discount in DISCOUNTS:
        for horizon in (1, 2, 10, 3000):
            bound = step_sum_bound(discount, horizon)
            assert step_sum(discount, horizon) <= bound * (1 + 1e-12)


def test_corollary_3_is_no_less_than_the_theorem_at_its_discount():
    for problem in problems():
        T, D = problem.horizon, problem.radius
        for V in (0.0, 0.1, D * (T - 1), 2 * D * (T - 1)):
            discount = discounts.from_path_length(V, T, D)
            theorem = bounds.strongly_convex(problem, discount, T, V)
            closed = bounds.strongly_convex_by_path_length(problem, V)
            assert theorem <= closed * (1 + 1e-12)
            motion = max(V, math.log(T) ** 2 / T)
            discount = 1 - math.sqrt(motion / (2 * D * T)) / 2
            theorem = bounds.strongly_convex(problem, discount, T, V)
            closed = bounds.strongly_convex_by_path_length(problem, V, as_printed=True)
            assert theorem <= closed * (1 + 1e-12)


def test_more_path_and_a_farther_start_cost_more():
    for sharp in (False, True):
        for bound in (bounds.tracking_dynamic, bounds.smooth_dynamic):
            near, far, farther = (
                bound(SIMPLE, 0.9, 50, V, start_distance=d, sharp=sharp)
                for V, d in ((0.0, 1.0), (1.0, 1.0), (1.0, 2.0))
            )
            assert near < far < farther


def test_a_loss_that_is_not_strongly_convex_is_refused():
    flat = Problem(10, 2, 1.0, 0.0, 1.0, 1.0, 1.0)
    for bound in (bounds.smooth_dynamic, bounds.smooth_static, bounds.strongly_convex):
        with pytest.raises(InvalidParameterError, match="strongly convex"):
            bound(flat, 0.9)
    with pytest.raises(InvalidParameterError, match="full column rank"):
        bounds.general_static(flat, 0.9, 1.0)
