"""Theorem 1 at the paper's two rules for the discount: its Corollaries 1 and 2."""

import math

from thalweg import checks
from thalweg.bounds.newton import Case, theorem_constants
from thalweg.bounds.problem import Problem, resolve_horizon, zero_product

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
