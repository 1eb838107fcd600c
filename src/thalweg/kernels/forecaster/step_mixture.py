"""All candidates for a step, and their weighted mean.

A candidate is a file that forecasts a step, a line in ``layout.CANDIDATE_TABLE`` and a
line in ``set_candidates``.

Also known as: forecast combination, exponential weights on discounted losses. A
candidate whose mean squared error is L has weight ∝ prior · exp(-c N (L / L_min - 1)),
N the effective number of errors. Errors of neighbouring origins are correlated, the
more so the further ahead: c decreases with the step. Soft weights, near a plain mean of
all that are not clearly worse, did best on the series of ``make accuracy``.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.nonlinear_regression import (
    WEIGHT_LANE,
    forecast_nonlinear,
)
from thalweg.kernels.forecaster.step_features import scale_feature
from thalweg.kernels.forecaster.step_regressions import predict_lanes
from thalweg.kernels.loss_weights import set_weights

LOSS_MEMORY = 600.0
"""Number of errors that count in a mean squared error."""
SHARPNESS, OVERLAP = 0.3, 3.0
"""c = ``SHARPNESS`` / (1 + ``OVERLAP`` h) at step h."""
MAX_LOSS = 400.0
"""Limit of a squared error, in squared scales: all candidates miss an outlier, and its
square would hide their differences for long."""


@inner_function
def learn_losses(losses, count, candidates, label):
    """Learn the squared errors of all candidates, all in units of the scale."""
    share = max(1 / (count + 1), 1 / LOSS_MEMORY)
    for k in range(losses.size):
        error = candidates[k] - label
        losses[k] += share * (min(error * error, MAX_LOSS) - losses[k])


@inner_function
def set_mixture_weights(losses, count, analogue_count, h, priors, weights):
    """Set the weights of the candidates at step h, which sum to 1.

    ``count`` is the number of known errors, ``analogue_count`` that of the analogues: 0
    gives them no weight.
    """
    for k in range(weights.size):
        errors, needed = float(count), priors[1, k]
        if k == layout.ANALOGUE:
            errors = float(analogue_count)
        weights[k] = priors[0, k]
        if needed > 0.0:
            weights[k] *= errors / (errors + needed)
    c = SHARPNESS * min(count, LOSS_MEMORY) / (1 + OVERLAP * h)
    set_weights(losses, c, weights)


@inner_function
def set_candidates(
    s, w, j, t, h, level, scale, low, high, has_analogues, candidates
):  # fmt: skip
    """Set all candidates for step h, less the level and in units of the scale."""
    row = w.row
    predict_lanes(s.theta[j], row, candidates)
    nonlinear = forecast_nonlinear(s, w, j, t + h, candidates[WEIGHT_LANE])
    candidates[layout.RECURSIVE] = scale_feature(w.path[h - 1] - level, scale)
    candidates[layout.LAST_VALUE] = row[layout.LAST]
    candidates[layout.SEASON_VALUE] = row[layout.SEASON_AGO]
    candidates[layout.CYCLE_VALUE] = row[layout.CYCLE_AGO]
    candidates[layout.NONLINEAR] = nonlinear
    # Where there are no analogues, their errors are those of another candidate.
    candidates[layout.ANALOGUE] = w.analogues[h - 1] if has_analogues else nonlinear
    lowest, highest = (
        scale_feature(low - level, scale),
        scale_feature(high - level, scale),
    )
    for k in range(layout.CANDIDATES):
        candidates[k] = min(max(candidates[k], lowest), highest)


@inner_function
def mix(candidates, weights):
    """The weighted mean of the candidates."""
    total = 0.0
    for k in range(layout.CANDIDATES):
        total += weights[k] * candidates[k]
    return total
