"""How a model is doing inside: what excites it, what it has refused."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.kernels import ud_factor as factors
from thalweg.kernels.windup import covariance_cap
from thalweg.models.live_state import Held
from thalweg.preprocessing.imputer import ImputerState, MeanImputer
from thalweg.types import FloatArray

HELD = 1 / 8
"""A direction is held once its covariance is within this part of the limit."""


@dataclass(frozen=True, eq=False)
class Health:
    """What ``Online.health()`` reports; None where the learner has no matrix."""

    rounds: int  # learnt, or skipped by policy
    refusals: int  # calls that were refused
    skipped: int  # rounds not learnt from, under missing="skip" or "impute"
    imputed: int  # features filled in
    quiet_for: FloatArray | None  # (n,) rounds since each feature was last not zero
    condition: float | None  # of P, features measured in their own sizes
    excitation: FloatArray | None  # (n,) information, in rounds of the feature's size
    held: FloatArray | None  # (n,) whether the safety cap keeps what is known of it

    def __str__(self) -> str:
        lines = [f"{self.rounds:,} rounds, {self.refusals:,} calls refused"]
        if self.skipped or self.imputed:
            lines.append(
                f"{self.skipped:,} skipped, {self.imputed:,} features filled in"
            )
        if self.condition is not None and self.excitation is not None:
            lines.append(f"condition {self.condition:.1e}")
            weakest = int(self.excitation.argmin())
            worth = f"{self.excitation[weakest]:.2g} rounds' worth"
            lines.append(f"least is known of feature {weakest}: {worth}")
        if self.quiet_for is not None and self.quiet_for.any():
            longest = int(self.quiet_for.argmax())
            count = f"{self.quiet_for[longest]:,.0f} rounds"
            lines.append(f"feature {longest} has been silent for {count}")
        if self.held is not None and self.held.any():
            names = ", ".join(map(str, np.flatnonzero(self.held)))
            lines.append(f"held by the safety cap: {names}")
        return "\n".join(lines)


def health_of(held: Held, refusals: int, imputer: MeanImputer | None) -> Health:
    """The health of the model that holds this."""
    state = held.state
    missing = ImputerState() if imputer is None else imputer.state
    counts = (missing.skipped, missing.imputed)
    quiet = None if state is None else held.quiet
    return Health(held.rounds, refusals, *counts, quiet, *_matrix_health(state))


def _matrix_health(state: Any) -> tuple[Any, Any, Any]:
    """Condition, excitation and held of a state with a factor; None thrice without."""
    factor = getattr(state, "factor", None)
    if factor is None:
        return None, None, None
    covariance = factors.covariance(np.asarray(factor, np.float64))
    size = np.asarray(factor[factors.INPUT_SCALE], np.float64)
    spread = np.diagonal(covariance) * size**2
    with np.errstate(divide="ignore", invalid="ignore"):
        excitation = np.where(spread > 0, 1 / spread, np.inf)
    scaled = covariance * np.outer(size, size)
    limit = covariance_cap(float(np.finfo(factor.dtype).eps))
    known = np.isfinite(scaled).all() and (size > 0).all()
    condition = float(np.linalg.cond(scaled)) if known else np.inf
    return condition, excitation, spread > HELD * limit
