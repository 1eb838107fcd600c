"""The health of a model: which features excite it, how well P is conditioned, refusals.

Also known as: persistence of excitation, covariance windup (kernels/windup.py).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.imputer import ImputerState
from thalweg.kernels import ud_factor
from thalweg.kernels.windup import covariance_cap
from thalweg.learners import Learner
from thalweg.learners.finiteness import non_finite_names
from thalweg.models.live_state import ModelSnapshot
from thalweg.types import FloatArray

if TYPE_CHECKING:
    from thalweg.models.columns import Columns

CAPPED_PART = 1 / 8
"""Minimum covariance of a direction that counts as capped, in units of the cap."""


@dataclass(frozen=True, eq=False)
class Health:
    """The report of ``Online.health()``; None where the learner has no matrix."""

    rounds: int  # learnt, or skipped by policy
    refusals: int  # calls that were refused
    skipped: int  # rounds not learnt from: imputer.POLICY_RULES
    imputed: int  # missing features that were filled
    unexcited_rounds: FloatArray | None  # (n,) since each feature was last not zero
    condition: float | None  # of P, features measured in their own sizes
    excitation: FloatArray | None  # (n,) information, in rounds of the feature's size
    capped: FloatArray | None  # (n,) whether the covariance cap limits forgetting of it
    non_finite: tuple[str, ...] = ()  # fields of the state with NaN, or infinite
    # The name of each feature but a constant one; () where they have none.
    names: tuple[str, ...] = ()
    is_used: FloatArray | None = None  # (n,) False for a level of text to come

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
            lines.append(f"least is known of {self._name(weakest)}: {worth}")
        zero = self.unexcited_rounds
        if zero is not None and self.is_used is not None:
            zero = zero * self.is_used
        if zero is not None and zero.any():
            longest = int(zero.argmax())
            count = f"{zero[longest]:,.0f} rounds"
            lines.append(f"{self._name(longest)} has been zero for {count}")
        if self.capped is not None and self.capped.any():
            places = np.flatnonzero(self.capped).tolist()
            names = (self._name(k) if self.names else str(k) for k in places)
            lines.append(f"held by the covariance cap: {', '.join(names)}")
        return "\n".join(lines)

    def _name(self, feature: int) -> str:
        if feature < len(self.names):
            return repr(self.names[feature])
        return "the intercept" if self.names else f"feature {feature}"


def measure_health(
    learner: Learner[Any], snapshot: ModelSnapshot, refusals: int
) -> Health:
    """The health of a model as it was when the snapshot was taken."""
    state, rounds, unexcited_rounds, imputer = snapshot[:4]
    columns = snapshot.columns
    names = () if columns is None else columns.names
    missing = ImputerState.initial() if imputer is None else imputer
    return Health(
        rounds,
        refusals,
        missing.skipped,
        missing.imputed,
        None if state is None else unexcited_rounds,
        *_measure_matrix(state),
        () if state is None else tuple(non_finite_names(learner, state)),
        names,
        None if columns is None or state is None else _used(columns, len(state.theta)),
    )


def _used(columns: "Columns", size: int) -> FloatArray:
    """(n,) whether a feature could be other than 0 so far, 1.0 or 0.0."""
    used = set(columns.encoder.used_feature_names())
    flags = [float(name in used) for name in columns.names]
    return np.array(flags + [1.0] * (size - len(flags)))


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
