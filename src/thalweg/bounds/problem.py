"""The constants of a problem that bounds are computed from, and sums they share."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.types import Block


@dataclass(frozen=True)
class Problem:
    """The constants of Yuan & Lamperski (2020), section 2, for one set of data.

    ``horizon`` is T ≥ 1, ``dimension`` n ≥ 1, ``radius`` D: every point of the domain
    has norm at most D, which is not a diameter. ``strong_convexity`` is ℓ,
    ``smoothness`` u ≥ ℓ, ``exp_concavity`` α and ``gradient_bound`` G. A bound that
    needs a constant which is 0 or infinite here is infinite, or refused where it
    divides.
    """

    horizon: int
    dimension: int
    radius: float
    strong_convexity: float
    smoothness: float
    exp_concavity: float
    gradient_bound: float

    def __post_init__(self) -> None:
        for name in ("horizon", "dimension"):
            checks.require_interval(self, name, "[1, inf)")
        checks.require_interval(self, "radius", "(0, inf]")
        for name in ("strong_convexity", "smoothness"):
            checks.require_interval(self, name, "[0, inf)")
        least = f"[{float(self.strong_convexity)}, inf)"
        checks.require_interval(self, "smoothness", least)
        checks.require_interval(self, "exp_concavity", "[0, inf]")
        checks.require_interval(self, "gradient_bound", "[0, inf]")

    @classmethod
    def from_loss(
        cls, loss: Any, domain: Any, block: Block, dimension: int | None = None
    ) -> "Problem":
        """The constants of ``loss`` on ``domain`` in the rounds of ``block``.

        ``dimension`` is needed only where neither block nor domain shows it.
        """
        points = block.x if block.x is not None else block.y
        if np.ndim(points) > 1:
            dimension = np.shape(points)[-1]
        elif domain.dimension is not None:
            dimension = domain.dimension
        if dimension is None:
            raise InvalidParameterError(
                f"The dimension of {loss!r} shows in neither its block nor its domain. "
                "Give it: Problem.from_loss(loss, domain, block, dimension=...)."
            )
        constants = loss.constants(domain, block)
        radius = float(domain.in_dimension(dimension).radius)
        return cls(len(block), dimension, radius, *constants)


def resolve_horizon(problem: Problem, horizon: int | None) -> int:
    """T: the horizon asked for, or the problem's own."""
    return problem.horizon if horizon is None else horizon


def require_strong_convexity(problem: Problem) -> float:
    """ℓ, which Theorems 4 to 6 and 8 divide by."""
    if not problem.strong_convexity:
        raise InvalidParameterError(
            f"Theorems 4 to 6 and 8 need a strongly convex loss. Got {problem!r} "
            "instead."
        )
    return problem.strong_convexity


def discounted_count(discount: float, horizon: int) -> float:
    """S_T = 1 + γ + ... + γ^(T-1) = (1-γᵀ) / (1-γ), which is T at γ = 1."""
    if discount == 1:
        return float(horizon)
    # Not 1 - γᵀ, which has no digits left where γ is almost 1.
    return math.expm1(horizon * math.log(discount)) / (discount - 1)


def effective_memory(discount: float) -> float:
    """The effective memory 1 / (1-γ), the paper's T^β; infinite at γ = 1."""
    return math.inf if discount == 1 else 1 / (1 - discount)


def step_sum(discount: float, horizon: int) -> float:
    """Σ (1-γ) / (1-γᵗ) over t = 1..T: the step sizes of section 3, added up exactly."""
    t = np.arange(1, horizon + 1)
    if discount == 1:
        return float((1 / t).sum())
    return float(((1 - discount) / -np.expm1(t * math.log(discount))).sum())


def step_sum_bound(discount: float, horizon: int) -> float:
    """1 + (1-γ)(T-1) + log 1/(1-γ), which is no less than ``step_sum``.

    The paper's integral lemma, with log(1/γ) ≥ 1-γ where the paper takes
    log(1+x) ≥ x/2: always valid, and half as large (erratum E3; ours).
    """
    return 1 + (1 - discount) * (horizon - 1) + math.log(effective_memory(discount))


def zero_product(*factors: float) -> float:
    """A product that is 0 where a factor is 0, even if another is infinite.

    A comparator that does not move costs nothing, however slowly the learner tracks.
    """
    return 0.0 if 0 in factors else math.prod(factors)


def check_arguments(
    bound: str, discount: float, horizon: int, path_length: float = 0.0
) -> None:
    """Raise, in the name of ``bound``, unless γ ∈ (0, 1], T ≥ 1 and V ≥ 0."""
    checks.require_argument(bound, "discount", discount, "(0, 1]")
    checks.require_argument(bound, "horizon", horizon, "[1, inf)")
    checks.require_argument(bound, "path_length", path_length, "[0, inf)")
