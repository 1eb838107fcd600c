r"""Weights of a few forecasts by their discounted squared errors.

.. math:: L_j \gets d L_j + (y - f_j)^2, \quad N \gets d N + 1, \quad
          w_j \propto \exp(-\eta N (L_j - L_{min}) / L_{min})

so that with a mean loss of twice the best a forecast has the weight e^{-ηN} beside it.
Also known as: exponentially weighted average or softmax on discounted losses, as one of
the Tracker's rules (tracker/softmax.py). Where the best has no loss at all, those with
one have no weight.
"""

import math

from thalweg.kernels.jit import inner_function


@inner_function
def set_weights(losses, weight, rate, weights):
    """Set the weights (m,) from losses (m,), NaN of a forecast that is not there.

    ``weight`` is N, ``rate`` is η. One forecast at least has to be there. The weights
    may take the place of the losses.
    """
    best, total = math.inf, 0.0
    for j in range(losses.size):
        if losses[j] < best:
            best = losses[j]
    for j in range(losses.size):
        if math.isnan(losses[j]):
            weights[j] = 0.0
        elif best > 0.0:
            weights[j] = math.exp(-rate * weight * ((losses[j] - best) / best))
        else:
            weights[j] = 1.0 if losses[j] <= best else 0.0
        total += weights[j]
    for j in range(losses.size):
        weights[j] /= total
