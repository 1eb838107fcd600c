"""φ, φ′ and φ″ of the linear-model losses, by their integer codes.

Codes are declared only here: a loss of losses/ names its own as ``code``. To add one,
declare it, list it in ``CODES``, and give it a branch in all three functions: they
are NaN for any other number. That a code is listed is checked where a loss is defined
(losses/linear.py); that its branches compute what the loss class does, by
tests/kernels/test_losses.py, for every public loss.
"""

import math

from thalweg.kernels.compiler.jit import kernel

SQUARED, LOGISTIC, HUBER = 0, 1, 2
CODES = (SQUARED, LOGISTIC, HUBER)
"""All codes that the functions below have a branch for."""


@kernel
def phi(code, shape, p, y):
    """The loss φ(p, y)."""
    if code == LOGISTIC:
        return max(p, 0.0) + math.log1p(math.exp(-abs(p))) - y * p
    size = abs(p - y)
    inner = size
    if code != SQUARED:
        inner = min(size, shape) if code == HUBER else math.nan
    return inner * (size - 0.5 * inner)


@kernel
def slope(code, shape, p, y):
    """The derivative φ′(p, y) by p."""
    if code == LOGISTIC:
        return (1 - y) * sigmoid(p) - y * sigmoid(-p)
    r = p - y
    if code == SQUARED:
        return r
    return min(max(r, -shape), shape) if code == HUBER else math.nan


@kernel
def curvature(code, shape, p, y):
    """The second derivative φ″(p, y) by p."""
    if code == LOGISTIC:
        return sigmoid(p) * sigmoid(-p)
    if code == SQUARED or (code == HUBER and abs(p - y) <= shape):
        return 1.0
    return 0.0 if code == HUBER else math.nan


@kernel
def sigmoid(p):
    """1 / (1 + e^-p), without overflow."""
    small = math.exp(-abs(p))
    return 1 / (1 + small) if p >= 0 else small / (1 + small)


@kernel
def logit(probability):
    """log(p / (1 - p)), the inverse of ``sigmoid``: the log-odds of a probability."""
    return math.log(probability / (1 - probability))


@kernel
def sigmoids(p, out):
    """``sigmoid`` of every p (T,), in the same bits as in single calls; out (T,)."""
    for t in range(p.size):
        out[t] = sigmoid(p[t])


@kernel
def logits(probability, out):
    """``logit`` of every probability (T,), in the same bits as in single calls."""
    for t in range(probability.size):
        out[t] = logit(probability[t])
