"""Regret bounds of the discounted Newton step: Yuan & Lamperski (2020), Theorem 1, and
its Corollaries 1 and 2, at the paper's two rules for the discount.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from thalweg import checks, discounts
from thalweg.bounds.problem import (
    Problem,
    check_arguments,
    discounted_count,
    effective_memory,
    resolve_horizon,
    zero_product,
)
from thalweg.errors import InvalidParameterError

Case = Literal[1, 2, 3]
"""A case of Theorem 1: 1 exp-concave, 2 strongly convex and smooth too, 3 quadratic."""


class TheoremConstants(NamedTuple):
    """The constants of one case in the proof of Theorem 1."""

    rate: float  # the largest η
    c2: float  # ∇∇ᵀ ⪯ c₂(P_t - γP_{t-1})
    c3: float  # ‖P_t - γP_{t-1}‖ ≤ c₃


def theorem_constants(problem: Problem, case: Case) -> TheoremConstants:
    """The limit of η and the constants c₂ and c₃ of a case of Theorem 1.

    Case 1, exp-concave, P gains ∇∇ᵀ: η ≤ ½min{1/4GD, α}, c₂ = 1, c₃ = G².
    Case 2, strongly convex and smooth too, P gains ∇²f: η ≤ ℓ/u, c₂ = 1/α, c₃ = u.
    Case 3, quadratic, P gains ∇²f: η ≤ 1, c₂ = 1/α, c₃ = u.
    Refused where no η > 0 is left: in case 1 without a finite D and G, in case 2
    without strong convexity.
    """
    checks.require_argument_type("Theorem 1", "problem", problem, Problem)
    alpha, G, u = problem.exp_concavity, problem.gradient_bound, problem.smoothness
    if case not in (1, 2, 3):
        raise InvalidParameterError(
            f"Theorem 1 has cases 1, 2 and 3. Got {case!r} instead."
        )
    if not (alpha and G):
        raise InvalidParameterError(
            "Theorem 1 needs α > 0 and G > 0; on a domain without end, losses that "
            f"grow have neither. Got {problem!r} instead."
        )
    ell = problem.strong_convexity
    rate = {
        1: min(1 / G / problem.radius / 4, alpha) / 2,
        2: ell and ell / u,  # u ≥ ℓ
        3: 1.0,
    }[case]
    if not 0 < rate < math.inf:
        raise InvalidParameterError(
            "Theorem 1 divides by η, so that it needs in case 1 D < ∞ and G < ∞, in "
            f"case 2 ℓ > 0. Got case {case!r} of {problem!r} instead."
        )
    if case == 1:
        return TheoremConstants(rate, 1.0, G * G)
    return TheoremConstants(rate, 1 / alpha, u)


def largest_rate(problem: Problem, case: Case, *, half_squared: bool = False) -> float:
    """The largest η for which the proof of Theorem 1 goes through (ours).

    In case 1 that is ½min{0.8/GD, α}: the lemma the paper borrows is stated for a
    diameter, and with the radius D it holds with a larger constant (erratum E5). For
    half squared error, which is exactly quadratic, case 1 allows α.
    """
    rate = theorem_constants(problem, case).rate
    if case != 1:
        return rate
    alpha, G, D = problem.exp_concavity, problem.gradient_bound, problem.radius
    return alpha if half_squared else min(0.8 / (G * D), alpha) / 2


def newton(
    problem: Problem,
    discount: float,
    horizon: int | None = None,
    path_length: float = 0.0,
    *,
    case: Case = 1,
    ridge: float = 1.0,
    newton_rate: float | None = None,
    sharp: bool = False,
    trace_bound: float | None = None,
    half_squared: bool = False,
) -> float:
    r"""Regret of Algorithm 1 against any sequence of path length V: Theorem 1.

    .. math:: \frac{c_2 n}{2\eta}\Big[T\log\tfrac1\gamma
        + \log\big(1+\tfrac{c_3}{\epsilon(1-\gamma)}\big)\Big]
        + 2D\eta\big(\epsilon+\tfrac{c_3}{1-\gamma}\big)V + 2\eta\epsilon D^2

    ``discount`` is γ, ``path_length`` V (0: static regret), ``ridge`` ε > 0 with
    P_0 = εI. ``newton_rate`` is η, the paper's for ``case`` unless given, and then at
    most ``largest_rate``; the learner's ``newton_step`` is 1/η. Infinite at γ = 1.

    ``sharp`` (ours) is never larger and finite at γ = 1: with S_T = 1 + ... + γ^(T-1),
    1/(1-γ) becomes S_T, and log(1 + c₃/ε(1-γ)) becomes log(γᵀ + τS_T/nε), where τ =
    ``trace_bound`` bounds the trace of what P gains in a round: G² in case 1; else nu
    unless a smaller one is given, such as u for a loss of a linear prediction.

    Needs θ projected on the domain in the norm of P: without, it fails (erratum E9).
    Erratum E1 is in its proof only, see ``printed_telescoped_sum``.
    """
    T, V, D = resolve_horizon(problem, horizon), path_length, problem.radius
    check_arguments("newton", discount, T, V)
    checks.require_argument("newton", "ridge", ridge, "(0, inf)")
    eta, c2, c3 = theorem_constants(problem, case)
    if newton_rate is not None:
        limit = largest_rate(problem, case, half_squared=half_squared)
        checks.require_argument("newton", "newton_rate", newton_rate, f"(0, {limit}]")
        eta = newton_rate
    growth = _max_trace(problem, case, trace_bound) / problem.dimension if sharp else c3
    size = discounted_count(discount, T) if sharp else effective_memory(discount)
    learning = problem.dimension * _log_growth(
        discount, T, zero_product(growth, size) / ridge, sharp
    )
    path = zero_product(2 * D * eta, ridge + zero_product(c3, size), V)
    return zero_product(c2 / (2 * eta), learning) + path + 2 * eta * ridge * D * D


def _log_growth(discount: float, horizon: int, growth: float, sharp: bool) -> float:
    """T log 1/γ + log(1 + growth), or with γᵀ for the 1 in the sharp form."""
    forgetting = horizon * math.log(1 / discount)
    if not sharp:
        return forgetting + math.log1p(growth)
    # log γ⁻ᵀ(γᵀ + growth), in which neither power is formed.
    return float(np.logaddexp(0.0, forgetting + math.log(growth))) if growth else 0.0


def paper_ridge(problem: Problem, case: Case = 1, *, experts: int = 1) -> float:
    """The ε that the paper advises in practice, in the remark after Theorem 7.

    Case 1, exp-concave losses: 1/(ρ²D²N) with ρ = ½min{1/4GD, α}, N = ``experts``. The
    paper names 1/(ρ²D²), our default, and 1/(ρ²D²N) for the N experts of Theorem 7,
    γ = 1 not counted. By ``best_ridge`` the first suits comparators that hardly move
    (V = 0 at n = 4), the second those with V about (nN/4 - 1)D.

    Cases 2 and 3: 1, as in the theorem. Their P gains Hessians, not squares of
    gradients, and 1/(ρ²D²) is then far too large (docs/decisions/paper-theory.md).
    """
    checks.require_argument_type("paper_ridge", "problem", problem, Problem)
    G, alpha = problem.gradient_bound, problem.exp_concavity
    return discounts.paper_ridge(case, G, alpha, problem.radius, experts)


def best_ridge(
    problem: Problem,
    case: Case = 1,
    path_length: float = 0.0,
    *,
    discount: float | None = None,
) -> float:
    """ε = c₂n / (4η²D(D+V)), about the best in Theorem 1 for path length V (ours).

    Theorem 1 depends on ε by (c₂n/2η)log(1 + K/ε) + 2ηD(D+V)ε, where K = c₃/(1-γ). Its
    least is where ε(1 + ε/K) = q, with q the value above: q itself as long as K is
    much larger, which no ``discount`` says. With ``discount`` = γ ∈ (0, 1), the exact
    solution ε = 2q / (1 + √(1 + 4q/K)), never more than q.
    """
    checks.require_argument("best_ridge", "path_length", path_length, "[0, inf)")
    eta, c2, c3 = theorem_constants(problem, case)
    D = problem.radius
    ridge = c2 * problem.dimension / (2 * eta * D) / (2 * eta * (D + path_length))
    if discount is not None:
        checks.require_argument("best_ridge", "discount", discount, "(0, 1)")
        growth = c3 * effective_memory(discount)
        ridge = 2 * ridge / (1 + math.sqrt(1 + 4 * ridge / growth)) if growth else 0.0
    if not 0 < ridge < math.inf:
        raise InvalidParameterError(
            "A best ridge needs D, α and what P gains to be neither 0 nor infinite. "
            f"Got {problem!r} instead."
        )
    return ridge


def telescoped_sum(
    problem: Problem,
    discount: float,
    log_determinant: float,
    *,
    case: Case = 1,
    ridge: float = 1.0,
) -> float:
    """Bounds Σ ∇ᵀP_t⁻¹∇ by c₂(log|P_T| - n log ε - nT log γ): Theorem 1's proof."""
    c2 = theorem_constants(problem, case).c2
    return c2 * sum(_determinants(problem, discount, log_determinant, ridge))


