"""Theorems 7 and 8 and Proposition 1, against numbers worked out by hand."""

import math

import numpy as np
import pytest

from thalweg import bounds, discounts
from thalweg.bounds import Problem
from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError
from thalweg.learners import Experts
from thalweg.losses import Constants

SIMPLE = Problem(1000, 2, 1.0, 0.5, 2.0, 0.25, 2.0)


def test_mixing_by_hand():
    # Expert 2 of 3: w = (4/3)/6, so log(6·¾)/λ.
    assert bounds.mixing_cost(0.5, 2, 3) == pytest.approx(2 * math.log(4.5))
    # The weights add up to 1: exp(-λ·cost) is each expert's weight.
    weights = [math.exp(-bounds.mixing_cost(1.0, i, 7)) for i in range(1, 8)]
    assert sum(weights) == pytest.approx(1)
    for rate, index in ((0.0, 1), (1.0, 0), (1.0, 8)):
        with pytest.raises(InvalidParameterError, match="of mixing"):
            bounds.mixing_cost(rate, index, 7)


@pytest.mark.parametrize("as_printed", [False, True])
def test_the_expert_that_serves_a_path_is_within_a_factor_of_two(as_printed):
    rng = np.random.default_rng(6)
    for _ in range(300):
        T, D = int(rng.integers(2, 10**6)), float(np.exp(rng.uniform(-2.6, 4)))
        problem = Problem(T, 2, D, 0.5, 2.0, 0.25, 2.0)
        V = float(rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 2 * D * (T - 1))]))
        gammas = discounts.grid(T, D, static=False, as_printed=as_printed)
        k = bounds.expert_index(problem, V, as_printed=as_printed)
        assert 1 <= k <= len(gammas)
        least = math.log(T) ** 2 / T * (1.0 if as_printed else D)
        target = math.sqrt(max(V, least) / (2 * D * T)) / 2
        gap = 1 - gammas[k - 1]
        assert gap <= target * (1 + 1e-9) <= 2 * gap * (1 + 2e-9)


def test_the_longest_path_is_served_without_the_last_expert_of_the_paper():
    # Erratum E7: rounding N up adds an expert with γ = 1.2e-4 here.
    problem = Problem(1938, 1, 2.0, 1.0, 1.0, 1.0, 1.0)
    printed = discounts.grid(1938, 2.0, static=False, as_printed=True)
    k = bounds.expert_index(problem, 4.0 * 1937, as_printed=True)
    assert k < len(printed)
    assert printed[-1] < 2e-4
    for T in (2, 3, 1938, 10**6):
        ours = discounts.grid(T, 2.0, static=False)
        assert bounds.expert_index(problem, 4.0 * (T - 1), T) <= len(ours)
        assert ours[-1] >= 0.5


@pytest.mark.parametrize("bound", [bounds.experts_newton, bounds.experts_gradient])
def test_bounds_of_experts_do_not_change_with_the_unit_of_length(bound):
    """θ in other units: D and V times r, G over r, ℓ and u over r²."""
    for V in (0.0, 1.0, 300.0):
        values = []
        for r in (1.0, 0.01, 64.0):
            problem = Problem(1000, 2, r, 0.5 / r**2, 2.0 / r**2, 0.25, 2.0 / r)
            values.append(bound(problem, V * r))
        assert values == pytest.approx([values[0]] * 3, rel=1e-9)


def test_theorem_7_by_hand():
    # T = 1000, D = 1, V = 10: ½log₂(10⁴/log²T) = 3.86, so k = 4.
    assert bounds.expert_index(SIMPLE, 10.0) == 4
    gammas = discounts.grid(1000, 1.0, static=False)
    gamma = 1 - math.log(1000) / (2000 * math.sqrt(2)) * 8
    assert gammas[3] == pytest.approx(gamma, rel=1e-12)
    mixed = 4 * math.log(20 / (1 + 1 / len(gammas)))
    expected = mixed + bounds.newton(SIMPLE, gamma, 1000, 10.0)
    at = (SIMPLE, 10.0)
    assert bounds.experts_newton(*at, ridge=1.0, static=False) == pytest.approx(
        expected
    )
    # With γ = 1 put first the same expert is number 5 of one more.
    mixed = 4 * math.log(30 / (1 + 1 / (len(gammas) + 1)))
    expected = mixed + bounds.newton(SIMPLE, gamma, 1000, 10.0)
    assert bounds.experts_newton(*at, ridge=1.0) == pytest.approx(expected)
    # By default ε is 1/(ρD)² = 16² in case 1 and 1 in case 3, as in the learner.
    mixed = bounds.experts_newton(*at)
    assert mixed == bounds.experts_newton(*at, ridge=256.0) != pytest.approx(expected)
    quadratic = bounds.experts_newton(*at, case=3)
    assert quadratic == bounds.experts_newton(*at, case=3, ridge=1.0)


