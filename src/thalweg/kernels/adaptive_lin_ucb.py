"""A bank of discounted LinUCBs over whole arrays: loops of bandits/adaptive_lin_ucb.py.

All of them learn every reward. Their weights follow how well they predicted it: a
factor exp(-(r - a·θ̂)²/2σ²), then a fixed share 1/(t + 1) that goes to all alike.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.lin_ucb import (
    confidence_width,
    first_largest,
    learn_reward,
    lin_ucb_indices,
)


@kernel(ieee_division=True)
def reweight(log_weights, thetas, noise, action, reward, rounds):
    """Weights after a reward, in place; log_weights (m,), thetas (m, n)."""
    m = log_weights.size
    largest = -np.inf
    for b in range(m):
        error = reward
        for i in range(action.size):
            error -= action[i] * thetas[b, i]
        log_weights[b] -= 0.5 * (error / noise) ** 2
        largest = max(largest, log_weights[b])
    total = 0.0
    for b in range(m):
        total += math.exp(log_weights[b] - largest)
    share = 1 / (rounds + 2)  # after round t = rounds + 1
    for b in range(m):
        weight = math.exp(log_weights[b] - largest) / total
        log_weights[b] = math.log((1 - share) * weight + share / m)


@kernel(ieee_division=True)
def learn_in_bank(bank, settings, action, reward, rounds, v, gain):
    """Reweight and learn in all of the bank, in place.

    ``bank`` are log_weights (m,), thetas (m, n), factors (m, n+3, n), squared (m, n, n)
    and targets (m, n); settings (m, 7), a row as ``confidence_width`` takes it.
    """
    log_weights, thetas, factors, squared, targets = bank
    reweight(log_weights, thetas, settings[0, 2], action, reward, rounds)
    for b in range(log_weights.size):
        gamma, ridge = settings[b, 0], settings[b, 1]
        learn_reward(
            thetas[b], factors[b], squared[b], targets[b], gamma, ridge,
            action, reward, v, gain,
        )  # fmt: skip


@kernel(ieee_division=True)
def bank_indices(bank, settings, rounds, actions, out, indices, v):
    """The weighted mean of the bank's indices into ``out`` (K,); indices (K,), v (n,).

    The last two are to work in.
    """
    log_weights, thetas, factors, squared, _ = bank
    for k in range(out.size):
        out[k] = 0
    for b in range(log_weights.size):
        own = settings[b]
        row = (own[0], own[1], own[2], own[3], own[4], own[5], own[6])
        width = confidence_width(rounds, v.size, row)
        lin_ucb_indices(
            thetas[b], factors[b], squared[b], width, actions, indices, v
        )  # fmt: skip
        weight = math.exp(log_weights[b])
        for k in range(out.size):
            out[k] += weight * indices[k]


@kernel(ieee_division=True, nogil=True)
def adaptive_run(bank, settings, rounds, actions, rewards, choices):
    """Choose an action and learn its reward, round by round, in place.

    ``rounds`` were played before. actions (T, K, n), rewards (T, K), choices (T,).
    """
    n, arms = actions.shape[2], actions.shape[1]
    v, gain = np.empty(n), np.empty(n)
    out, indices = np.empty(arms), np.empty(arms)
    for t in range(len(actions)):
        bank_indices(bank, settings, rounds + t, actions[t], out, indices, v)
        k = first_largest(out)
        choices[t] = k
        learn_in_bank(
            bank, settings, actions[t, k], rewards[t, k], rounds + t, v, gain
        )  # fmt: skip