def printed_telescoped_sum(
    problem: Problem,
    discount: float,
    log_determinant: float,
    *,
    case: Case = 1,
    ridge: float = 1.0,
) -> float:
    """The same line as the paper prints it, without c₂ before nT log γ: false.

    Erratum E1: the sum exceeds it where c₂ > 1, that is for the full Newton step when
    residuals pass 1. The paper's next line, and Theorem 1, have the c₂ and are right.
    """
    c2 = theorem_constants(problem, case).c2
    growth, forgetting = _determinants(problem, discount, log_determinant, ridge)
    return c2 * growth + forgetting


def _determinants(
    problem: Problem, discount: float, log_determinant: float, ridge: float
) -> tuple[float, float]:
    """log|P_T|/|P_0| and -nT log γ."""
    n, T = problem.dimension, problem.horizon
    return log_determinant - n * math.log(ridge), -n * T * math.log(discount)


def _max_trace(problem: Problem, case: Case, trace_bound: float | None) -> float:
    """τ, which bounds the trace of what P gains in one round."""
    if case == 1:
        return problem.gradient_bound * problem.gradient_bound
    limit = problem.dimension * problem.smoothness
    return limit if trace_bound is None else min(trace_bound, limit)


MIN_RADIUS = math.exp(-2) / 2
"""Minimum D for which the paper's rule of Corollary 2 keeps γ ≥ ½; the paper requires
D ≥ 1."""


