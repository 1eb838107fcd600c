"""The discount for a known horizon and a chosen trade-off: Corollary 1."""

import math

from thalweg import checks


def from_tradeoff(beta: float, horizon: int) -> float:
    """γ = 1 - T^-β: Yuan & Lamperski (2020), Corollary 1.

    ``beta`` is β in [1e-12, 1): near 1 favours static regret, which grows as T^(1-β),
    near 0 dynamic regret, which grows as T^β V. ``horizon`` is T ≥ 2.
    """
    # Below that T^-β rounds to 1, and γ to 0.
    checks.argument("from_tradeoff", "beta", beta, "[1e-12, 1)")
    checks.argument("from_tradeoff", "horizon", horizon, "[2, inf)")
    return 1 - math.pow(horizon, -beta)
