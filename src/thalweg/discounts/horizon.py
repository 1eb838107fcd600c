"""The discount for a known horizon and a chosen trade-off: Corollary 1."""

import math

from thalweg import checks


def from_tradeoff(beta: float, horizon: int) -> float:
    """γ = 1 - T^-β: Yuan & Lamperski (2020), Corollary 1.

    ``beta`` is β in (0, 1): near 1 favours static regret, which grows as T^(1-β), near
    0 favours dynamic regret, which grows as T^β V. ``horizon`` is T ≥ 2.
    """
    checks.argument("from_tradeoff", "beta", beta, "(0, 1)")
    checks.argument("from_tradeoff", "horizon", horizon, "[2, inf)")
    return 1 - math.pow(horizon, -beta)
