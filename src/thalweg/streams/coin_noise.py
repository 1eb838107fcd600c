"""Points that jump between two means, seen through the noise of a fair coin."""

import numpy as np

from thalweg import checks
from thalweg.streams.synthetic import Seed, Stream
from thalweg.types import Block


def coin_noise_jumps(
    rounds: int, jumps: int, mean: float = 0.4, noise: float = 0.6, seed: Seed = 0
) -> Stream:
    r"""A mean that jumps between ±``mean``, and fair coins ±``noise`` around it.

    .. math:: y_t = \mu_t + \sigma c_t, \qquad |\mu_t| = \text{mean}, \qquad c_t = \pm 1

    The ``jumps`` are evenly spaced and each of size Δ = 2·``mean``, so that ``truth`` =
    μ has path length V = Δ·``jumps``, and |y_t| ≤ ``mean`` + ``noise``. Play it with
    ``Tracking``.

    To leading order a fixed discount γ pays T(1-γ)σ²/4 for its noise and ΔV/4(1-γ) for
    the jumps. At the best γ that is ½σ√(ΔTV): √(TV), which the bounds of Yuan &
    Lamperski (2020), Corollaries 2 and 3 and Theorems 7 and 8, allow, is the true rate
    of discounted learners here. With the defaults the constant is 0.268.
    """
    checks.require_argument("coin_noise_jumps", "rounds", rounds, "[1, inf)")
    checks.require_argument("coin_noise_jumps", "jumps", jumps, f"[0, {rounds - 1}]")
    checks.require_argument("coin_noise_jumps", "mean", mean, "[0, inf)")
    checks.require_argument("coin_noise_jumps", "noise", noise, "[0, inf)")
    piece = np.arange(rounds) * (jumps + 1) // rounds
    truth = mean * np.where(piece % 2 == 0, 1.0, -1.0)[:, None]
    coins = np.random.default_rng(seed).choice([-1.0, 1.0], (rounds, 1))
    return Stream(Block(None, truth + noise * coins), truth)
