r"""Nonlinear regressions of the steps: ridge regression on products and random hinges.

Also known as: random features, extreme learning machine. With φ the features of
nonlinear_features.py, x those of the step, z the label and θ₀ ``PRIOR``,

.. math:: A \gets A + w\, φ φ^T, \quad b \gets b + w\, φ (z - θ_0\cdot x), \quad
          \hat z = θ_0\cdot x + φ\cdot (A + \delta I)^{-1} b

Nothing is forgotten: this number of coefficients needs many rounds, and the regressions
of step_regressions.py, where some forget, are mixed with this one. Neighbouring steps
share a regression that is solved at intervals, which increases the error by 0.3 %.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.compiler.simd import WIDTH, fma, load, store
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.nonlinear_features import set_nonlinear_row
from thalweg.kernels.tracker.curvature import dot, row_start, solve_gram

SOLUTION_INTERVAL = 32
"""Number of rounds between two solutions."""
EARLY_INTERVAL, EARLY_COUNT = 8, 256
"""The same in the first 256 rounds learnt."""
TURN = 5
"""Offset of the rounds in which groups are solved, per step of their first step: groups
take turns, so that no single round solves all of them."""
WEIGHT_LANE = layout.OUTLIER_LIMIT.size - 4
"""The lane whose outlier weights are used: all memory, the higher limit."""
MAX_DIFFERENCE = 12.0
"""Limit of the forecast's distance from that lane's, in mean errors, since hinges
extrapolate where features leave their past range."""


@inner_function
def prior_part(row):
    """θ₀·x"""
    total = 0.0
    for i in range(layout.OWN_FEATURES):
        total += layout.PRIOR[i] * row[i]
    return total


@inner_function
def forecast_nonlinear(s, w, j, t, h, level, scale, candidates):
    """The forecast of step h after round t by the model j, near that of the regression
    in lane ``WEIGHT_LANE``."""
    other = candidates[WEIGHT_LANE]
    set_nonlinear_row(s, w, w.row, w.context, t + h, w.nonlinear_row)
    theta = s.nonlinear_theta[int(w.group_of[j])]
    forecast = prior_part(w.row) + dot(theta, w.nonlinear_row)
    reach = MAX_DIFFERENCE * s.mean_errors[j, WEIGHT_LANE]
    return other + min(max(forecast - other, -reach), reach)


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
