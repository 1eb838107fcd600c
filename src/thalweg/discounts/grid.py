"""The discounts among which the paper's meta-algorithm finds the right one."""

import math

from thalweg import checks


def grid(
    horizon: int, radius: float, static: bool = True, corrected: bool = True
) -> tuple[float, ...]:
    """γ_i = 1 - ½ (log T / (T√(2D))) 2^(i-1), in descending order.

    Yuan & Lamperski (2020), Theorem 7. ``horizon`` is T ≥ 2; ``radius`` is
    D ≥ e⁻²/2, which keeps γ_1 ≥ ½ at every T.
    ``static`` puts γ = 1 first, as the paper advises in practice. ``corrected`` leaves
    out the last γ_N where it lies below ½: the paper rounds N up, its proof never uses
    that expert, and its memory can be as short as no round at all (erratum E7).
    """
    checks.argument("grid", "horizon", horizon, "[2, inf)")
    checks.argument("grid", "radius", radius, f"[{math.exp(-2) / 2}, inf)")
    log_t = math.log(horizon)
    doublings = 0.5 * math.log2(2 * radius * horizon**2 / log_t**2)
    count = (math.floor if corrected else math.ceil)(doublings) + 1
    finest = 0.5 * log_t / (horizon * math.sqrt(2 * radius))
    inner = tuple(1 - finest * 2**i for i in range(count))
    return ((1.0,) if static else ()) + inner
