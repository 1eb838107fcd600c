"""Bounds of the paper's meta-algorithm: Yuan & Lamperski (2020), Theorems 7 and 8.

Experts i = 1..N run at the discounts of ``discounts.grid(T, D)`` and start with weights
C / i(i+1), C = 1 + 1/N. For every V one of them, number k, runs at nearly the discount
that Corollary 2 asks for.
"""

import math

from thalweg import checks
from thalweg.bounds.gradient import strongly_convex
from thalweg.bounds.newton import Case, corollary_2_terms, newton, paper_ridge
from thalweg.bounds.problem import (
    Problem,
    require_strong_convexity,
    resolve_horizon,
)
from thalweg.discounts import grid


def expert_index(
    problem: Problem,
    path_length: float,
    horizon: int | None = None,
    *,
    as_printed: bool = False,
) -> int:
    """k = ⌊½log₂ max{TV/(D log²T), 1}⌋ + 1, the expert that serves path length V.

    Then 1-γ_k ≤ 1-γ* ≤ 2(1-γ_k) for the γ* of ``discounts.from_path_length``, and k is
    at most the number of experts (docs/derivations/discount-grid.md). γ = 1, where it
    is put first, is not counted. ``as_printed`` is for the paper's own grid and rule:
    TV/log²T, without the D.
    """
    T = resolve_horizon(problem, horizon)
    corollary_2_terms(problem, path_length, T, as_printed=as_printed)
    unit = 1.0 if as_printed else problem.radius
    ratio = max(path_length / unit * T / math.log(T) ** 2, 1.0)
    return math.floor(math.log2(ratio) / 2) + 1


def mixing_cost(mixing_rate: float, index: int, size: int) -> float:
    """The loss that mixing adds to that of expert i: (1/λ)log(i(i+1)/C), Lemma 3.

    ``mixing_rate`` is λ, at most the exp-concavity of the loss on the domain, where
    all experts must stay (erratum E13).
    """
    checks.require_argument("mixing_cost", "mixing_rate", mixing_rate, "(0, inf]")
    checks.require_argument("mixing_cost", "index", index, f"[1, {size}]")
    return math.log(index * (index + 1) / (1 + 1 / size)) / mixing_rate


def experts_newton(
    problem: Problem,
    path_length: float,
    horizon: int | None = None,
    *,
    case: Case = 1,
    ridge: float | None = None,
    static: bool = True,
    as_printed: bool = False,
    sharp: bool = False,
) -> float:
    """Regret with experts of ``newton``, mixed at λ = α: Theorem 7.

    (1/α)log(k(k+1)/C) + Theorem 1 at γ_k. ``ridge`` is ε, by default that of
    ``paper_ridge``, as in the learner ``Experts.from_newton_grid``. ``static`` says
    that γ = 1 was put first in the grid, as the learner does by default, which moves
    every other expert back by one. ``as_printed`` is for the paper's own grid,
    which depends on the unit of length. Sharp (ours): the least over all experts, of
    Theorem 1 in its sharp form.
    """
    epsilon = paper_ridge(problem, case) if ridge is None else ridge

    def expert(gamma: float) -> float:
        V = path_length
        return newton(problem, gamma, horizon, V, case=case, ridge=epsilon, sharp=sharp)

    grids = {"static": static, "as_printed": as_printed}
    candidates = _candidate_experts(problem, path_length, horizon, sharp, **grids)
    return min(
        mixing_cost(problem.exp_concavity, *i) + expert(g) for g, *i in candidates
    )


def experts_gradient(
    problem: Problem,
    path_length: float,
    horizon: int | None = None,
    *,
    static: bool = True,
    as_printed: bool = False,
    sharp: bool = False,
) -> float:
    """Regret with experts of ``strongly_convex``, mixed at λ = ℓ/G²: Theorem 8.

    (G²/ℓ)log(k(k+1)/C) + Theorem 6 at γ_k. The paper's proof has G²/ℓ where Theorem 6
    gives G²/2ℓ, and half of a logarithm too little (erratum E4); the order it states
    is right. ``static``, ``as_printed`` and ``sharp`` as in ``experts_newton``.
    """

    def expert(gamma: float) -> float:
        return strongly_convex(problem, gamma, horizon, path_length, sharp=sharp)

    G = problem.gradient_bound
    rate = require_strong_convexity(problem) / G / G if G else math.inf
    grids = {"static": static, "as_printed": as_printed}
    candidates = _candidate_experts(problem, path_length, horizon, sharp, **grids)
    return min(mixing_cost(rate, *i) + expert(gamma) for gamma, *i in candidates)


def _candidate_experts(
    problem: Problem,
    path_length: float,
    horizon: int | None,
    sharp: bool,
    *,
    static: bool,
    as_printed: bool,
) -> list[tuple[float, int, int]]:
    """(discount, index, number of experts) of those whose bound is computed."""
    T = resolve_horizon(problem, horizon)
    discounts = grid(T, problem.radius, static, as_printed=as_printed)
    k = expert_index(problem, path_length, T, as_printed=as_printed) + static
    indices = range(1, len(discounts) + 1) if sharp else [k]
    return [(discounts[i - 1], i, len(discounts)) for i in indices]
