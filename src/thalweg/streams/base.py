"""What a stream is: rounds to play and, where it is known, what generated them."""

from dataclasses import dataclass

import numpy as np

from thalweg.types import Block, FloatArray

Seed = int | np.random.Generator
"""Where randomness comes from; an int is turned into a Generator."""


@dataclass(frozen=True, eq=False)
class Stream:
    """Rounds, and the points that generated them."""

    block: Block
    truth: FloatArray | None  # (T, n) the θ_t behind each round, where there is one
