"""The health of a model: which features excite it, how well P is conditioned, refusals.

Also known as: persistence of excitation, covariance windup (kernels/windup.py).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.kernels import ud_factor
from thalweg.kernels.windup import covariance_cap
from thalweg.learners import Learner
from thalweg.learners.finiteness import non_finite_names
from thalweg.models.live_state import ModelSnapshot
from thalweg.preprocessing.imputer import ImputerState
from thalweg.types import FloatArray

CAPPED_PART = 1 / 8
"""A direction counts as capped once its covariance is above this part of the cap."""


@dataclass(frozen=True, eq=False)
class Health:
    """What ``Online.health()`` reports; None where the learner has no matrix."""

    rounds: int  # learnt, or skipped by policy
    refusals: int  # calls that were refused
    skipped: int  # rounds not learnt from, under missing="skip" or "impute"
    imputed: int  # missing features that were set to their means
    unexcited_rounds: FloatArray | None  # (n,) since each feature was last not zero
    condition: float | None  # of P, features measured in their own sizes
    excitation: FloatArray | None  # (n,) information, in rounds of the feature's size
    capped: FloatArray | None  # (n,) whether the covariance cap limits forgetting of it
    non_finite: tuple[str, ...] = ()  # fields of the state with NaN, or infinite

    def __str__(self) -> str:
        lines = [f"{self.rounds:,} rounds, {self.refusals:,} calls refused"]
        if self.non_finite:
            lines.append(f"not finite: {', '.join(self.non_finite)}; train it again")
        if self.skipped or self.imputed:
            lines.append(
                f"{self.skipped:,} skipped, {self.imputed:,} features filled in"
            )
        if self.condition is not None and self.excitation is not None:
            lines.append(f"condition {self.condition:.1e}")
            weakest = int(self.excitation.argmin())
            worth = f"{self.excitation[weakest]:.2g} rounds' worth"
            lines.append(f"least is known of feature {weakest}: {worth}")
        if self.unexcited_rounds is not None and self.unexcited_rounds.any():
            longest = int(self.unexcited_rounds.argmax())
            count = f"{self.unexcited_rounds[longest]:,.0f} rounds"
            lines.append(f"feature {longest} has been zero for {count}")
        if self.capped is not None and self.capped.any():
            names = ", ".join(map(str, np.flatnonzero(self.capped)))
            lines.append(f"held by the covariance cap: {names}")
        return "\n".join(lines)


def measure_health(
    learner: Learner[Any], snapshot: ModelSnapshot, refusals: int
) -> Health:
    """The health of a model as it was when the snapshot was taken."""
    state, rounds, unexcited_rounds, imputer = snapshot[:4]
    missing = ImputerState.initial() if imputer is None else imputer
    return Health(
        rounds,
        refusals,
        missing.skipped,
        missing.imputed,
        None if state is None else unexcited_rounds,
        *_measure_matrix(state),
        () if state is None else tuple(non_finite_names(learner, state)),
    )


def _measure_matrix(state: Any) -> tuple[Any, Any, Any]:
    """Condition, excitation and capped of a state with a factor; else None thrice."""
    factor = getattr(state, "factor", None)
    if factor is None:
        return None, None, None
    # What is infinite or not a number is what this is to find.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        covariance = ud_factor.covariance(np.asarray(factor, np.float64))
        scale = np.asarray(factor[ud_factor.INPUT_SCALE], np.float64)
        variance = np.diagonal(covariance) * scale**2
        excitation = np.where(variance > 0, 1 / variance, np.inf)
        scaled = covariance * np.outer(scale, scale)
    cap = covariance_cap(float(np.finfo(factor.dtype).eps))
    is_known = np.isfinite(scaled).all() and (scale > 0).all()
    condition = float(np.linalg.cond(scaled)) if is_known else np.inf
    return condition, excitation, variance > CAPPED_PART * cap