def newton_by_tradeoff(
    problem: Problem,
    tradeoff: float,
    horizon: int | None = None,
    path_length: float = 0.0,
    *,
    case: Case = 1,
    ridge: float = 1.0,
) -> float:
    """Theorem 1 at γ = 1 - T^-β, simplified: Corollary 1, for β in (0, 1) and T ≥ 2.

    a₁T^(1-β) / (1-T^-β) + a₂β log T + a₃T^β V + a₄, where a₁ = a₂ = c₂n/2η,
    a₃ = 2Dη(ε+c₃) and a₄ = 2ηεD² + a₂ log(1 + c₃/ε). ``tradeoff`` is β; the discount
    is ``discounts.from_tradeoff``.
    """
    T, beta = resolve_horizon(problem, horizon), tradeoff
    checks.require_argument("newton_by_tradeoff", "horizon", T, "[2, inf)")
    checks.require_argument("newton_by_tradeoff", "tradeoff", beta, "(0, 1)")
    checks.require_argument(
        "newton_by_tradeoff", "path_length", path_length, "[0, inf)"
    )
    a1, a3, a4 = _coefficients(problem, case, ridge)
    memory = math.pow(T, beta)
    forgetting = T / memory / (1 - 1 / memory)
    learning = a1 * (forgetting + beta * math.log(T))
    return learning + zero_product(a3, memory, path_length) + a4


def newton_by_path_length(
    problem: Problem,
    path_length: float,
    horizon: int | None = None,
    *,
    case: Case = 1,
    ridge: float = 1.0,
    as_printed: bool = False,
) -> float:
    """Theorem 1 at the γ of ``discounts.from_path_length``, simplified: Corollary 2.

    a₁√(Tm/2D) + a₂ log 1/(1-γ) + 2a₃√(2DTV) + a₄ with a₁..a₄ of Corollary 1; the
    logarithm and m are those of ``corollary_2_terms``. The paper states the order only.
    """
    T, V, D = resolve_horizon(problem, horizon), path_length, problem.radius
    motion, log_memory = corollary_2_terms(problem, V, T, as_printed=as_printed)
    a1, a3, a4 = _coefficients(problem, case, ridge)
    forgetting = math.sqrt(T * motion / (2 * D))
    path = zero_product(2 * a3, math.sqrt(2 * D * T * V))
    return a1 * (forgetting + log_memory) + path + a4


def corollary_2_terms(
    problem: Problem, path_length: float, horizon: int, *, as_printed: bool = False
) -> tuple[float, float]:
    """m of γ = 1 - ½√(m/2DT), and a bound on log 1/(1-γ) that knows no V.

    m = max{V, c log²T/T} and log 2 + ½log(2D/c) + log(T/log T). The paper has c = 1,
    which depends on the unit of length; c = D does not (ours). In the paper's proof of
    Theorem 8 the last logarithm is halved, which is false (erratum E4): at T = 1000 and
    D = 1 it then says 3.53 where 6.02 is needed. T ≥ 2 and V ≤ 2D(T-1).
    """
    T, D = horizon, problem.radius
    checks.require_argument("Corollary 2", "horizon", T, "[2, inf)")
    low_end = f"[{MIN_RADIUS}" if as_printed else "(0"
    checks.require_argument("Corollary 2", "radius", D, f"{low_end}, inf)")
    longest = 2 * D * (T - 1)
    checks.require_argument(
        "Corollary 2", "path_length", path_length, f"[0, {longest}]"
    )
    unit = 1.0 if as_printed else D
    motion = max(path_length, unit * math.log(T) ** 2 / T)
    log_memory = math.log(2) + math.log(2 * D / unit) / 2 + math.log(T / math.log(T))
    return motion, log_memory


def _coefficients(
    problem: Problem, case: Case, ridge: float
) -> tuple[float, float, float]:
    """a₁ = a₂, a₃ and a₄ of Theorem 1."""
    checks.require_argument("Theorem 1", "ridge", ridge, "(0, inf)")
    eta, c2, c3 = theorem_constants(problem, case)
    D = problem.radius
    a1 = c2 * problem.dimension / (2 * eta)
    a4 = 2 * eta * ridge * D * D + a1 * math.log1p(c3 / ridge)
    return a1, 2 * D * eta * (ridge + c3), a4
