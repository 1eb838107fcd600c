"""Blocks where they are safe, single rounds where they are not."""

from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.kernels.rls import rls
from thalweg.kernels.rls_blocked import kept, plain
from thalweg.kernels.rls_blocked.safe import Rounds, representable

FEWEST = 16
"""Features from which on blocks are faster: docs/decisions/004-blocks.md."""
WORTHWHILE = 64
"""Rounds that pay for the way into another form and back, at any n."""

Array = npt.NDArray[Any]


def rls_in_blocks(
    theta: Array, factor: Array, gamma: float, floor: float, pull: bool, *arrays: Array
) -> int:
    """What ``rls`` does, to rounding; how many of the rounds were played in blocks.

    Shapes and order as there, without ``played``, and in float64. Where a block is not
    safe, some rounds are played one by one before the next is tried. In Python, since
    to compile all of it in one piece takes longer than everything else together.
    """
    rounds, none = Rounds(*arrays), np.empty((0, *theta.shape))
    n, t, inside = len(theta), 0, 0
    while t < len(rounds.y):
        end = _blocks(theta, factor, gamma, floor, pull, rounds, t)
        inside += end - t
        if end == t:
            end = t + max(n, WORTHWHILE) if n >= FEWEST else len(rounds.y)
            some = (part[t:end] for part in rounds)
            rls(theta, factor, gamma, floor, pull, *some, none)
        t = end
    return inside


def _blocks(
    theta: Array, factor: Array, gamma: float, floor: float, pull: bool,
    rounds: Rounds, t: int,
) -> int:  # fmt: skip
    """Blocks of the one kind or the other, from round t on; where they end."""
    n = len(theta)
    worthwhile = n >= FEWEST and len(rounds.y) - t >= WORTHWHILE
    if not (worthwhile and representable(factor)):
        return t
    spare = floor * kept.most_raised(n, gamma)
    end = int(plain.play(theta, factor, gamma, spare, rounds, t))
    if end == t and floor > 0:
        end = int(kept.play(theta, factor, gamma, floor, pull, rounds, t))
    return end
