"""The losses of comparators in hindsight, and squared losses as least-squares rows."""

from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import StreamError, UnsupportedLossError
from thalweg.losses import LinearMap, Loss, Round, SquaredError, Tracking
from thalweg.types import Block, FloatArray, Trace

QUADRATIC = (SquaredError, LinearMap, Tracking)
"""The losses that are ½‖Aθ - b‖² in every round."""


def check_hindsight_block(block: Block, loss: Loss) -> Block:
    """The block as finite arrays of the shapes ``loss`` declares; no θ is needed."""
    if not isinstance(block, Block):
        kind = type(block).__name__
        raise StreamError(f"Regret is measured on a Block of rounds. Got a {kind}.")
    shape: tuple[int, ...] = np.shape(block.y)[1:] or (1,)
    if block.x is not None:
        several = isinstance(loss, SquaredError) and np.ndim(block.y) == 2
        shape = (*np.shape(block.x)[-1:], *(shape if several else ()))
    return checks.check_block(block, loss, np.zeros(shape))


def trace_losses(trace: Trace, block: Block) -> FloatArray:
    """The loss of the trace in each round of the block, as float64."""
    losses = np.asarray(trace.loss, np.float64)
    if losses.shape != (len(block),):
        raise StreamError(
            f"A trace needs one loss a round. Got shape {losses.shape} for "
            f"{len(block)} rounds."
        )
    if not np.isfinite(losses).all():
        worst = int(np.isfinite(losses).argmin())
        raise StreamError(
            f"A trace needs finite losses. Round {worst} has {losses[worst]}."
        )
    return losses


def comparator_losses(block: Block, loss: Loss, points: Any) -> FloatArray:
    """The weighted loss of one point a round, (T, n) or (T, n, k): shape (T,)."""
    points = np.asarray(points, np.float64)
    try:
        bare = loss.prediction_loss(_predictions(block, points), np.asarray(block.y))
    except UnsupportedLossError:  # a loss of θ itself, or of Python functions
        rounds = zip(block.rounds(), points, strict=True)
        return np.array([Round(loss, *f).value(z) for f, z in rounds])
    return np.asarray(block.weights * bare)


def least_squares_rows(block: Block, loss: Loss) -> tuple[FloatArray, FloatArray]:
    """A (T, m, n) and b (T, m, k) with round t's loss ½‖A_tθ - b_t‖².

    θ is (n, k) with k = 1 but for several targets. ``Tracking`` has the one feature 1,
    and the coordinates of its point are k targets.
    """
    if not isinstance(loss, QUADRATIC):
        names = ", ".join(kind.__name__ for kind in QUADRATIC)
        raise UnsupportedLossError(f"This needs one of {names}. Got {loss!r} instead.")
    y = np.asarray(block.y, np.float64)
    if isinstance(loss, Tracking):
        A, b = np.ones((len(y), 1, 1)), y[:, None, :]
    elif isinstance(loss, LinearMap):
        A, b = np.asarray(block.x, np.float64), y[:, :, None]
    else:
        A = np.asarray(block.x, np.float64)[:, None, :]
        b = y.reshape(len(y), 1, -1)
    root = np.sqrt(block.weights)[:, None, None]
    return root * A, root * b


def _predictions(block: Block, points: FloatArray) -> FloatArray:
    if block.x is None:
        return points
    x = np.asarray(block.x, np.float64)
    maps = "tmn,tn->tm" if x.ndim == 3 else "tn,tn...->t..."
    return np.asarray(np.einsum(maps, x, points))
