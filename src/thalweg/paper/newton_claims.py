"""Theorem 1, cases 1 and 2: Newton's steps on logistic losses."""

import math

from thalweg import bounds, discounts
from thalweg.bounds import Problem
from thalweg.bounds.newton import Case
from thalweg.learners import DiscountedNewton
from thalweg.losses import Constants, Logistic
from thalweg.paper.experiment import (
    DOMAIN,
    Experiment,
    Measurement,
    Remark,
    measure_regret,
)
from thalweg.paper.paper_streams import (
    FEW_JUMPS,
    JUMP,
    MEAN,
    labels_with_jumps,
    path_length,
)

TRADEOFF = 0.5
DOMAIN_LIMITS = Remark(
    "At small T the domain limits how far θ can stray: in case 1 in 18 % of the rounds "
    "at T = 1,000, in 2.4 % at 16,000 and in 0.02 % at 256,000.",
    "faster",
)


def newton_experiments() -> list[Experiment]:
    """Theorem 1 on labels 0 and 1; Corollary 1 is its case 3."""
    return [_logistic(1), _logistic(2)]


def _logistic(case: Case) -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        stream, loss = labels_with_jumps(horizon, FEW_JUMPS, seed), Logistic()
        gamma = discounts.from_tradeoff(TRADEOFF, horizon)
        learner = _newton(case, loss.constants(DOMAIN, stream.block), gamma)
        measured = measure_regret(learner, loss, stream.block, stream.truth)
        V = path_length(stream)
        problem = Problem.from_loss(loss, DOMAIN, stream.block)
        bound = bounds.newton(problem, gamma, path_length=V, case=case)
        return Measurement(measured, bound, horizon**0.5 * max(1.0, V))

    kind = "quasi-Newton" if case == 1 else "full Newton"
    return Experiment(
        f"Thm. 1({case})", kind, f"labels 0 and 1, {FEW_JUMPS} jumps",
        "moving", measure, _leading_constant(case), "(κ + khΔ²/κ)/4V, κ = 1/η",
        remark=DOMAIN_LIMITS, tradeoff=TRADEOFF,
    )  # fmt: skip


def _newton(case: Case, constants: Constants, gamma: float) -> DiscountedNewton:
    return DiscountedNewton.from_theorem(case, constants, DOMAIN, gamma)


def _leading_constant(case: Case) -> float:
    """What regret / V√T tends to, to second order in the jumps.

    P is about h/(1-γ), h = φ″, and the variance of a gradient is h as well: a step of
    κ(1-γ)/h leaves a cost of κ(1-γ)/4 a round, and a jump one of hΔ²/4κ(1-γ).
    """
    constants = Logistic().constants(DOMAIN, labels_with_jumps(2, 0, 0).block)
    kappa = _newton(case, constants, 0.5).newton_step
    odds = 1 / (1 + math.exp(-MEAN))
    jumps = FEW_JUMPS * odds * (1 - odds) * JUMP**2 / kappa
    return (kappa + jumps) / 4 / (JUMP * FEW_JUMPS)
