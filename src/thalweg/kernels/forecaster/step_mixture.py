"""The weights of the candidates for a step (candidates.py) in their mean.

Also known as: forecast combination, exponential weights on discounted losses. A
candidate whose mean squared error is L has weight ∝ prior · exp(-c N (L / L_min - 1)),
N the effective number of errors. Errors of neighbouring origins are correlated, the
more so the further ahead: c decreases with the step. Soft weights, near a plain mean of
all that are not clearly worse, did best on the series of ``make accuracy``.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecast_weights import set_weights
from thalweg.kernels.forecaster.candidates import PADDED_CANDIDATES

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
def set_mixture_weights(losses, count, own_errors, has, h, priors, weights):
    """Set the weights of the candidates at step h, which sum to 1.

    ``count`` is the number of rounds learnt, ``own_errors`` that of each candidate's
    own errors; one that cannot forecast, or has no error where it needs some, has no
    weight.
    """
    for k in range(PADDED_CANDIDATES):
        needed = priors[1, k]
        weights[k] = priors[0, k] if has[k] > 0.0 else 0.0
        if needed > 0.0:
            weights[k] *= own_errors[k] / (own_errors[k] + needed)
    c = SHARPNESS * min(count, LOSS_MEMORY) / (1 + OVERLAP * h)
    set_weights(losses, c, weights)


@inner_function
def limit_candidates(candidates, lowest, highest):
    """Keep all candidates within limits, in units of the scale."""
    for k in range(PADDED_CANDIDATES):
        candidates[k] = min(max(candidates[k], lowest), highest)
