r"""Nonlinear regressions of the steps: ridge regression on products and random hinges.

Also known as: random features, extreme learning machine. With φ the features of
nonlinear_features.py, x those of the step, z the label and θ₀ ``PRIOR``,

.. math:: A \gets A + w\, φ φ^T, \quad b \gets b + w\, φ (z - θ_0\cdot x), \quad
          \hat z = θ_0\cdot x + φ\cdot (A + \delta I)^{-1} b

Nothing is forgotten: so many coefficients need many rounds, and the regressions of
step_regressions.py, some of which forget, are mixed with this one. Neighbouring steps
share a regression, and it is solved only now and then, which costs 0.3 % of the error.
"""

from thalweg.kernels.forecaster.forecaster_layout import (
    OUTLIER_LIMIT,
    OWN_FEATURES,
    PRIOR,
)
from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import WIDTH, fma, load, store
from thalweg.kernels.tracker.curvature import dot, row_start, solve_gram

SOLUTION_INTERVAL = 32
"""Rounds between two solutions."""
EARLY_INTERVAL, EARLY_COUNT = 8, 256
"""The same while no more than 256 rounds are learnt."""
TURN = 5
"""A step that is one round later is solved 4 rounds earlier: so groups take turns, and
no round has to solve all of them."""
WEIGHT_LANE = OUTLIER_LIMIT.size - 4
"""The lane whose outlier weights are used: all memory, the higher limit."""
MAX_DIFFERENCE = 12.0
"""The forecast is at most so many mean errors away from that lane's: where features are
as they never were, hinges extrapolate."""


@inline_function
def prior_part(row):
    """θ₀·x"""
    total = 0.0
    for i in range(OWN_FEATURES):
        total += PRIOR[i] * row[i]
    return total


@inner_function
def predict_nonlinear(theta, row, features):
    """The forecast, in units of the scale; ``features`` are in units of their ridge."""
    return prior_part(row) + dot(theta, features)


@inner_function
def learn_nonlinear(s, w, group, row, label, weight):
    """Learn one label; the features are in ``w.nonlinear_row``."""
    features, size = w.nonlinear_row, w.nonlinear_row.size
    gram, target = s.gram[group], s.gram_target[group]
    rest = label - prior_part(row)
    for i in range(size):
        if features[i] != 0:
            here, start = weight * features[i], row_start(i, size)
            target[i] += here * rest
            for j in range(i - i % WIDTH, size, WIDTH):
                entry = fma(here, load(features, j), load(gram, start + j))
                store(gram, start + j, entry)


@inner_function
def solve_now_and_then(s, w, group, h):
    """Count a round of a group whose first step is h, and solve if it is time to."""
    s.group_counts[group] += 1
    count = int(s.group_counts[group])
    interval = SOLUTION_INTERVAL if count > EARLY_COUNT else EARLY_INTERVAL
    if (count + TURN * h) % interval == 0:
        solve_gram(s.gram[group], s.gram_target[group], w, s.nonlinear_theta[group])
