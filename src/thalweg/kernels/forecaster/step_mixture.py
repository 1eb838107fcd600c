"""The weighted mean of all candidates for a step.

Also known as: forecast combination, exponential weights on discounted losses. A
candidate whose mean squared error is L has weight ∝ prior · exp(-c N (L / L_min - 1)),
N the errors that count. Errors of neighbouring origins are alike, the more so the
further ahead: c is the smaller, the further the step lies ahead. Soft weights, near a
plain mean of all that are not clearly worse, did best on the series of
``thalweg accuracy --horizon 24``.
"""

import math

from thalweg.kernels.forecaster.forecaster_layout import (
    ANALOGUE,
    CANDIDATE_PRIOR,
    CANDIDATES,
    NONLINEAR,
)
from thalweg.kernels.jit import inner_function

LOSS_MEMORY = 600.0
"""Errors that count in a mean squared error."""
SHARPNESS, OVERLAP = 0.3, 3.0
"""c = ``SHARPNESS`` / (1 + ``OVERLAP`` h) at step h."""
NONLINEAR_ERRORS = 100.0
"""After so many errors the prior of the nonlinear regression is half of what it will
be: with more coefficients than rounds, errors say little of the next one."""
ANALOGUE_ERRORS = 100.0
"""The same of analogues, after so many errors of theirs."""
MAX_LOSS = 400.0
"""Errors beyond 20 scales count as 20: of an outlier all candidates know nothing, and
its square would hide their differences for long."""


@inner_function
def learn_losses(losses, count, candidates, label):
    """Learn the squared errors of all candidates, all in units of the scale."""
    share = max(1 / (count + 1), 1 / LOSS_MEMORY)
    for k in range(CANDIDATES):
        error = candidates[k] - label
        losses[k] += share * (min(error * error, MAX_LOSS) - losses[k])


@inner_function
def set_weights(losses, count, analogue_count, h, weights):
    """Set the weights of the candidates at step h, which sum to 1.

    ``count`` errors are known, of which analogues have ``analogue_count``: 0, and they
    have no part in it.
    """
    lowest = losses[0]
    for k in range(1, CANDIDATES):
        if k != ANALOGUE or analogue_count > 0:
            lowest = min(lowest, losses[k])
    c = SHARPNESS * min(count, LOSS_MEMORY) / (1 + OVERLAP * h)
    total = 0.0
    for k in range(CANDIDATES):
        excess = 0.0
        if losses[k] > lowest:
            excess = c * (losses[k] / lowest - 1) if lowest > 0 else math.inf
        prior = CANDIDATE_PRIOR[k]
        if k == NONLINEAR:
            prior *= count / (count + NONLINEAR_ERRORS)
        if k == ANALOGUE:
            prior *= analogue_count / (analogue_count + ANALOGUE_ERRORS)
        weights[k] = prior * math.exp(-min(excess, 700.0))
        total += weights[k]
    for k in range(CANDIDATES):
        weights[k] /= total


@inner_function
def mix(candidates, weights):
    """The weighted mean of the candidates."""
    total = 0.0
    for k in range(CANDIDATES):
        total += weights[k] * candidates[k]
    return total
