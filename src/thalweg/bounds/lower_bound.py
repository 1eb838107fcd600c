"""Lower bounds on every learner's regret: Yuan & Lamperski (2020), Proposition 1."""

import math

import numpy as np

from thalweg import checks


def lower_bound(horizon: int, path_length: float) -> float:
    """¾V²/T: no learner's expected regret on ``streams.coin_flips`` is less.

    For f_t = (θ-ε_t)², ε_t = ±2σ fair coins, against ε_t/2: 3σ²T, with σ = V/2T. The
    paper states it by an exponent, see ``lower_bound_by_exponent``. It says little for
    small V; the known minimax rate is T^⅓V^⅔, see ``minimax_rate``.
    """
    checks.require_argument("lower_bound", "horizon", horizon, "[1, inf)")
    checks.require_argument("lower_bound", "path_length", path_length, "[0, inf)")
    return 0.75 * path_length**2 / horizon


def lower_bound_by_exponent(horizon: int, exponent: float) -> float:
    """``lower_bound`` in the paper's terms: ¾(VT)^(γ₀/2) at V = T^((2+γ₀)/(4-γ₀)).

    ``exponent`` is γ₀ in (0, 1). Erratum E10: the V of the paper's proof is twice that
    of its statement. With the statement's, the constant is ¾.
    """
    checks.require_argument("lower_bound_by_exponent", "horizon", horizon, "[1, inf)")
    checks.require_argument("lower_bound_by_exponent", "exponent", exponent, "(0, 1)")
    path_length = math.pow(horizon, (2 + exponent) / (4 - exponent))
    return 0.75 * math.pow(path_length * horizon, exponent / 2)


def minimax_rate(horizon: int, path_length: float) -> float:
    """T^⅓V^⅔: how the least possible regret grows on ``streams.coin_blocks``.

    A rate without its constant, recalled from the literature after the paper (Baby &
    Wang): √(TV) is above it by (T/V)^(1/6). Compare slopes with it, not numbers.
    """
    checks.require_argument("minimax_rate", "horizon", horizon, "[1, inf)")
    checks.require_argument("minimax_rate", "path_length", path_length, "[0, inf)")
    return math.cbrt(horizon * path_length**2)


def static_lower_bound(horizon: int) -> float:
    """⅔(1 + ½ + ... + 1/(T+1)): no learner's static regret is less on biased coins.

    The branch log T of Proposition 1, for the stream ``streams.biased_coins`` with
    f_t = (θ-ε_t)², in expectation over its bias p. The paper cites a bound of that
    order; this one is ours, and exact. Given m coins the best prediction is the mean
    of 2p-1 given them, whose variance is on average 2/3(m+2). So the losses are
    at least v + 2/3(t+1) in round t, where v = E 4p(1-p) = ⅔, while the best fixed
    point in hindsight loses (T-1)v. Newton with γ = 1 and ε = 4 plays that best
    prediction.
    """
    checks.require_argument("static_lower_bound", "horizon", horizon, "[1, inf)")
    return 2 / 3 * float((1 / np.arange(1, horizon + 2)).sum())
