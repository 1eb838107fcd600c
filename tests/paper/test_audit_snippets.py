"""Findings of an audit against the paper, each as the snippet that showed it."""

import pytest

import thalweg as tw

PROBLEM = tw.bounds.Problem(1000, 3, 1.0, 0.0, 1.0, 0.25, 2.0)


def test_case_2_without_strong_convexity_is_a_refusal():
    flat = tw.bounds.Problem(100, 3, 1.0, 0.0, 1.0, 0.25, 2.0)
    for call in (
        lambda: tw.bounds.newton(flat, 0.9, case=2),
        lambda: tw.bounds.newton_by_tradeoff(flat, 0.5, case=2),
        lambda: tw.bounds.best_ridge(flat, 2),
        lambda: tw.bounds.experts_newton(flat, 1.0, case=2),
    ):
        with pytest.raises(tw.errors.InvalidParameterError, match="case 2 ℓ > 0"):
            call()


def test_the_default_bound_is_that_of_the_default_learner():
    default = tw.bounds.experts_newton(PROBLEM, 1.0, case=3)
    assert default == tw.bounds.experts_newton(PROBLEM, 1.0, case=3, static=True)
    assert default == pytest.approx(307.0, abs=0.05)
    paper = tw.bounds.experts_newton(PROBLEM, 1.0, case=3, static=False)
    assert paper == pytest.approx(304.9, abs=0.05)


def test_the_grid_begins_where_the_rule_of_corollary_2_does():
    grid = tw.discounts.grid(1000, 0.1, False)
    rule = tw.discounts.from_path_length(0.0, 1000, 0.1)
    assert 1 - grid[0] == pytest.approx(1 - rule, rel=1e-12)
    assert 1 - rule == pytest.approx(0.0024, abs=5e-5)
