"""Theorems 1 and 7, run: measured regret stays under the bound, and tells if it is cut.

Six kinds of streams, three dimensions, four discounts, four comparators, in Ball(1).
"""

from functools import lru_cache

import numpy as np
import pytest

from thalweg import bounds, streams
from thalweg.bounds import Problem
from thalweg.domains import Ball, Everywhere
from thalweg.learners import DiscountedNewton, Experts
from thalweg.losses import Constants, Round, SquaredError
from thalweg.regret import dynamic, minimisers, static
from thalweg.types import Block, Trace

KINDS = ("stationary", "abrupt", "random_walk", "rotating", "mixed", "adversarial")
T, DOMAIN, LOSS = 400, Ball(1.0), SquaredError()
# ‖x‖, ‖θ‖, |y| ≤ 1, so that residuals are at most 2 whatever a stream does.
CONSTANTS = Constants(0.0, 1.0, 0.25, 2.0)


def problem(n):
    return Problem(T, n, DOMAIN.radius, *CONSTANTS)


def duel(learner, adversary):
    """The trace of a learner and the block of labels it was given."""
    state, y, losses = learner.init(np.zeros(adversary.x.shape[1])), [], []
    for x in adversary.x:
        y.append(adversary.answer(learner.predict(state, x)))
        f = Round(LOSS, x, y[-1])
        losses.append(f.value(learner.play(state, x)))
        state = learner.update(state, f)
    return Trace(np.zeros(len(y)), np.array(losses)), Block(adversary.x, np.array(y))


def run(learner, kind, n):
    """Trace, block and the truth behind it, where there is one."""
    if kind == "adversarial":
        return *duel(learner, streams.adversarial(T, n, seed=7)), None
    stream = getattr(streams, kind)(T, n, seed=3)
    trace = learner.run(learner.init(np.zeros(n)), LOSS, stream.block)[1]
    return trace, stream.block, stream.truth


def regrets(trace, block, truth):
    """(regret, path length) against four comparators of the domain."""
    n, width = block.x.shape[1], 40
    pieces = [block[a : a + width] for a in range(0, T, width)]
    best = [
        static(Trace(p.y, np.zeros(width)), p, LOSS, DOMAIN).comparator for p in pieces
    ]
    fixed = static(trace, block, LOSS, DOMAIN)
    yield fixed.total, 0.0
    paths = [minimisers(block, LOSS, DOMAIN).points, np.repeat(best, width, axis=0)]
    for path in paths if truth is None else [*paths, truth]:
        result = dynamic(trace, block, LOSS, path.reshape(T, n))
        yield result.total, result.path_length


@lru_cache
def ratios(case, ridge):
    """regret / bound over the whole sweep: printed, and sharp with γ = 1 too."""
    printed, sharp = [], []
    for kind in KINDS:
        for n in (1, 2, 4):
            if kind == "rotating" and n == 1:
                continue
            for gamma in (0.5, 0.9, 0.99, 1.0):
                learner = DiscountedNewton.from_theorem(
                    case, CONSTANTS, DOMAIN, gamma, ridge
                )
                for regret, V in regrets(*run(learner, kind, n)):
                    at = (problem(n), gamma, T, V)
                    terms = {"case": case, "ridge": ridge}
                    printed.append(regret / bounds.newton(*at, **terms))
                    tight = bounds.newton(*at, sharp=True, trace_bound=1.0, **terms)
                    sharp.append(regret / tight)
    return max(printed), max(sharp)


@pytest.mark.parametrize("case", [1, 3])
@pytest.mark.parametrize("ridge", [1.0, 0.01])
def test_theorem_1_holds_as_printed_and_sharp(case, ridge):
    printed, sharp = ratios(case, ridge)
    assert 0 < printed <= sharp <= 1


@pytest.mark.parametrize(("case", "cut"), [(1, 1.5), (3, 4.0)])
def test_theorem_1_divided_by_a_small_number_would_fail(case, cut):
    for ridge in (1.0, 0.01):
        assert min(ratios(case, ridge)) > 1 / cut


def test_the_larger_rates_of_erratum_e5_hold_too():
    """η up to ½min{0.8/GD, α}, and η = α = 1/E² for half squared error."""
    for kind in KINDS:
        n = 2
        for squared in (False, True):
            eta = bounds.largest_rate(problem(n), 1, half_squared=squared)
            for gamma in (0.5, 0.9, 0.99):
                learner = DiscountedNewton(gamma, 1 / eta, 1.0, "gradient", DOMAIN)
                for regret, V in regrets(*run(learner, kind, n)):
                    settings = {"newton_rate": eta, "half_squared": squared}
                    at = (problem(n), gamma, T, V)
                    assert regret <= bounds.newton(*at, sharp=True, **settings)


def test_a_learner_that_is_not_projected_breaks_the_bound():
    """Erratum E9: features all but collinear, a short memory, and no domain."""
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(T), 1e-3 * rng.standard_normal(T)]) / 1.001
    x[40::40] = [0, 1]
    block = Block(x, np.clip(rng.standard_normal(T), -1, 1))
    totals = {}
    for domain in (DOMAIN, Everywhere()):
        learner = DiscountedNewton(0.8, 1.0, 0.01, "hessian", domain)
        trace = learner.run(learner.init(np.zeros(2)), LOSS, block)[1]
        totals[domain] = static(trace, block, LOSS, DOMAIN).total
    bound = bounds.newton(problem(2), 0.8, T, case=3, ridge=0.01)
    assert totals[DOMAIN] <= bound < totals[Everywhere()]


def test_a_learner_that_steps_uphill_breaks_the_bound():
    class Uphill(DiscountedNewton):
        def update(self, state, f):
            wrong = Round(f.loss, f.x, 2 * f.x @ state.theta - f.y)
            return super().update(state, wrong)

    learner = Uphill(0.99, 1.0, 1.0, "hessian", DOMAIN)
    state, losses = learner.init(np.zeros(2)), []
    block = streams.stationary(3000, 2, seed=1).block
    for x, y in zip(block.x, block.y, strict=True):
        f = Round(LOSS, x, y)
        losses.append(f.value(state.theta))
        state = learner.update(state, f)
    trace = Trace(np.zeros(3000), np.array(losses))
    regret = static(trace, block, LOSS, DOMAIN).total
    assert regret > bounds.newton(problem(2), 0.99, 3000, case=3)


@pytest.mark.parametrize("kind", KINDS)
def test_theorem_7_holds_without_knowing_the_path(kind):
    for case in (1, 3):
        for static_too in (False, True):
            learner = Experts.from_newton_grid(
                CONSTANTS, DOMAIN, T, case=case, static=static_too
            )
            for regret, V in regrets(*run(learner, kind, 2)):
                settings = {"case": case, "static": static_too}
                printed = bounds.experts_newton(problem(2), V, T, **settings)
                sharp = bounds.experts_newton(problem(2), V, T, sharp=True, **settings)
                assert regret <= sharp <= printed
