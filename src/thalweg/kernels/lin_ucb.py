"""Discounted LinUCB over whole arrays of rounds: the inner loop of bandits/lin_ucb.py.

Before a round V = λI + Σ γ^k aaᵀ and Ṽ = λI + Σ γ^2k aaᵀ over the actions a played
k + 1 rounds ago, b = Σ γ^k r a over their rewards r, and θ̂ = V⁻¹b. The ridge λI is not
forgotten. V⁻¹ is kept as UD factors (kernels/ud_factor.py), Ṽ and b as they are. The
action with the largest index

    a·θ̂ + β ‖a‖,    ‖a‖² = aᵀV⁻¹ṼV⁻¹a,

is chosen, the first of them where several are equal.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import inner_function, kernel
from thalweg.kernels.ud_factor import GROWTH, forget, learn, solve


@inner_function
def confidence_width(rounds, n, settings):
    """β, the radius of the confidence ellipsoid after this number of rounds.

    ``settings`` are γ, λ, σ, S, L, log 1/δ and the factor of exploration.
    """
    gamma = settings[0]
    if gamma < 1:
        decayed = -math.expm1(2 * rounds * math.log(gamma))
        return weighted_width(decayed / ((1 - gamma) * (1 + gamma)), n, settings)
    return weighted_width(float(rounds), n, settings)


@inner_function
def weighted_width(weight, n, settings):
    """β where the squared weights γ^2k of past rounds sum to ``weight``.

    √λ S + σ√(2 log 1/δ + n log(1 + L² weight / λn)), times the factor of exploration.
    """
    _, ridge, noise, radius, action_bound, log_inverse, exploration = settings
    log_det = n * math.log(1 + action_bound * action_bound * weight / (ridge * n))
    deviation = noise * math.sqrt(2 * log_inverse + log_det)
    return exploration * (math.sqrt(ridge) * radius + deviation)


@kernel(ieee_division=True)
def add_row(factor, v, gain):
    """V ← V + vvᵀ; gain is (n,) to work in."""
    learn(factor, v, gain)


@kernel(ieee_division=True)
def learn_reward(
    theta, factor, squared, target, gamma, ridge, action, reward, v, gain
):  # fmt: skip
    """Learn the reward of an action, in place.

    Shapes: theta (n,) is θ̂, factor (n+3, n) of V, squared (n, n) Ṽ, target (n,) b,
    action (n,); v and gain are (n,) to work in.
    """
    n = action.size
    forget(factor, gamma)
    factor[GROWTH, 0] = 1  # not used here, and it would overflow
    for i in range(n):
        v[i] = action[i]
    add_row(factor, v, gain)
    if gamma < 1:
        root = math.sqrt((1 - gamma) * ridge)
        for i in range(n):
            v[i] = 0
        for i in range(n):
            v[i] = root
            add_row(factor, v, gain)
            v[i] = 0
    for i in range(n):
        target[i] = gamma * target[i] + reward * action[i]
        for j in range(i + 1):
            entry = gamma * gamma * squared[i, j] + action[i] * action[j]
            squared[i, j] = entry
            squared[j, i] = entry
        squared[i, i] += (1 - gamma) * (1 + gamma) * ridge
    solve(factor, target, theta)


@kernel(ieee_division=True)
def lin_ucb_indices(theta, factor, squared, width, actions, out, v):
    """The index of every action into ``out`` (K,); actions (K, n), v (n,) for work."""
    n = theta.size
    for k in range(len(actions)):
        solve(factor, actions[k], v)  # V⁻¹a
        mean, square = 0.0, 0.0
        for i in range(n):
            mean += actions[k, i] * theta[i]
            row = 0.0
            for j in range(n):
                row += squared[i, j] * v[j]
            square += v[i] * row
        out[k] = mean + width * math.sqrt(max(square, 0.0))


@kernel
def first_largest(values):
    """The place of the largest value, the first of them where several are equal."""
    best = 0
    for k in range(1, values.size):
        if values[k] > values[best]:
            best = k
    return best


@kernel(ieee_division=True, nogil=True)
def lin_ucb_run(
    theta, factor, squared, target, rounds, settings, actions, rewards, choices
):  # fmt: skip
    """Choose an action and learn its reward, round by round, in place.

    ``rounds`` were played before. actions (T, K, n), rewards (T, K) of every action, of
    which only that of the chosen one is read; its number goes to choices (T,).
    """
    n = theta.size
    v, gain = np.empty(n), np.empty(n)
    indices = np.empty(actions.shape[1])
    gamma, ridge = settings[0], settings[1]
    for t in range(len(actions)):
        width = confidence_width(rounds + t, n, settings)
        lin_ucb_indices(theta, factor, squared, width, actions[t], indices, v)
        k = first_largest(indices)
        choices[t] = k
        learn_reward(
            theta, factor, squared, target, gamma, ridge,
            actions[t, k], rewards[t, k], v, gain,
        )  # fmt: skip
