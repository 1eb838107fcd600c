"""How fast to forget: the paper's rules for the discount γ, and its other names.

The ridge ε that the paper advises for its Newton step, and the range of γ in Theorem 9,
are here as well, since learners and bounds both need them.

The discount γ in (0, 1] is the forgetting factor, written λ in filtering texts: a round
k steps old weighs γᵏ. A half-life, or an effective memory of 1/(1-γ) rounds, says the
same.
"""

import math

from thalweg import checks
from thalweg.errors import InvalidParameterError

__all__ = [
    "from_half_life",
    "from_path_length",
    "from_tradeoff",
    "from_window",
    "grid",
    "half_life",
    "window",
]


def from_half_life(half_life: float, owner: str = "from_half_life") -> float:
    """γ = 2^(-1/half_life): a round that old weighs half as much as a new one."""
    # A half-life below a thousandth of a round would round γ to 0.
    checks.require_argument(owner, "half_life", half_life, "[0.001, inf]")
    return math.exp2(-1 / half_life)


def from_window(window: float, owner: str = "from_window") -> float:
    """γ = 1 - 1/window: all past rounds weigh as much as ``window`` new ones."""
    checks.require_argument(owner, "window", window, "(1, inf]")
    return 1 - 1 / window


def half_life(discount: float) -> float:
    """log ½ / log γ, in rounds; infinite at γ = 1."""
    checks.require_argument("half_life", "discount", discount, "(0, 1]")
    return math.inf if discount == 1 else -math.log(2) / math.log(discount)


def window(discount: float) -> float:
    """The effective memory 1/(1-γ), in rounds; infinite at γ = 1."""
    checks.require_argument("window", "discount", discount, "(0, 1]")
    return math.inf if discount == 1 else 1 / (1 - discount)


def from_tradeoff(beta: float, horizon: int) -> float:
    """γ = 1 - T^-β, for a known horizon: Yuan & Lamperski (2020), Corollary 1.

    ``beta`` is β in [1e-12, 1): near 1 favours static regret, which grows as T^(1-β),
    near 0 dynamic regret, which grows as T^β V. ``horizon`` is T ≥ 2.
    """
    # Below that T^-β rounds to 1, and γ to 0.
    checks.require_argument("from_tradeoff", "beta", beta, "[1e-12, 1)")
    checks.require_argument("from_tradeoff", "horizon", horizon, "[2, inf)")
    return 1 - math.pow(horizon, -beta)


def from_path_length(path_length: float, horizon: int, radius: float) -> float:
    """γ = 1 - ½√(max{V, D log²T / T} / (2DT)), always in [½, 1).

    Yuan & Lamperski (2020), Corollary 2, for a comparator of known path length, in a
    form that does not change with the unit of length: the paper has log²T / T without
    the D. ``path_length`` is V in [0, 2D(T-1)], more than which no path in a ball of
    radius D can have; ``horizon`` is T ≥ 2, ``radius`` is D > 0.
    """
    checks.require_argument("from_path_length", "horizon", horizon, "[2, inf)")
    checks.require_argument("from_path_length", "radius", radius, "(0, inf)")
    longest = 2 * radius * (horizon - 1)
    checks.require_argument(
        "from_path_length", "path_length", path_length, f"[0, {longest}]"
    )
    motion = max(path_length, radius * math.log(horizon) ** 2 / horizon)
    return 1 - 0.5 * math.sqrt(motion / (2 * radius * horizon))


