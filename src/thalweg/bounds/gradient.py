"""What discounted gradient descent may lose: Yuan & Lamperski (2020), Theorems 2-6.

1/(1-γ) is the paper's T^β. S_t = 1 + γ + ... + γ^(t-1) never exceeds it, is t at γ = 1,
and takes its place in every form marked ``sharp``. Those forms are ours: never larger
than the printed ones, and finite at γ = 1, where the printed ones are not.
"""

import math

from thalweg.bounds.corollaries import tuned
from thalweg.bounds.problem import (
    Problem,
    check,
    mass,
    memory,
    product,
    rounds_of,
    step_sum,
    step_sum_bound,
)
from thalweg.errors import InvalidParameterError


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
    T, D = rounds_of(problem, horizon), problem.radius
    check("tracking_dynamic", discount, T, path_length)
    travelled = _travelled(problem, start_distance, path_length)
    slowness = D * mass(discount, T) if sharp else 2 * D * memory(discount)
    return product(slowness, travelled)


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
    T = rounds_of(problem, horizon)
    check("tracking_static", discount, T)
    steps = step_sum(discount, T) if sharp else step_sum_bound(discount, T)
    return 2 * problem.radius**2 * steps


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
    T = rounds_of(problem, horizon)
    check("smooth_dynamic", discount, T, path_length)
    ratio = problem.smoothness / _convexity(problem)
    travelled = _travelled(problem, start_distance, path_length)
    forgetting = mass(discount, T) - 1 if sharp else 2 * (memory(discount) - 1)
    return product(problem.gradient_bound, forgetting + ratio, travelled)


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
    T, ell, u = rounds_of(problem, horizon), _convexity(problem), problem.smoothness
    check("smooth_static", discount, T)
    if sharp:
        steps, forgotten = 0.0, 0.0
        for _ in range(T):
            steps += 1 / (ell * forgotten + u)
            forgotten = discount * (forgotten + 1)
    else:
        later = step_sum_bound(discount, T - 1) / (ell * discount) if T > 1 else 0.0
        steps = min(T / u, 1 / u + later)
    return 2 * (u - ell) * problem.radius**2 + problem.gradient_bound**2 / 2 * steps


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
    T, ell, V = rounds_of(problem, horizon), _convexity(problem), path_length
    check("strongly_convex", discount, T, V)
    size = mass(discount, T - 1) if sharp else memory(discount)
    steps = step_sum(discount, T) / ell
    path = product(2 * problem.radius * ell, size, V)
    return path + problem.gradient_bound**2 / 2 * steps


def strongly_convex_by_path_length(
    problem: Problem,
    path_length: float,
    horizon: int | None = None,
    *,
    as_printed: bool = False,
) -> float:
    """Theorem 6 at the γ of ``discounts.from_path_length``, simplified: Corollary 3.

    4Dℓ√(2DTV) + (G²/2ℓ)[1 + ½√(Tm/2D) + log 1/(1-γ)], the logarithm and m those of
    ``tuned`` in corollaries.py. The paper states the order only.
    """
    T, V, D = rounds_of(problem, horizon), path_length, problem.radius
    ell, G = _convexity(problem), problem.gradient_bound
    moved, log_memory = tuned(problem, V, T, as_printed=as_printed)
    steps = 1 + math.sqrt(T * moved / (2 * D)) / 2 + log_memory
    return 4 * D * ell * math.sqrt(2 * D * T * V) + G**2 / (2 * ell) * steps


def _travelled(
    problem: Problem, start_distance: float | None, path_length: float
) -> float:
    """‖θ_1-θ*_1‖ + V*."""
    most = 2 * problem.radius
    return (most if start_distance is None else start_distance) + path_length


def _convexity(problem: Problem) -> float:
    if not problem.strong_convexity:
        raise InvalidParameterError(
            f"Theorems 4 to 6 need a strongly convex loss. Got {problem!r} instead."
        )
    return problem.strong_convexity
