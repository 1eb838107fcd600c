"""Inner loop of learners/experts.py where every expert is recursive least squares."""

from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.kernels.jit import kernel
from thalweg.kernels.rls import rls
from thalweg.kernels.rls_bank.choice import chosen
from thalweg.kernels.rls_bank.group import gather, layout, rooms, scatter
from thalweg.kernels.rls_bank.mixture import mix_rounds, seated
from thalweg.kernels.rls_bank.together import play_together
from thalweg.kernels.simd import WIDTH

Array = npt.NDArray[Any]
CHUNK = 64
"""Rounds that one expert plays before the next does: its matrix stays near by."""


def bank(
    theta: Array,
    factor: Array,
    log_weights: Array,
    settings: tuple[Array, Array, Array],
    mixing_rate: float,
    data: tuple[Array, Array, Array, Array],
    trace: tuple[Array, Array, Array, Array],
) -> None:
    """Play T rounds with N experts, updating their states in place.

    States: theta (N, n, k), factor (N, n+3, n), log_weights (N,). Settings: gamma,
    floor, pull (N,). Data: x (T, n), y (T, k), weight and elapsed (T,) or empty for all
    ones. The trace, to be filled: out (T, k), loss (T,), played (T, n, k) or empty,
    weights (T, N) or empty.
    """
    together = chosen(theta, settings[1], len(data[1]))
    # Array by array: to hand over tuples takes longer than a round.
    play(
        theta, factor, log_weights, *settings, mixing_rate, *data, *trace, together
    )  # fmt: skip


@kernel(ieee_division=True, nogil=True)
def play(
    theta, factor, log_weights, gamma, floor, pull, mixing_rate,
    x, y, weight, elapsed, out, loss, played, weights, together,
):  # fmt: skip
    """``bank``, told which groups of eight experts are played ``together``.

    That is (⌈N/8⌉,), or None if none is: nothing is compiled then of what it takes.
    """
    settings, data = (gamma, floor, pull), (x, y, weight, elapsed)
    trace = out, loss, played, weights
    experts, n, targets = theta.shape
    rounds = len(y)
    chunk = min(CHUNK, rounds)
    at, seats = layout(n, targets), seated(log_weights)
    # What the experts say and lose in a chunk, and the points they play if asked for.
    heard = np.empty((chunk, targets, seats.size)), np.empty((chunk, seats.size))
    points = np.empty((experts, min(chunk, len(played)), n, targets), theta.dtype)
    if together is not None:
        room = rooms(together.size if together.any() else 0, at.end)
        gather(theta, factor, room, at, together)
    for start in range(0, rounds, chunk):
        span = start, min(start + chunk, rounds)
        for first in range(0, experts, WIDTH):
            shared = settings, data, span, first, heard, points
            if together is None or not together[first // WIDTH]:
                _play_alone(theta, factor, *shared)
            else:
                play_together(room[first // WIDTH], at, *shared)
        mix_rounds(seats, mixing_rate, heard, points, data, span, trace)
    if together is not None:
        scatter(room, at, theta, factor, together)
    for i in range(experts):
        log_weights[i] = seats[i]


@kernel(ieee_division=True)
def _play_alone(theta, factor, settings, data, span, first, heard, points):
    """The rounds of ``span`` by up to eight experts, one after the other."""
    gamma, floor, pull = settings
    x, y, weight, elapsed = data
    said, incurred = heard
    these, rounds = slice(*span), span[1] - span[0]
    out, loss = np.empty((rounds, y.shape[1]), y.dtype), np.empty(rounds, y.dtype)
    for i in range(first, min(first + WIDTH, len(theta))):
        rls(
            theta[i], factor[i], gamma[i], floor[i], pull[i], x[these], y[these],
            weight[these], elapsed[these], out, loss, points[i],
        )  # fmt: skip
        for t in range(rounds):
            incurred[t, i] = loss[t]
            for j in range(y.shape[1]):
                said[t, j, i] = out[t, j]
