"""The hinges of the Tracker's correction for curvature, drawn at the start."""

import math
from typing import Any

import numpy as np

SPREAD = 1.5
"""The standard deviation of a hinge's direction, over both of its coordinates."""


def draw_hinges(curvature: Any, coordinates: int, seed: int) -> None:
    """Set coordinates, directions and biases: kernels/tracker/curvature.py.

    Each hinge sees two of the first ``coordinates`` of the context, or the one that
    there is. Which ones is a matter of their order: another order is another draw.
    """
    rng, used = np.random.default_rng(seed), min(coordinates, 2)
    for k in range(len(curvature.biases)):
        curvature.coordinates[:used, k] = rng.choice(coordinates, used, replace=False)
        size = SPREAD / math.sqrt(used)
        curvature.directions[:used, k] = size * rng.normal(size=used)
    curvature.biases[:] = rng.normal(size=len(curvature.biases))
