"""Regret bounds of discounted least squares where every round determines θ by itself.

f_t = ½‖y_t-A_tθ‖² with ℓI ⪯ A_tᵀA_t ⪯ uI, ‖y_t‖ ≤ Y, P_0 = 0, no domain and ‖θ_1‖ ≤
√uY/ℓ: Yuan & Lamperski (2020), appendix, "Online least-squares optimization". A_t
needs at least n rows, so that ordinary regression with n > 1 is not covered. The
learner is ``GeneralLeastSquares``. The paper writes D for Y, and asks for θ_1 only
tacitly (erratum E13).
"""

import math

from thalweg import discounts
from thalweg.bounds.problem import (
    Problem,
    check_arguments,
    discounted_count,
    resolve_horizon,
    step_sum,
    step_sum_bound,
    zero_product,
)
from thalweg.errors import InvalidParameterError


def general_dynamic(
    problem: Problem,
    discount: float,
    target_bound: float,
    horizon: int | None = None,
    path_length: float = 0.0,
    *,
    start_distance: float | None = None,
    sharp: bool = False,
) -> float:
    """Regret against the minimisers of every round: Theorem 9.

    √u(δ+1)Y/(1-ρ)·(‖θ_1-θ*_1‖ + V*), where δ = u/ℓ and ρ = √δ·uγ/(uγ + ℓ(1-γ));
    infinite where ρ ≥ 1, that is from ``general_largest_discount`` on. Sharp (ours):
    γS_{T-1} for γ/(1-γ) in ρ, as the paper's own proof has it.

    ``target_bound`` is Y ≥ ‖y_t‖, ``path_length`` V*, ``start_distance`` ‖θ_1-θ*_1‖,
    by default the most, 2√uY/ℓ.
    """
    T, u = resolve_horizon(problem, horizon), problem.smoothness
    check_arguments("general_dynamic", discount, T, path_length)
    delta = _condition_number(problem)
    rho = math.sqrt(delta) * _shrinkage(delta, discount, T, sharp)
    reach = math.sqrt(u) * target_bound
    if start_distance is None:
        start_distance = 2 * reach / problem.strong_convexity
    distance = start_distance + path_length
    slowness = 1 / (1 - rho) if rho < 1 else math.inf
    return zero_product(reach * (delta + 1), slowness, distance)


def general_static(
    problem: Problem,
    discount: float,
    target_bound: float,
    horizon: int | None = None,
    *,
    sharp: bool = False,
) -> float:
    """Regret against the best fixed point: Theorem 10.

    ½δ(δ+1)²Y²[1 + (1-γ)(T-1) + log 1/(1-γ)]; the paper states the order only. Sharp
    (ours): the sum Σ (1-γ)/(1-γᵗ) itself, finite at γ = 1.
    """
    T, delta = resolve_horizon(problem, horizon), _condition_number(problem)
    check_arguments("general_static", discount, T)
    steps = step_sum(discount, T) if sharp else step_sum_bound(discount, T)
    residual = (delta + 1) * target_bound
    return delta * residual * residual / 2 * steps


def general_largest_discount(problem: Problem) -> float:
    """1 / (δ^(3/2) - δ + 1): below it ``general_dynamic`` is finite for every horizon.

    0.748 at δ = 1.5 and 0.2 at δ = 4, so that hardly any memory is left.
    """
    return discounts.largest_contracting(_condition_number(problem))


def _shrinkage(delta: float, discount: float, horizon: int, sharp: bool) -> float:
    """uγ / (uγ + ℓ(1-γ)), or its sharp form; 1 at γ = 1 as printed."""
    if not sharp:
        return delta * discount / (delta * discount + 1 - discount)
    past = delta * discount * discounted_count(discount, horizon - 1)
    return past / (past + 1)


def _condition_number(problem: Problem) -> float:
    """δ = u/ℓ."""
    if not problem.strong_convexity:
        raise InvalidParameterError(
            f"The appendix needs A_t of full column rank. Got {problem!r} instead."
        )
    return problem.smoothness / problem.strong_convexity
