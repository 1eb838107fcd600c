"""The hinges of the Tracker's correction for curvature, drawn at random.

Each is a function of two coordinates of the context, and all pairs are equally likely:
at the start, and also after features were added or removed, when a part of the hinges
is drawn again (``draw_for_added``, ``draw_for_removed``). The others keep what they
have learnt.
"""

import math
from typing import Any

import numpy as np

from thalweg.kernels.tracker.curvature import row_start
from thalweg.learners.tracker.definition_curvature import fold_scale, solve_gram

SPREAD = 1.5
"""The standard deviation of a hinge's direction, over both of its coordinates."""


def draw_hinges(curvature: Any, coordinates: int, seed: int) -> None:
    """Set coordinates, directions and biases: kernels/tracker/curvature.py.

    Each hinge sees two of the first ``coordinates`` of the context, or the one that
    there is. Which ones is a matter of their order: another order is another draw.
    """
    rng, used = np.random.default_rng(seed), min(coordinates, 2)
    for k in range(len(curvature.biases)):
        seen = rng.choice(coordinates, used, replace=False)
        _set_hinge(curvature, k, seen, rng)
    curvature.biases[:] = rng.normal(size=len(curvature.biases))


def draw_for_added(
    s: Any, added: Any, coordinates: int, rng: np.random.Generator
) -> None:
    """Let hinges see features that were added, at the indices ``added``.

    ``coordinates`` is the number of coordinates, including the new ones. Feature by
    feature, with m coordinates including it, every hinge is drawn again with
    probability 2/m: it then depends on this feature and one of the others. So all pairs
    of coordinates are as likely as in ``draw_hinges``, with one exception: instead of
    the drawn hinges that have learnt, the same number is replaced among those on which
    the correction depends least.
    """
    curvature, is_new = s.curvature, np.zeros(len(s.curvature.biases), np.bool_)
    known = np.delete(np.arange(coordinates), added)
    size = _contributions(curvature)
    for feature in added:
        share = 2 / (len(known) + 1)
        is_drawn = rng.random(len(is_new)) < share
        least = np.argsort(np.where(is_new, np.inf, size), kind="stable")
        count = int((is_drawn & ~is_new).sum())
        is_drawn &= is_new
        is_drawn[least[:count]] = True
        for k in np.flatnonzero(is_drawn).tolist():
            _set_hinge(curvature, k, [feature, rng.choice(known)], rng)
            curvature.biases[k], is_new[k] = rng.normal(), True
        known = np.append(known, feature)
    _forget(s, is_new)


def draw_for_removed(s: Any, coordinates: int, rng: np.random.Generator) -> None:
    """Draw again the hinges of a removed feature, whose index is -1 by now."""
    curvature, used = s.curvature, min(coordinates, 2)
    is_new = (curvature.coordinates < 0).any(axis=0)
    for k in np.flatnonzero(is_new).tolist():
        seen = rng.choice(coordinates, used, replace=False)
        _set_hinge(curvature, k, seen, rng)
        curvature.biases[k] = rng.normal()
    _forget(s, is_new)


def _set_hinge(curvature: Any, k: int, seen: Any, rng: np.random.Generator) -> None:
    """Set the coordinates of hinge k, and draw its directions."""
    used = len(seen)
    curvature.coordinates[:, k], curvature.directions[:, k] = 0, 0
    curvature.coordinates[:used, k] = seen
    curvature.directions[:used, k] = SPREAD / math.sqrt(used) * rng.normal(size=used)


def _contributions(curvature: Any) -> Any:
    """The share of each hinge in the correction: its mean square, up to a factor."""
    size = len(curvature.biases)
    diagonal = [row_start(i, size) + i for i in range(size)]
    return curvature.theta**2 * curvature.gram[diagonal]


def _forget(s: Any, is_new: Any) -> None:
    """Forget what was learnt of these hinges: their moments, b and coefficients.

    The others are fitted without them.
    """
    if not is_new.any():
        return
    curvature, size = s.curvature, len(is_new)
    for i in range(size):
        row = curvature.gram[row_start(i, size) + i : row_start(i, size) + size]
        row[is_new[i:] | is_new[i]] = 0
    curvature.target[is_new] = 0
    fold_scale(s)
    curvature.theta[:] = solve_gram(curvature)
