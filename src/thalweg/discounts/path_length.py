"""The discount for a comparator of known path length: Corollary 2."""

import math

from thalweg import checks


def from_path_length(path_length: float, horizon: int, radius: float) -> float:
    """γ = 1 - ½√(max{V, D log²T / T} / (2DT)), always in [½, 1).

    Yuan & Lamperski (2020), Corollary 2, in a form that does not change with the unit
    of length: the paper has log²T / T without the D. ``path_length`` is V in
    [0, 2D(T-1)], more than which no path in a ball of radius D can have; ``horizon``
    is T ≥ 2, ``radius`` is D > 0.
    """
    checks.argument("from_path_length", "horizon", horizon, "[2, inf)")
    checks.argument("from_path_length", "radius", radius, "(0, inf)")
    longest = 2 * radius * (horizon - 1)
    checks.argument("from_path_length", "path_length", path_length, f"[0, {longest}]")
    moved = max(path_length, radius * math.log(horizon) ** 2 / horizon)
    return 1 - 0.5 * math.sqrt(moved / (2 * radius * horizon))
