"""Theorem 1 and its corollaries, against numbers worked out by hand."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from thalweg import bounds, discounts, streams
from thalweg.bounds import Problem
from thalweg.domains import Ball, Everywhere
from thalweg.errors import InvalidParameterError
from thalweg.losses import (
    Constants,
    Function,
    Functions,
    LinearMap,
    SquaredError,
    Tracking,
)
from thalweg.types import Block

SIMPLE = Problem(100, 2, 1.0, 0.5, 2.0, 0.25, 2.0)
CASES = (1, 2, 3)


def problems():
    rng = np.random.default_rng(3)
    for _ in range(40):
        ell, more, alpha, G, D = np.exp(rng.uniform(-2, 2, 5))
        T, n = int(rng.integers(2, 5000)), int(rng.integers(1, 9))
        yield Problem(T, n, 0.1 + D, ell, ell + more, alpha, G)


def test_a_problem_knows_its_loss_domain_and_block():
    block = streams.stationary(50, 3).block
    problem = Problem.from_loss(SquaredError(), Ball(2.0), block)
    assert (problem.horizon, problem.dimension, problem.radius) == (50, 3, 2.0)
    farthest = (np.abs(block.y) + 2 * np.linalg.norm(block.x, axis=1)).max()
    assert problem.exp_concavity == pytest.approx(1 / farthest**2)
    points = Problem.from_loss(Tracking(), Ball(1.0), Block(None, np.zeros((7, 4))))
    assert (points.horizon, points.dimension) == (7, 4)
    maps = Block(np.ones((5, 3, 2)), np.ones((5, 3)))
    assert Problem.from_loss(LinearMap(), Ball(1.0), maps).dimension == 2
    assert math.isinf(Problem.from_loss(SquaredError(), Everywhere(), block).radius)


def test_functions_need_their_dimension():
    bowl = Function(lambda z: float(z @ z), lambda z: 2 * z)
    loss = Functions([bowl], Constants(2.0, 2.0, 1.0, 2.0))
    with pytest.raises(InvalidParameterError, match=r"dimension=\.\.\."):
        Problem.from_loss(loss, Ball(1.0), loss.block())
    assert Problem.from_loss(loss, Ball(1.0), loss.block(), dimension=6).dimension == 6


@pytest.mark.parametrize("name", ["horizon", "radius", "exp_concavity"])
def test_impossible_constants_are_refused_by_name(name):
    wrong = {**SIMPLE.__dict__, name: -1.0}
    with pytest.raises(InvalidParameterError, match=f"{name!r} parameter of Problem"):
        Problem(**wrong)


def test_the_cases_have_the_constants_of_the_theorem():
    # η ≤ ½min{1/4GD, α} = ½min{1/8, 1/4}, ℓ/u = 1/4 and 1.
    assert bounds.theorem_constants(SIMPLE, 1) == (1 / 16, 1.0, 4.0)
    assert bounds.theorem_constants(SIMPLE, 2) == (1 / 4, 4.0, 2.0)
    assert bounds.theorem_constants(SIMPLE, 3) == (1.0, 4.0, 2.0)
    assert bounds.largest_rate(SIMPLE, 1) == pytest.approx(0.125)  # ½min{0.8/2, ¼}
    assert bounds.largest_rate(SIMPLE, 1, half_squared=True) == 0.25
    assert bounds.largest_rate(SIMPLE, 3) == 1.0
    with pytest.raises(InvalidParameterError, match="cases 1, 2 and 3"):
        bounds.theorem_constants(SIMPLE, 4)
    flat = Problem(10, 2, 1.0, 0.0, 1.0, 0.0, 1.0)
    with pytest.raises(InvalidParameterError, match="α > 0"):
        bounds.newton(flat, 0.9)


def test_theorem_1_by_hand():
    # Case 3, γ = ½, T = 100, n = 2, ε = 1, V = 3: c₂n/2η = 4, c₃ = 2.
    expected = 4 * (100 * math.log(2) + math.log(5)) + 2 * (1 + 4) * 3 + 2
    assert bounds.newton(SIMPLE, 0.5, 100, 3.0, case=3) == pytest.approx(expected)
    # Case 1, γ = ¾, ε = 2, V = 0: c₂n/2η = 16, c₃ = 4, η = 1/16.
    expected = 16 * (10 * math.log(4 / 3) + math.log(1 + 4 / 0.5)) + 2 / 16 * 2
    assert bounds.newton(SIMPLE, 0.75, 10, ridge=2.0) == pytest.approx(expected)


def test_the_sharp_form_by_hand():
    # γ = ½, T = 3: S = 1.75; τ = nu = 4, so log(⅛ + 1.75·2) beside 3 log 2.
    expected = 4 * (3 * math.log(2) + math.log(1 / 8 + 3.5)) + 2 * (1 + 3.5) * 3 + 2
    result = bounds.newton(SIMPLE, 0.5, 3, 3.0, case=3, sharp=True)
    assert result == pytest.approx(expected)
    # γ = 1, T = 100, and a rank-one Hessian: τ = u = 2, log(1 + 2·100/2).
    expected = 4 * math.log(101) + 2 * (1 + 200) * 3 + 2
    result = bounds.newton(SIMPLE, 1.0, 100, 3.0, case=3, sharp=True, trace_bound=2.0)
    assert result == pytest.approx(expected)


@pytest.mark.parametrize("case", CASES)
def test_sharp_is_never_above_printed_and_finite_without_forgetting(case):
    for problem in problems():
        for discount in (0.01, 0.5, 0.9, 0.999, 1 - 1e-9, 1.0):
            for V in (0.0, 0.3, problem.horizon):
                settings = {"case": case, "ridge": 0.1}
                printed = bounds.newton(problem, discount, None, V, **settings)
                sharp = bounds.newton(
                    problem, discount, None, V, sharp=True, **settings
                )
                assert 0 < sharp <= printed * (1 + 1e-12)
                assert math.isfinite(sharp)
                assert math.isinf(printed) == (discount == 1)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sharp", [False, True])
def test_more_path_more_rounds_and_more_dimensions_cost_more(case, sharp):
    def bound(T=100, n=2, D=1.0, V=1.0):
        problem = Problem(T, n, D, 0.5, 2.0, 0.25, 2.0)
        return bounds.newton(problem, 0.9, None, V, case=case, sharp=sharp)

    for name, values in {"T": (50, 100, 900), "n": (1, 2, 9), "V": (0, 1, 9)}.items():
        result = [bound(**{name: value}) for value in values]
        assert result == sorted(result)
        assert result[0] < result[-1]


def test_rates_the_proof_does_not_cover_are_refused():
    assert bounds.newton(SIMPLE, 0.9, newton_rate=0.125) > 0
    with pytest.raises(InvalidParameterError, match="'newton_rate' parameter"):
        bounds.newton(SIMPLE, 0.9, newton_rate=0.126)
    assert bounds.newton(SIMPLE, 0.9, newton_rate=0.25, half_squared=True) > 0
    for wrong in ({"discount": 0.0}, {"horizon": 0}, {"path_length": -1.0}):
        settings = {"discount": 0.9, "horizon": 10, "path_length": 0.0, **wrong}
        with pytest.raises(InvalidParameterError, match=f"{next(iter(wrong))!r}"):
            bounds.newton(SIMPLE, **settings)


def test_the_best_ridge_is_about_the_best():
    for problem in list(problems())[:10]:
        ridge = bounds.best_ridge(problem)
        discount = 1 - 1e-9
        result = bounds.newton(problem, discount, ridge=ridge)
        for factor in (0.5, 2.0):
            worse = bounds.newton(problem, discount, ridge=factor * ridge)
            assert result <= worse * (1 + 1e-9)


def least_ridge(problem, case, V, discount):
    """The ε with the least right-hand side of Theorem 1, by search over log ε."""

    def bound(log_ridge):
        ridge = math.exp(log_ridge)
        return bounds.newton(problem, discount, None, V, case=case, ridge=ridge)

    grid = np.linspace(-30, 30, 601)
    middle = grid[np.argmin([bound(point) for point in grid])]
    around = (middle - 0.1, middle + 0.1)
    options = {"xatol": 1e-9}
    result = minimize_scalar(bound, bounds=around, method="bounded", options=options)
    return math.exp(result.x)


@pytest.mark.parametrize("case", CASES)
def test_the_best_ridge_for_a_discount_is_the_minimum_of_the_bound(case):
    for problem in list(problems())[:10]:
        for V, discount in ((0.0, 0.999), (1.0, 0.9), (30.0, 0.5)):
            least = least_ridge(problem, case, V, discount)
            ridge = bounds.best_ridge(problem, case, V, discount=discount)
            # The search compares values, which are flat to rounding near the least.
            assert ridge == pytest.approx(least, rel=1e-5)
            assert ridge <= bounds.best_ridge(problem, case, V) * (1 + 1e-12)


def test_the_best_ridge_falls_with_the_path_length():
    # n = 3, D = 1, η = 1/16, c₃ = 4: 192 at V = 0, 192/21 at V = 20; γ = 0.95.
    problem = Problem(1000, 3, 1.0, 0.0, 1.0, 0.25, 2.0)
    assert bounds.best_ridge(problem) == pytest.approx(192)
    assert bounds.best_ridge(problem, 1, 20.0) == pytest.approx(9.1, abs=0.05)
    least = least_ridge(problem, 1, 20.0, 0.95)
    assert least == pytest.approx(8.3, abs=0.05)
    exact = bounds.best_ridge(problem, 1, 20.0, discount=0.95)
    assert exact == pytest.approx(least, rel=1e-5)


def test_the_ridge_of_the_paper_by_hand():
    # ρ = ½min{1/8, 1/4} = 1/16, D = 1.
    assert bounds.paper_ridge(SIMPLE) == 256
    assert bounds.paper_ridge(SIMPLE, experts=8) == 32
    wide = Problem(100, 2, 4.0, 0.5, 2.0, 0.25, 2.0)  # ρ = 1/64, so 1/(ρD)² = 16²
    assert bounds.paper_ridge(wide) == 256
    for case in (2, 3):
        assert bounds.paper_ridge(SIMPLE, case, experts=8) == 1
    for wrong in ({"case": 4}, {"experts": 0}):
        with pytest.raises(InvalidParameterError, match=f"{next(iter(wrong))!r}"):
            bounds.paper_ridge(SIMPLE, **wrong)
    with pytest.raises(InvalidParameterError, match="'radius'"):
        bounds.paper_ridge(Problem(100, 2, math.inf, 0.5, 2.0, 0.25, 2.0))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tradeoff", [0.1, 0.5, 0.9])
def test_corollary_1_is_no_less_than_the_theorem_at_its_discount(case, tradeoff):
    for problem in problems():
        discount = discounts.from_tradeoff(tradeoff, problem.horizon)
        for V in (0.0, 1.0, problem.horizon):
            theorem = bounds.newton(problem, discount, None, V, case=case)
            closed = bounds.newton_by_tradeoff(problem, tradeoff, None, V, case=case)
            assert theorem <= closed * (1 + 1e-12)


@pytest.mark.parametrize("case", CASES)
def test_corollary_2_is_no_less_than_the_theorem_at_its_discount(case):
    for problem in problems():
        T, D = problem.horizon, problem.radius
        for V in (0.0, 0.1, D * (T - 1), 2 * D * (T - 1)):
            discount = discounts.from_path_length(V, T, D)
            theorem = bounds.newton(problem, discount, T, V, case=case)
            closed = bounds.newton_by_path_length(problem, V, case=case)
            assert theorem <= closed * (1 + 1e-12)
            moved = max(V, math.log(T) ** 2 / T)
            discount = 1 - math.sqrt(moved / (2 * D * T)) / 2
            theorem = bounds.newton(problem, discount, T, V, case=case)
            closed = bounds.newton_by_path_length(
                problem, V, case=case, as_printed=True
            )
            assert theorem <= closed * (1 + 1e-12)


def test_corollary_2_grows_as_the_root_of_rounds_times_path():
    def at(T, V):
        return bounds.newton_by_path_length(SIMPLE, V, T)

    assert at(10**8, 10**4) / at(10**6, 10**4) == pytest.approx(10, rel=0.02)
    assert at(10**8, 0.0) - at(10**4, 0.0) == pytest.approx(
        (at(10**12, 0.0) - at(10**8, 0.0)), rel=0.1
    )


def test_the_corollaries_refuse_what_they_do_not_cover():
    for T, V in ((1, 0.0), (10, 18.1), (10, -1.0)):
        with pytest.raises(InvalidParameterError, match="Corollary 2"):
            bounds.newton_by_path_length(SIMPLE, V, T)
    tiny = Problem(10, 1, 0.06, 1.0, 1.0, 1.0, 1.0)
    assert bounds.newton_by_path_length(tiny, 0.1) > 0
    with pytest.raises(InvalidParameterError, match="'radius'"):
        bounds.newton_by_path_length(tiny, 0.1, as_printed=True)
    with pytest.raises(InvalidParameterError, match="'tradeoff'"):
        bounds.newton_by_tradeoff(SIMPLE, 1.0)


def full_newton(x, y, discount, ridge):
    """Σ ∇ᵀP⁻¹∇ and log|P_T| of full Newton steps on half squared error."""
    P, theta, total = ridge * np.eye(x.shape[1]), np.zeros(x.shape[1]), 0.0
    for row, target in zip(x, y, strict=True):
        grad = row * (row @ theta - target)
        P = discount * P + np.outer(row, row)
        step = np.linalg.solve(P, grad)
        total += grad @ step
        theta = theta - step
    return total, np.linalg.slogdet(P)[1]


def test_the_line_with_erratum_e1_is_false_and_the_corrected_one_holds():
    # n = 1, γ = 0.9, residuals of 10: c₂ = 1/α = 100, and the printed line lacks it.
    x, y = np.ones((200, 1)), 10.0 * (-1) ** np.arange(200)
    total, log_determinant = full_newton(x, y, 0.9, 1.0)
    residual = np.abs(y).max() * 2
    problem = Problem(200, 1, 10.0, 1.0, 1.0, residual**-2, residual)
    arguments = (problem, 0.9, log_determinant)
    printed = bounds.printed_telescoped_sum(*arguments, case=3)
    corrected = bounds.telescoped_sum(*arguments, case=3)
    assert printed < total <= corrected