def grid(
    horizon: int, radius: float, static: bool = True, *, as_printed: bool = False
) -> tuple[float, ...]:
    """γ_i = 1 - ½ (log T / (T√2)) 2^(i-1) ≥ ½, i = 1, 2, ..., in descending order.

    The discounts of the experts in Yuan & Lamperski (2020), Theorem 7, in a form that
    does not change with the unit of length, hence not with D: γ_1 is
    ``from_path_length`` at V = 0, and every later 1-γ is twice the one before, so that
    one of them is within a factor of 2 for every V (docs/derivations/discount-grid.md).
    ``horizon`` is T ≥ 2, ``radius`` D in (0, inf). ``static`` puts γ = 1 first, as the
    paper advises in practice.

    ``as_printed`` is the paper's own grid: log T / (T√(2D)) for log T / (T√2), with
    D ≥ e⁻²/2 to keep γ_1 ≥ ½ at every T, and N rounded up, which adds a last γ_N below
    ½ that the proof never uses and that can be almost 0 (erratum E7).
    """
    checks.require_argument("grid", "horizon", horizon, "[2, inf)")
    least = f"[{math.exp(-2) / 2}" if as_printed else "(0"
    checks.require_argument("grid", "radius", radius, f"{least}, inf)")
    unit = radius if as_printed else 1.0
    log_t = math.log(horizon)
    doublings = 0.5 * math.log2(2 * unit * horizon**2 / log_t**2)
    count = (math.ceil if as_printed else math.floor)(doublings) + 1
    finest = 0.5 * log_t / (horizon * math.sqrt(2 * unit))
    inner = tuple(1 - finest * 2**i for i in range(count))
    return ((1.0,) if static else ()) + inner


def largest_contracting(condition_number: float) -> float:
    """1 / (δ^(3/2) - δ + 1): below it Theorem 9 holds; ``condition_number`` is δ = u/ℓ.

    See ``bounds.general_largest_discount``, which is the same for a ``Problem``.
    """
    owner, delta = "largest_contracting", condition_number
    checks.require_argument(owner, "condition_number", delta, "[1, inf]")
    return 1 / (delta * (math.sqrt(delta) - 1) + 1)


def paper_ridge(
    case: int,
    gradient_bound: float,
    exp_concavity: float,
    radius: float,
    experts: int = 1,
) -> float:
    """ε by case: 1/(ρ²D²N) in case 1, ρ = ½min{1/4GD, α}; 1 in cases 2 and 3.

    See ``bounds.paper_ridge``, which is the same for a ``Problem``.
    """
    checks.require_argument("paper_ridge", "case", case, "[1, 3]")
    checks.require_argument("paper_ridge", "experts", experts, "[1, inf)")
    if case != 1:
        return 1.0
    checks.require_argument("paper_ridge", "gradient_bound", gradient_bound, "(0, inf)")
    checks.require_argument("paper_ridge", "exp_concavity", exp_concavity, "(0, inf]")
    checks.require_argument("paper_ridge", "radius", radius, "(0, inf)")
    rate = min(1 / gradient_bound / radius / 4, exp_concavity) / 2
    ridge = 1 / (rate * radius) / (rate * radius) / experts if rate * radius else 0.0
    checks.require_argument("Theorem 1", "ridge", ridge, "(0, inf)")
    return ridge


class DefaultDiscount(float):
    """The type of ``DEFAULT``: it shows that a caller gave no discount."""


DEFAULT = DefaultDiscount(0.99)
"""The discount of a learner to which no discount, half-life or window was given."""


def resolve_discount(
    owner: str, discount: float, half_life: float | None, window: float | None
) -> float:
    """The discount of ``owner``, which takes it under any one of its three names."""
    names: dict[str, float | None] = {"half_life": half_life, "window": window}
    if not isinstance(discount, DefaultDiscount):
        names = {"discount": discount, **names}
    arguments = [
        f"{name}={value!r}" for name, value in names.items() if value is not None
    ]
    if len(arguments) > 1:
        raise InvalidParameterError(
            f"{owner} takes only one of 'discount', 'half_life' and 'window'. "
            f"Got {', '.join(arguments[:-1])} and {arguments[-1]} instead."
        )
    if half_life is not None:
        return from_half_life(half_life, owner)
    if window is not None:
        return from_window(window, owner)
    return float(discount) if isinstance(discount, DefaultDiscount) else discount
