"""docs/errata.md: every erratum names what shows it; the small ones are shown here."""

import ast
import math
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from thalweg import bounds
from thalweg.bounds import Problem
from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError
from thalweg.learners import DiscountedGradient
from thalweg.losses import SquaredError, Tracking
from thalweg.regret import dynamic
from thalweg.types import Block

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/errata.md"
PARTS = ("**Where.**", "**What is wrong.**", "**What is right.**", "**Shown by**")
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def entries():
    """(number, text) of every erratum."""
    parts = re.split(r"^## E(\d+)\. ", PAGE.read_text(), flags=re.MULTILINE)
    return dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))


def test_the_page_has_every_erratum_with_all_of_its_parts():
    assert list(entries()) == list(range(1, 22))
    for number, text in entries().items():
        places = [text.find(part) for part in PARTS]
        assert -1 not in places and places == sorted(places), f"E{number}"


@pytest.mark.parametrize("number", range(1, 22))
def test_the_tests_that_an_erratum_names_exist(number):
    named = NAMED_TEST.findall(entries()[number])
    assert named
    for file, test in named:
        tree = ast.parse((ROOT / file).read_text())
        names = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        assert test in names, f"E{number} names {file}::{test}"


def test_every_erratum_that_the_code_names_is_on_the_page():
    for file in (ROOT / "src").rglob("*.py"):
        for number in re.findall(r"(?:[Ee]rratum |\()E(\d+)\b", file.read_text()):
            assert int(number) in entries(), f"{file.name} names E{number}"


@pytest.mark.parametrize(("horizon", "excess"), [(400, 15.3), (2000, 45.8)])
def test_e1_the_printed_line_is_exceeded_by_more_the_longer_it_runs(horizon, excess):
    """n = 1, x = 1, γ = 0.9, and labels that keep every residual at 10."""
    P, total, theta = 1.0, 0.0, 0.0
    for t in range(horizon):
        label = theta + 10 * (-1) ** t
        P = 0.9 * P + 1
        total += 100 / P
        theta += (label - theta) / P
    problem = Problem(horizon, 1, 10.0, 1.0, 1.0, 0.01, 10.0)
    at = (problem, 0.9, math.log(P))
    printed = bounds.printed_telescoped_sum(*at, case=3)
    assert total / printed == pytest.approx(excess, abs=0.05)
    assert 0.9 < total / bounds.telescoped_sum(*at, case=3) <= 1


def test_e2_the_last_step_of_theorem_4_loses_a_factor_of_two():
    # T^β = 2, so γ = ½; ℓ = 1 and u = 10.
    shrinkage = 1 - 0.5 / (10 * 0.5 + 0.5)
    slowness = 1 / (1 - math.sqrt(shrinkage))
    assert slowness == pytest.approx(21.5, abs=0.05)
    assert 2 * (2 - 1) + 10 < slowness <= 2 * (2 - 1) + 2 * 10
    # Without the root it is what the sharp form has.
    assert 1 / (1 - shrinkage) == pytest.approx((2 - 1) + 10)
    problem = Problem(10**6, 1, 1.0, 1.0, 10.0, 1.0, 1.0)
    sharp = bounds.smooth_dynamic(problem, 0.5, start_distance=1.0, sharp=True)
    assert sharp == pytest.approx(11)


def test_e3_half_of_x_is_too_much_for_short_horizons():
    def holds(power):  # T^β
        x = 1 / (power - 1)
        return math.log1p(x) >= x / 2

    assert holds(1.399) and not holds(1.397)
    for gamma in np.linspace(0.01, 0.99, 99):
        assert math.log(1 / gamma) >= 1 - gamma


def test_e5_the_inequality_behind_the_rate_holds_down_to_minus_1_62():
    z = np.linspace(-1.6237, 0.999, 10**5)
    assert (-np.log1p(-z) >= z + z**2 / 4 - 1e-15).all()
    assert -math.log1p(1.624) < -1.624 + 1.624**2 / 4
    # z = 2η∇ᵀ(x-y) is at most 4ηGD in size, so η = 0.4/GD keeps it above -1.6.
    assert 4 * 0.4 < 1.6237 < 4 * 0.425


@pytest.mark.parametrize("gamma", [0.01, 0.5, 0.99, 0.9999])
def test_e6_the_terms_of_the_sum_are_not_positive_from_the_second_round_on(gamma):
    with np.errstate(divide="ignore"):
        inverse_step = (1 - gamma ** np.arange(50)) / (1 - gamma)  # 1/η_t, ℓ = 1
        assert np.isinf(1 / inverse_step[0])
    assert inverse_step[1] == 1
    assert (np.diff(inverse_step)[1:] - 1 <= 1e-12).all()


