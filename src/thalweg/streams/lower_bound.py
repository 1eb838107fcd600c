"""Lower-bound constructions: streams on which every learner has regret."""

import math

import numpy as np

from thalweg import checks
from thalweg.streams.synthetic import Seed, Stream
from thalweg.types import Block


def coin_flips(rounds: int, path_length: float, seed: Seed = 0) -> Stream:
    r"""The stream of Yuan & Lamperski (2020), Proposition 1: fair coins ±2σ.

    .. math:: f_t(\theta) = (\theta - \epsilon_t)^2, \quad z_t = \epsilon_t / 2

    No one can foresee a coin, so the expected regret against ``truth`` = z is at least
    3σ²T, while z has path length at most 2σ(T-1). Play it with ``Tracking``: that is
    ½(θ-y)², and the block's weight of 2 makes up for the half.

    ``path_length`` is V > 0 and sets σ = V/2T, which gives E R ≥ ¾V²/T. The paper
    sets σ by an exponent γ₀, and its statement and proof differ by a factor of 2 in V
    (erratum E10); V = T^((2+γ₀)/(4-γ₀)) here is the statement's.
    """
    checks.require_argument("coin_flips", "rounds", rounds, "[1, inf)")
    checks.require_argument("coin_flips", "path_length", path_length, "(0, inf)")
    sigma = path_length / (2 * rounds)
    coins = np.random.default_rng(seed).choice([-1.0, 1.0], (rounds, 1))
    block = Block(None, 2 * sigma * coins, weight=np.full(rounds, 2.0))
    return Stream(block, sigma * coins)


def coin_blocks(rounds: int, path_length: float, seed: Seed = 0) -> Stream:
    """Noise ±1 around a mean ±s that may flip at the end of every block.

    Blocks of L = ⌈(T/V)^⅔⌉ rounds, s = V / 2⌈T/L⌉: a block is too short for its mean to
    be learned, so every learner's regret against ``truth`` (path length ≤ V) grows
    like T^⅓V^⅔. That is the known minimax rate, recalled from the literature (Baby &
    Wang), not from the paper; no constant is claimed. Play it with ``Tracking``.

    ``path_length`` is V > 0; |y_t| ≤ 1 + s.
    """
    checks.require_argument("coin_blocks", "rounds", rounds, "[1, inf)")
    checks.require_argument("coin_blocks", "path_length", path_length, "(0, inf)")
    rng = np.random.default_rng(seed)
    length = math.ceil((rounds / path_length) ** (2 / 3))
    blocks = math.ceil(rounds / length)
    means = path_length / (2 * blocks) * rng.choice([-1.0, 1.0], blocks)
    truth = np.repeat(means, length)[:rounds, None]
    return Stream(Block(None, truth + rng.choice([-1.0, 1.0], (rounds, 1))), truth)


def biased_coins(rounds: int, seed: Seed = 0) -> Stream:
    r"""Coins ±1 of one bias, which is drawn uniformly and not revealed.

    .. math:: f_t(\theta) = (\theta - \epsilon_t)^2, \quad
              P(\epsilon_t = 1) = p, \quad p \sim U(0, 1)

    The log T of Yuan & Lamperski (2020), Proposition 1, which they cite: no learner's
    expected static regret is below ``bounds.static_lower_bound``. ``truth`` is 2p - 1.
    Play it with ``Tracking``; the block's weight of 2 makes up for its half.
    """
    checks.require_argument("biased_coins", "rounds", rounds, "[1, inf)")
    rng = np.random.default_rng(seed)
    bias = rng.uniform()
    coins = np.where(rng.uniform(size=(rounds, 1)) < bias, 1.0, -1.0)
    block = Block(None, coins, weight=np.full(rounds, 2.0))
    return Stream(block, np.full((rounds, 1), 2 * bias - 1))
