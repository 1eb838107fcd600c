"""A mixture of learners whose own runs are compiled, in chunks of rounds.

An expert learns from its own gradients and never sees the mixture. So each plays a
chunk of rounds as it would alone, in its own kernel, and one more kernel mixes them:
the definition, which is ``Experts.update``, in another order.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.kernels.compiler.simd import WIDTH
from thalweg.kernels.rls_bank.exponential_weights import mix_rounds, padded_log_weights
from thalweg.learners.base import Learner
from thalweg.learners.kernel_arrays import KernelArrays
from thalweg.losses import Loss
from thalweg.types import Block, FloatArray

CHUNK_NUMBERS = 2**18
"""Limit of the predictions and coordinates that experts play in a chunk: 2 MiB."""


def play_chunks(
    experts: Sequence[Learner[Any]],
    states: Sequence[Any],
    log_weights: FloatArray,
    mixing_rate: float,
    loss: Loss,
    block: Block,
    arrays: KernelArrays,
    weights: FloatArray,
) -> tuple[tuple[Any, ...], FloatArray]:
    """Play the block with experts of compiled runs, from states and log weights;
    returns both after it.

    ``arrays`` and ``weights``, (T, N) or empty, are filled in. The loss must be one of
    predictions alone, as every loss with a kernel is.
    """
    states, padded = list(states), padded_log_weights(log_weights)
    out, played = arrays.out, arrays.points
    is_recorded, has_targets = len(played) > 0, states[0].theta.ndim == 2
    trace = (
        out if out.ndim == 2 else out[:, None],
        played if has_targets else played[..., None],
        weights,
    )
    numbers = len(experts) * (states[0].theta.size + out[0].size)
    rounds = max(CHUNK_NUMBERS // numbers, 1)
    for start in range(0, len(block), rounds):
        span = start, min(start + rounds, len(block))
        results, points = _play_alone(
            experts, states, loss, block[slice(*span)], is_recorded
        )
        mix_rounds(padded, mixing_rate, results, points, span, trace)
    arrays.loss[:] = block.weights * loss.prediction_loss(out, block.y)
    return tuple(states), padded[: len(experts)].copy()


def _play_alone(
    experts: Sequence[Learner[Any]],
    states: list[Any],
    loss: Loss,
    chunk: Block,
    is_recorded: bool,
) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
    """Let every expert play the chunk; ``states`` are replaced by those after it.

    Returns the results and points that ``mix_rounds`` takes.
    """
    rounds, theta = len(chunk), states[0].theta
    lanes = -(-len(experts) // WIDTH) * WIDTH
    predictions = np.empty((rounds, chunk.y[0].size, lanes))
    losses = np.empty((rounds, lanes))
    by_target = (len(theta), theta[0].size)
    points = np.empty(
        (len(experts), rounds if is_recorded else 0, *by_target), theta.dtype
    )
    for i, expert in enumerate(experts):
        record = ("theta",) if is_recorded else ()
        states[i], trace = expert._play(states[i], loss, chunk, record)
        predictions[:, :, i] = trace.prediction.reshape(rounds, -1)
        losses[:, i] = trace.loss
        if trace.theta is not None:
            points[i] = trace.theta.reshape(rounds, *by_target)
    if chunk.weight is not None:  # 0 times an infinite loss is 0
        losses[chunk.weight == 0] = 0
    return (predictions, losses), points