def test_e8_theorem_1_is_infinite_without_a_ridge_and_has_a_replacement():
    problem = Problem(100, 3, 1.0, 1.0, 4.0, 0.25, 2.0)
    ridges = (1e-13, 1e-40, 1e-300)
    bound = [bounds.newton(problem, 0.9, case=3, ridge=ridge) for ridge in ridges]
    assert np.diff(bound) == pytest.approx(6 * math.log(10) * np.array([27, 260]))
    with pytest.raises(InvalidParameterError, match="'ridge'"):
        bounds.newton(problem, 0.9, case=3, ridge=0.0)
    rng, n, T = np.random.default_rng(0), 3, 200
    for gamma in (0.5, 0.9, 1.0):
        # Hessians between I and 4I, gradients Hr with rᵀHr ≤ 1: ∇∇ᵀ ⪯ H, so c₂ = 1.
        P, total = np.zeros((n, n)), 0.0
        for _ in range(T):
            basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
            H = basis * np.linspace(1, 4, n) @ basis.T
            r = rng.standard_normal(n)
            grad = H @ r / math.sqrt(r @ H @ r)
            P = gamma * P + H
            total += grad @ np.linalg.solve(P, grad)
        size = T if gamma == 1 else (1 - gamma**T) / (1 - gamma)
        limit = n + n * math.log(4 * size) - n * (T - 1) * math.log(gamma)
        assert 0 < total <= limit


def test_e11_from_path_length_one_on_the_improvement_is_at_most_the_root_of_two():
    for T in (10, 10**3, 10**6):
        for V in (1.0, 3.0, float(T)):
            assert math.sqrt(T * (1 + V)) <= math.sqrt(2) * math.sqrt(T * V)
    assert math.sqrt(1e6 * (1 + 1e-8)) > 70 * math.log(1e6)  # V = o(1)


def test_e13_exp_concavity_on_the_domain_fails_outside_it():
    """∇²f ⪰ α∇f∇fᵀ for f = ½(xθ - y)², x = y = 1: 1 ≥ α(θ - 1)²."""
    block = Block(np.ones((1, 1)), np.ones(1))
    alpha = SquaredError().constants(Ball(1.0), block).exp_concavity
    assert alpha == 0.25
    for theta, holds in ((-1.0, True), (1.0, True), (-1.1, False), (3.1, False)):
        slope = SquaredError().grad(np.array([theta]), block.x[0], 1.0)[0]
        assert (alpha * slope**2 <= 1) == holds


def test_e15_corollary_1_is_more_than_linear_for_a_path_of_t_over_log_t():
    problem = Problem(10, 2, 1.0, 0.0, 1.0, 0.25, 2.0)
    horizons = [10**k for k in (12, 18, 24, 30)]
    for beta in (0.1, 0.5, 0.9):
        for slow in (False, True):
            a_round = []
            for T in horizons:
                V = T ** (0.9 * (1 - beta)) if slow else T / math.log(T)
                a_round.append(bounds.newton_by_tradeoff(problem, beta, T, V) / T)
            falls = sorted(a_round, reverse=True) == a_round
            assert falls if slow else a_round[-1] > a_round[-2]


def test_e16_minimisers_that_stand_still_cost_the_first_point():
    block = Block(None, np.full((50, 1), 0.7))
    learner = DiscountedGradient(0.9, "tracking", domain=Ball(1.0))
    trace = learner.run(learner.init(np.zeros(1)), Tracking(), block)[1]
    result = dynamic(trace, block, Tracking(), block.y)
    assert result.path_length == 0
    assert result.total == pytest.approx(0.7**2 / 2)
    problem = Problem.from_loss(Tracking(), Ball(1.0), block)
    bound = bounds.tracking_dynamic(problem, 0.9, start_distance=0.7)
    assert result.total <= bound == pytest.approx(2 * 0.7 / 0.1)


def test_e17_the_lower_bound_meets_the_upper_one_at_the_longest_paths_only():
    def ratio(T, V):
        return math.sqrt(T * V) / bounds.lower_bound(T, V)

    short = [ratio(T, math.sqrt(T)) for T in (10**4, 10**8)]
    assert short[1] / short[0] == pytest.approx(1e4 ** (3 / 4))
    long = [ratio(T, T / 2) for T in (10**4, 10**8)]
    assert long[0] == pytest.approx(long[1])
    minimax = [math.sqrt(T * T**0.5) / bounds.minimax_rate(T, T**0.5) for T in (64, 1)]
    assert minimax[0] / minimax[1] == pytest.approx(64 ** (1 / 12))


def test_e18_the_strongly_convex_rule_has_no_ridge():
    assert "ridge" not in {field.name for field in fields(DiscountedGradient)}


def test_e19_corollary_1_has_no_limit_where_theorem_3_is_finite():
    problem = Problem(1000, 2, 1.0, 1.0, 1.0, 0.25, 2.0)
    direct = bounds.tracking_static(problem, 1 - 1000**-0.5)
    by_corollary = [
        bounds.newton_by_tradeoff(problem, 0.5, case=3, ridge=ridge)
        for ridge in (1e-3, 1e-100, 1e-300)
    ]
    assert by_corollary == sorted(by_corollary)
    assert direct < by_corollary[0] < by_corollary[-1] / 5


def test_e21_the_contraction_holds_without_an_inverse_of_p_0():
    rng, n, gamma = np.random.default_rng(1), 3, 0.6
    P, phi, theta = np.zeros((n, n)), np.zeros(n), rng.standard_normal(n)
    for t in range(20):
        A, y = rng.standard_normal((5, n)), rng.standard_normal(5)
        best = np.linalg.lstsq(A, y)[0]
        before = gamma * P @ (theta - best)
        P, phi = gamma * P + A.T @ A, gamma * phi + A.T @ y
        theta = np.linalg.solve(P, phi)
        np.testing.assert_allclose(P @ (theta - best), before, atol=1e-9)
        if t == 0:
            np.testing.assert_allclose(theta, best, atol=1e-10)
