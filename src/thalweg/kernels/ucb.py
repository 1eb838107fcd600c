"""UCB of a fixed number of arms, discounted or over a window: loops of bandits/ucb.py.

An arm that was never played has an infinite index, and so has one whose plays are all
forgotten. Among equal indices the first is chosen.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.lin_ucb import first_largest


@kernel(ieee_division=True)
def ucb_indices(sums, counts, numerator, out):
    """Mean reward plus √(numerator / count) of every arm into ``out``; all are (K,)."""
    for k in range(sums.size):
        if counts[k] > 0:
            out[k] = sums[k] / counts[k] + math.sqrt(numerator / counts[k])
        else:
            out[k] = np.inf


@kernel(ieee_division=True)
def discounted_numerator(counts, bound, exponent):
    """4B²ξ log n, n the discounted number of plays of all arms; 0 where n < 1."""
    total = 0.0
    for k in range(counts.size):
        total += counts[k]
    return 4 * bound * bound * exponent * math.log(max(total, 1.0))


@kernel(ieee_division=True)
def window_numerator(rounds, window, bound, exponent):
    """B²ξ log min(t, τ) after t rounds."""
    return bound * bound * exponent * math.log(max(min(rounds, window), 1))


@kernel(ieee_division=True)
def learn_discounted(sums, counts, gamma, arm, reward):
    """Learn the reward of an arm, in place; sums and counts are (K,)."""
    for k in range(sums.size):
        sums[k] *= gamma
        counts[k] *= gamma
    sums[arm] += reward
    counts[arm] += 1


@kernel
def learn_in_window(sums, counts, arms, rewards, rounds, arm, reward):
    """The same over the last τ rounds: arms and rewards (τ,) are ring buffers.

    The oldest round is subtracted. Its rounding is removed each time the ring is full:
    sums are then computed again.
    """
    place = rounds % arms.size
    if rounds >= arms.size:
        oldest = int(arms[place])
        sums[oldest] -= rewards[place]
        counts[oldest] -= 1
        if counts[oldest] == 0:
            sums[oldest] = 0
    arms[place], rewards[place] = arm, reward
    sums[arm] += reward
    counts[arm] += 1
    if place == arms.size - 1:
        for k in range(sums.size):
            sums[k] = 0
        for s in range(arms.size):
            sums[int(arms[s])] += rewards[s]


@kernel(ieee_division=True, nogil=True)
def discounted_ucb_run(sums, counts, gamma, bound, exponent, table, choices):
    """Choose an arm and learn its reward, round by round, in place.

    table (T, K) holds the reward of every arm, choices (T,) takes the chosen ones.
    """
    indices = np.empty(sums.size)
    for t in range(len(table)):
        numerator = discounted_numerator(counts, bound, exponent)
        ucb_indices(sums, counts, numerator, indices)
        k = first_largest(indices)
        choices[t] = k
        learn_discounted(sums, counts, gamma, k, table[t, k])


@kernel(ieee_division=True, nogil=True)
def window_ucb_run(
    sums, counts, arms, rewards, rounds, bound, exponent, table, choices
):  # fmt: skip
    """The same over a window; ``rounds`` were played before."""
    indices = np.empty(sums.size)
    for t in range(len(table)):
        numerator = window_numerator(rounds + t, arms.size, bound, exponent)
        ucb_indices(sums, counts, numerator, indices)
        k = first_largest(indices)
        choices[t] = k
        learn_in_window(sums, counts, arms, rewards, rounds + t, k, table[t, k])
