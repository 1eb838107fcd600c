r"""Exponential weights on discounted losses, in units of the least of them.

.. math:: L_k \gets d L_k + (y - q_k)^2, \quad N \gets d N + 1, \quad
          w_k \propto \exp(-\tfrac{1}{10} \max(N, 1) (L_k - L_{min}) / L_{min})

and of all weight 1/1000 is given in equal parts. Experts are scored from the first
round on, before they vote. Nothing is proven of it.

``memo`` holds the K losses, then N.
"""

import math

from numba import njit

RATE = 0.1
EQUAL_PART = 1e-3


@njit(cache=True)
def weigh(memo, active, shares):
    """The weights of the active experts."""
    least, voters = math.inf, 0.0
    for k in range(active.size):
        if active[k] > 0:
            least = min(least, memo[k])
            voters += 1
    rate = RATE * max(memo[-1], 1.0)
    total = 0.0
    for k in range(active.size):
        shares[k] = 0.0
        if active[k] > 0:
            behind = memo[k] - least
            if behind == 0:
                shares[k] = 1.0
            elif least > 0:
                shares[k] = math.exp(-rate * (behind / least))
            total += shares[k]
    for k in range(active.size):
        equal = EQUAL_PART * active[k] / voters
        shares[k] = (1 - EQUAL_PART) * shares[k] / total + equal


@njit(cache=True)
def learn(memo, said, discount, y, w):
    """Learn that ``y`` came where the experts ``said``."""
    for k in range(said.size):
        memo[k] = discount * memo[k] + w * (y - said[k]) ** 2
    memo[-1] = discount * memo[-1] + w
