"""Regret bounds of discounted gradient descent: Yuan & Lamperski (2020), Theorems 2-6.

1/(1-γ) is the paper's T^β. S_t = 1 + γ + ... + γ^(t-1) never exceeds it, is t at γ = 1,
and takes its place in every form marked ``sharp``. Those forms are ours: never larger
than the printed ones, and finite at γ = 1, where the printed ones are not.
"""

import math

from thalweg.bounds.newton import corollary_2_terms
from thalweg.bounds.problem import (
    Problem,
    check_arguments,
    discounted_count,
    effective_memory,
    require_strong_convexity,
    resolve_horizon,
    step_sum,
    step_sum_bound,
    zero_product,
)


def tracking_dynamic(
    problem: Problem,
    discount: float,
    horizon: int | None = None,
    path_length: float = 0.0,
    *,
    start_distance: float | None = None,
    sharp: bool = False,
) -> float:
    """Regret of the rule ``"tracking"`` against the minimisers y_t: Theorem 2.

    2D/(1-γ)·(‖θ_1-y_1‖ + V*), for f_t = ½‖θ-y_t‖² with all y_t and θ_1 in the domain.
    Sharp: DS_T(‖θ_1-y_1‖ + V*), as ½‖θ-y‖² ≤ D‖θ-y‖ and η_t ≥ 1/S_T.

    ``path_length`` is V*, ``start_distance`` ‖θ_1-y_1‖, by default the most, 2D.
    """
    T, D = resolve_horizon(problem, horizon), problem.radius
    check_arguments("tracking_dynamic", discount, T, path_length)
    distance = _distance(problem, start_distance, path_length)
    slowness = (
        D * discounted_count(discount, T)
        if sharp
        else 2 * D * effective_memory(discount)
    )
    return zero_product(slowness, distance)


def tracking_static(
    problem: Problem,
    discount: float,
    horizon: int | None = None,
    *,
    sharp: bool = False,
) -> float:
    """Regret of the rule ``"tracking"`` against the best fixed point: Theorem 3.

    2D²[1 + (1-γ)(T-1) + log 1/(1-γ)]; the paper states the order only, and E3 mends a
    step of its proof. Sharp: 2D²Σ η_t with the sum itself.
    """
    T = resolve_horizon(problem, horizon)
    check_arguments("tracking_static", discount, T)
    steps = step_sum(discount, T) if sharp else step_sum_bound(discount, T)
    return 2 * problem.radius * problem.radius * steps


def smooth_dynamic(
    problem: Problem,
    discount: float,
    horizon: int | None = None,
    path_length: float = 0.0,
    *,
    start_distance: float | None = None,
    sharp: bool = False,
) -> float:
    """Regret of the rule ``"smooth"`` against the minimisers on the domain: Theorem 4.

    G(2(1/(1-γ) - 1) + u/ℓ)(‖θ_1-θ*_1‖ + V*). The last step of the paper's proof loses
    a 2 before u/ℓ (erratum E2). The statement is right nevertheless: one step takes
    θ to θ* by a factor 1-η_tℓ, not its root, which gives the sharp form
    G(S_T - 1 + u/ℓ)(‖θ_1-θ*_1‖ + V*).

    ``path_length`` is V*, ``start_distance`` ‖θ_1-θ*_1‖, by default the most, 2D.
    """
    T = resolve_horizon(problem, horizon)
    check_arguments("smooth_dynamic", discount, T, path_length)
    ratio = problem.smoothness / require_strong_convexity(problem)
    distance = _distance(problem, start_distance, path_length)
    forgetting = (
        discounted_count(discount, T) - 1
        if sharp
        else 2 * (effective_memory(discount) - 1)
    )
    return zero_product(problem.gradient_bound, forgetting + ratio, distance)


def smooth_static(
    problem: Problem,
    discount: float,
    horizon: int | None = None,
    *,
    sharp: bool = False,
) -> float:
    """Regret of the rule ``"smooth"`` against the best fixed point: Theorem 5.

    2(u-ℓ)D² + (G²/2)min{T/u, 1/u + [1 + (1-γ)(T-2) + log 1/(1-γ)] / ℓγ}; the paper
    states the order only. Sharp: the steps η_t = 1/(ℓγS_{t-1} + u) summed themselves.
    """
    T, ell, u = (
        resolve_horizon(problem, horizon),
        require_strong_convexity(problem),
        problem.smoothness,
    )
    check_arguments("smooth_static", discount, T)
    if sharp:
        steps, past = 0.0, 0.0
        for _ in range(T):
            steps += 1 / (ell * past + u)
            past = discount * (past + 1)
    else:
        later = step_sum_bound(discount, T - 1) / (ell * discount) if T > 1 else 0.0
        steps = min(T / u, 1 / u + later)
    D, G = problem.radius, problem.gradient_bound
    return zero_product(2 * (u - ell), D, D) + G * G / 2 * steps


def strongly_convex(
    problem: Problem,
    discount: float,
    horizon: int | None = None,
    path_length: float = 0.0,
    *,
    sharp: bool = False,
) -> float:
    """Regret of the rule ``"strongly_convex"`` against any sequence: Theorem 6.

    (2Dℓ/(1-γ))V + (G²/2)Σ η_t, η_t = 1/ℓS_t; V = 0 is the static regret. In the
    paper's proof a sum must start at t = 2 (erratum E6). Sharp: S_{T-1} for 1/(1-γ),
    as no step but the first T-1 meets a move of the comparator.
    """
    T, ell, V = (
        resolve_horizon(problem, horizon),
        require_strong_convexity(problem),
        path_length,
    )
    check_arguments("strongly_convex", discount, T, V)
    size = discounted_count(discount, T - 1) if sharp else effective_memory(discount)
    steps = step_sum(discount, T) / ell
    path = zero_product(2 * problem.radius * ell, size, V)
    return path + problem.gradient_bound * problem.gradient_bound / 2 * steps


def strongly_convex_by_path_length(
    problem: Problem,
    path_length: float,
    horizon: int | None = None,
    *,
    as_printed: bool = False,
) -> float:
    """Theorem 6 at the γ of ``discounts.from_path_length``, simplified: Corollary 3.

    4Dℓ√(2DTV) + (G²/2ℓ)[1 + ½√(Tm/2D) + log 1/(1-γ)], the logarithm and m those of
    ``corollary_2_terms`` in newton.py. The paper states the order only.
    """
    T, V, D = resolve_horizon(problem, horizon), path_length, problem.radius
    ell, G = require_strong_convexity(problem), problem.gradient_bound
    motion, log_memory = corollary_2_terms(problem, V, T, as_printed=as_printed)
    steps = 1 + math.sqrt(T * motion / (2 * D)) / 2 + log_memory
    path = zero_product(4 * D * ell, math.sqrt(2 * D * T * V))
    return path + G * G / (2 * ell) * steps


def _distance(
    problem: Problem, start_distance: float | None, path_length: float
) -> float:
    """‖θ_1-θ*_1‖ + V*."""
    start = 2 * problem.radius if start_distance is None else start_distance
    return start + path_length
