"""Constants that are 0 or infinite: every bound is a number, infinity or a refusal."""

import itertools
import math

import pytest

from thalweg import bounds
from thalweg.bounds import Problem
from thalweg.errors import InvalidParameterError

FLAT = Problem(100, 3, 1.0, 0.0, 1.0, 0.25, 2.0)
UNBOUNDED = Problem(100, 3, math.inf, 0.5, 1.0, 0.25, 2.0)
BOUNDS = {
    "newton": lambda p, case, V: bounds.newton(p, 0.9, None, V, case=case),
    "newton without forgetting": lambda p, case, V: bounds.newton(
        p, 1.0, None, V, case=case
    ),
    "newton, sharp": lambda p, case, V: bounds.newton(
        p, 0.9, None, V, case=case, sharp=True
    ),
    "newton_by_tradeoff": lambda p, case, V: bounds.newton_by_tradeoff(
        p, 0.5, None, V, case=case
    ),
    "newton_by_path_length": lambda p, case, V: bounds.newton_by_path_length(
        p, V, case=case
    ),
    "best_ridge": lambda p, case, V: bounds.best_ridge(p, case),
    "largest_rate": lambda p, case, V: bounds.largest_rate(p, case),
    "experts_newton": lambda p, case, V: bounds.experts_newton(p, V, case=case),
    "experts_newton, sharp": lambda p, case, V: bounds.experts_newton(
        p, V, case=case, sharp=True
    ),
    "experts_gradient": lambda p, case, V: bounds.experts_gradient(p, V),
    "strongly_convex": lambda p, case, V: bounds.strongly_convex(p, 0.9, None, V),
    "strongly_convex_by_path_length": lambda p, case, V: (
        bounds.strongly_convex_by_path_length(p, V)
    ),
    "smooth_dynamic": lambda p, case, V: bounds.smooth_dynamic(p, 0.9, None, V),
    "smooth_static": lambda p, case, V: bounds.smooth_static(p, 0.9),
    "tracking_dynamic": lambda p, case, V: bounds.tracking_dynamic(p, 0.9, None, V),
    "tracking_static": lambda p, case, V: bounds.tracking_static(p, 0.9),
    "general_dynamic": lambda p, case, V: bounds.general_dynamic(p, 0.9, 1.0, None, V),
    "general_static": lambda p, case, V: bounds.general_static(p, 0.9, 1.0),
}


def degenerate_problems():
    radii, sizes = (1.0, 1e200, math.inf), (0.0, 0.5, 2.0, 1e200)
    alphas, gradients = (0.0, 0.25, math.inf), (0.0, 2.0, 1e200, math.inf)
    for D, ell, u, alpha, G in itertools.product(
        radii, sizes, sizes, alphas, gradients
    ):
        try:
            yield Problem(100, 3, D, ell, u, alpha, G)
        except InvalidParameterError:
            assert ell > u  # the only refusal of these


@pytest.mark.parametrize("name", BOUNDS)
def test_degenerate_constants_give_a_number_infinity_or_a_refusal(name):
    results = []
    for problem in degenerate_problems():
        for case, V in itertools.product((1, 2, 3), (0.0, 1.5)):
            try:
                results.append(BOUNDS[name](problem, case, V))
            except InvalidParameterError as refusal:
                assert "Got" in str(refusal)
    assert results and all(result >= 0 for result in results)  # NaN is not
    assert any(map(math.isfinite, results))


@pytest.mark.parametrize("name", ["newton", "newton_by_tradeoff", "experts_newton"])
def test_case_2_refuses_a_loss_that_is_not_strongly_convex(name):
    with pytest.raises(InvalidParameterError, match="case 2 ℓ > 0"):
        BOUNDS[name](FLAT, 2, 0.0)
    with pytest.raises(InvalidParameterError, match="case 2 ℓ > 0"):
        bounds.best_ridge(FLAT, 2)


@pytest.mark.parametrize("name", ["newton", "newton_by_tradeoff", "best_ridge"])
def test_case_1_refuses_a_domain_without_a_radius(name):
    with pytest.raises(InvalidParameterError, match="case 1 D < ∞"):
        BOUNDS[name](UNBOUNDED, 1, 0.0)


@pytest.mark.parametrize("case", [2, 3])
@pytest.mark.parametrize("name", ["newton", "newton_by_tradeoff"])
def test_without_a_radius_the_other_cases_are_infinite(name, case):
    for V in (0.0, 1.0):
        assert BOUNDS[name](UNBOUNDED, case, V) == math.inf


def test_a_smoothness_below_the_strong_convexity_is_refused():
    with pytest.raises(InvalidParameterError, match=r"'smoothness'.*\[2\.0, inf\)"):
        Problem(10, 2, 1.0, 2.0, 1.0, 1.0, 1.0)
