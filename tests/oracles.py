"""Slow, obvious implementations that the library is compared with."""

import numpy as np


def discounted_weights(discount, block):
    """What each round weighs after the last one: w_i γ^(time passed since round i)."""
    rounds = len(block.y)
    elapsed = np.ones(rounds) if block.elapsed is None else block.elapsed
    weight = np.ones(rounds) if block.weight is None else block.weight
    passed = np.cumsum(elapsed[::-1])[::-1]
    since = np.append(passed[1:], 0.0)
    return weight * discount**since, discount ** passed[0]


def discounted_least_squares(theta_1, discount, ridge, block):
    """argmin Σ γ^(T-i) ½(x_i·θ - y_i)² + γ^T (ε/2)‖θ - θ_1‖², solved outright."""
    weight, last = discounted_weights(discount, block)
    prior = ridge * last
    information = prior * np.eye(len(theta_1)) + (block.x.T * weight) @ block.x
    return np.linalg.solve(
        information, prior * theta_1 + (block.x.T * weight) @ block.y
    )


def nearest_least_squares(theta_1, discount, block):
    """The weighted least-squares fit nearest to θ_1, features in units of first sight.

    What RLS with P_0 → 0 tends to: each feature is measured in its first value.
    """
    unit = np.array([column[column != 0][0] for column in block.x.T])
    root = np.sqrt(discounted_weights(discount, block)[0])[:, None]
    x, start = root * block.x / unit, theta_1 * unit
    residual = root[:, 0] * block.y - x @ start
    return (start + np.linalg.pinv(x, rcond=1e-11) @ residual) / unit


def retained_ridge(discount, ridge, block, leaky):
    """θ_t of RLS with A_t = γA_{t-1} + x xᵀ + (1-γ)δI, A_0 = δI, round by round."""
    n = block.x.shape[1]
    A, b, theta, played = ridge * np.eye(n), np.zeros(n), np.zeros(n), []
    for x, y in zip(block.x, block.y, strict=True):
        played.append(theta)
        A = discount * A + np.outer(x, x) + (1 - discount) * ridge * np.eye(n)
        b = discount * b + x * y
        step = np.linalg.solve(A, x) * (y - x @ theta)
        theta = np.linalg.solve(A, b) if leaky else theta + step
    return np.array(played)


def algorithm_1(theta, discount, eta, ridge, curvature, loss, block, project):
    """The paper's first box with dense matrices: θ_1 … θ_{T+1} and P_T."""
    P, played = ridge * np.eye(theta.size), [theta]
    for x, y, weight, elapsed in block.rounds():
        grad = weight * loss.grad(theta, x, y)
        H = weight * loss.hess(theta, x, y)
        P = discount**elapsed * P + (
            np.outer(grad, grad) if curvature == "gradient" else H
        )
        theta = project(theta - np.linalg.inv(P) @ grad / eta, P)
        played.append(theta)
    return np.array(played), P


def gradient_descent(theta, step_size, loss, block, project):
    """θ_1 … θ_{T+1} of θ ← Π(θ - η_t ∇f_t(θ)); ``step_size`` gives η_t for t ≥ 1."""
    played = [theta]
    for t, (x, y, _, _) in enumerate(block.rounds(), 1):
        theta = project(theta - step_size(t) * loss.grad(theta, x, y))
        played.append(theta)
    return np.array(played)


def algorithm_2(paths, rate, value):
    """The paper's second box, given each expert's own path, shape (N, T, n)."""
    i = np.arange(1, len(paths) + 1)
    w = (1 + 1 / len(paths)) / (i * (i + 1))
    played = []
    for t in range(paths.shape[1]):
        played.append(w @ paths[:, t])
        w = w * np.exp(-rate * np.array([value(t, path[t]) for path in paths]))
        w = w / w.sum()
    return np.array(played), w