def test_theorem_8_by_hand():
    gammas = discounts.grid(1000, 1.0, static=False)
    mixed = 8 * math.log(20 / (1 + 1 / len(gammas)))
    expected = mixed + bounds.strongly_convex(SIMPLE, gammas[3], 1000, 10.0)
    assert bounds.experts_gradient(SIMPLE, 10.0, static=False) == pytest.approx(
        expected
    )


def test_learner_and_bound_put_the_same_experts_in_by_default():
    constants = Constants(0.5, 2.0, 0.25, 2.0)
    for make, bound in (
        (Experts.from_newton_grid, bounds.experts_newton),
        (Experts.from_gradient_grid, bounds.experts_gradient),
    ):
        learner = make(constants, Ball(1.0), 1000)
        assert learner.experts[0].discount == 1.0
        assert learner == make(constants, Ball(1.0), 1000, static=True)
        assert bound(SIMPLE, 1.0) == bound(SIMPLE, 1.0, static=True)
        assert bound(SIMPLE, 1.0) != bound(SIMPLE, 1.0, static=False)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("bound", [bounds.experts_newton, bounds.experts_gradient])
def test_sharp_is_never_above_printed_for_experts(bound, static):
    for T in (2, 3, 50, 1000, 10**6):
        for V in (0.0, 0.01, 1.0, 2.0 * (T - 1)):
            printed = bound(SIMPLE, V, T, static=static)
            assert 0 < bound(SIMPLE, V, T, static=static, sharp=True) <= printed


def test_not_knowing_the_path_costs_little_more_than_knowing_it():
    for V in (0.0, 1.0, 100.0):
        known = bounds.newton_by_path_length(SIMPLE, V, 10**6)
        assert bounds.experts_newton(SIMPLE, V, 10**6) <= 2.5 * known


def test_half_of_the_logarithm_in_erratum_e4_is_too_little():
    gamma = discounts.from_path_length(0.0, 1000, 1.0)
    needed, ratio = -math.log(1 - gamma), 1000 / math.log(1000)
    printed = math.log(2) + math.log(2) / 2 + math.log(ratio) / 2
    assert printed == pytest.approx(3.53, abs=5e-3)
    assert needed == pytest.approx(6.02, abs=2e-2)
    assert needed <= printed + math.log(ratio) / 2 + 1e-12


def test_proposition_1_by_hand():
    assert bounds.lower_bound(100, 8.0) == pytest.approx(0.48)
    # γ₀ = ½: V = T^(5/7), and ¾(VT)^¼ is ¾V²/T at that V.
    V = 100 ** (5 / 7)
    assert bounds.lower_bound_by_exponent(100, 0.5) == pytest.approx(
        bounds.lower_bound(100, V)
    )
    assert bounds.minimax_rate(1000, 1.0) == pytest.approx(10)
    with pytest.raises(InvalidParameterError, match="'exponent'"):
        bounds.lower_bound_by_exponent(100, 1.0)
    with pytest.raises(InvalidParameterError, match="'path_length'"):
        bounds.lower_bound(100, -1.0)


def test_no_upper_bound_is_below_the_lower_one():
    # f_t = (θ-ε)² with ε = ±2σ on the ball of radius 2σ: ℓ = u = 2, G = 8σ.
    for T in (10, 1000, 10**5):
        for V in (0.1, 1.0, 0.5 * T):
            sigma = V / (2 * T)
            D, G = 2 * sigma, 8 * sigma
            problem = Problem(T, 1, D, 2.0, 2.0, 2 / G**2, G)
            for discount in (0.3, 0.9, 0.999):
                for upper in (
                    bounds.newton(problem, discount, T, V, case=2, sharp=True),
                    bounds.strongly_convex(problem, discount, T, V, sharp=True),
                ):
                    assert upper >= bounds.lower_bound(T, V)
