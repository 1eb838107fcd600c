"""How long a discount remembers, in rounds, and the discount that remembers so long."""

import math

from thalweg import checks
from thalweg.errors import InvalidParameterError


def from_half_life(half_life: float, owner: str = "from_half_life") -> float:
    """γ = 2^(-1/half_life): a round that old weighs half as much as a new one."""
    # A half-life below a thousandth of a round would round γ to 0.
    checks.argument(owner, "half_life", half_life, "[0.001, inf]")
    return math.exp2(-1 / half_life)


def from_window(window: float, owner: str = "from_window") -> float:
    """γ = 1 - 1/window: all past rounds together weigh as much as so many new ones."""
    checks.argument(owner, "window", window, "(1, inf]")
    return 1 - 1 / window


def half_life(discount: float) -> float:
    """log ½ / log γ, in rounds; infinite at γ = 1."""
    checks.argument("half_life", "discount", discount, "(0, 1]")
    return math.inf if discount == 1 else -math.log(2) / math.log(discount)


def window(discount: float) -> float:
    """1/(1-γ), in rounds; infinite at γ = 1."""
    checks.argument("window", "discount", discount, "(0, 1]")
    return math.inf if discount == 1 else 1 / (1 - discount)


def from_words(
    owner: str, discount: float, half_life: float | None, window: float | None
) -> float:
    """The discount, or what another word for it says where ``owner`` was given one."""
    if half_life is not None and window is not None:
        raise InvalidParameterError(
            f"{owner} takes 'half_life' or 'window'. "
            f"Got {half_life!r} and {window!r} instead."
        )
    if half_life is not None:
        return from_half_life(half_life, owner)
    return discount if window is None else from_window(window, owner)
