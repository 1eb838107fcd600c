"""Discounts and windows of bandit policies for a known amount of change."""

import math

from thalweg import checks


def discount_for_drift(path_length: float, size: int, horizon: int) -> float:
    """γ = 1 - (B_T / dT)^(2/3) of ``DiscountedLinUCB``; 1 where nothing drifts.

    ``path_length`` is B_T = Σ‖θ_{t+1} - θ_t‖, ``size`` d, ``horizon`` T. From the
    public code of Russac, Vernade & Cappé (2019), with γ at least 1/2.
    """
    checks.require_argument(
        "discount_for_drift", "path_length", path_length, "[0, inf)"
    )
    checks.require_argument("discount_for_drift", "size", size, "[1, inf)")
    checks.require_argument("discount_for_drift", "horizon", horizon, "[1, inf)")
    return 1 - min(math.pow(path_length / (size * horizon), 2 / 3), 0.5)


def discount_for_changes(
    changes: int, horizon: int, reward_bound: float = 1.0
) -> float:
    """γ = 1 - √(Υ_T/T) / 4B of ``DiscountedUCB``; Υ_T is at least 1 here.

    Garivier & Moulines (2011), recalled; a public implementation (SMPyBandits) has the
    same at B = 1. γ is at least 1/2.
    """
    _check_changes("discount_for_changes", changes, horizon, reward_bound)
    return 1 - min(math.sqrt(max(changes, 1) / horizon) / (4 * reward_bound), 0.5)


def window_for_changes(changes: int, horizon: int, reward_bound: float = 1.0) -> int:
    """τ = 2B√(T log T / Υ_T) of ``SlidingWindowUCB``, rounded up; Υ_T is at least 1.

    Garivier & Moulines (2011), recalled, not read. τ is at most T.
    """
    _check_changes("window_for_changes", changes, horizon, reward_bound)
    rounds = horizon * math.log(horizon) / max(changes, 1)
    return max(1, min(math.ceil(2 * reward_bound * math.sqrt(rounds)), horizon))


def _check_changes(owner: str, changes: int, horizon: int, reward_bound: float) -> None:
    checks.require_argument(owner, "horizon", horizon, "[1, inf)")
    checks.require_argument(owner, "changes", changes, f"[0, {horizon}]")
    checks.require_argument(owner, "reward_bound", reward_bound, "(0, inf)")
