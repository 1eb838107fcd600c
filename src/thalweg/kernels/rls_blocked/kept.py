"""Blocks with a ridge to keep, in covariance form.

``floor.top_up`` raises the neediest coordinates round after round, and which these are
depends on every C_kk at that moment. So the covariance is there at every moment, if not
in one piece (lazy.py), and each step is the one that ``top_up`` takes.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.rls_blocked import lazy, triangles
from thalweg.kernels.rls_blocked.accumulate import inner
from thalweg.kernels.rls_blocked.safe import block_end, forgetting, look_ahead, note
from thalweg.kernels.simd import WIDTH, larger, load, most, spread
from thalweg.kernels.windup import IN_NEED, MOST, TIE, TINY

WORST = 1e6
"""Of P_kk C_kk, by which subtracting from C may multiply rounding."""


class Ridge(NamedTuple):
    """What ``top_up`` is to keep."""

    size: Any  # δ
    pull: Any
    gamma: Any
    turns: Any  # how many coordinates it raises in a round


class Held(NamedTuple):
    """What a block works on, beside the covariance; w as in lazy.py."""

    targets: Any  # (k, w) θ by target
    information: Any  # (n,) P_kk
    ridge: Any  # (w,) how much of P_kk is ridge
    v: Any  # (w,) a round's features


@kernel
def served(n, gamma):
    """How many coordinates ``top_up`` raises in a round."""
    return min(max(math.ceil(2 * n * (1 - gamma)), 1), MOST)


@kernel
def most_raised(n, gamma):
    """The largest target of ``top_up`` over δ: that where all coordinates are quiet."""
    turns = served(n, gamma)
    return 2.0 if gamma <= 0.5 ** (2 * turns / n) else gamma ** (-0.5 * n / turns)


@kernel(ieee_division=True, nogil=True)
def play(theta, factor, gamma, floor, pull, rounds, t):
    """Play blocks from round t on for as long as they are safe; where they end."""
    n, started = len(theta), t
    ridge = Ridge(floor, pull, gamma, served(n, gamma))
    ahead = look_ahead(n, lazy.MOST_ROWS // (1 + ridge.turns))
    now = lazy.begin(factor)
    held = _held(theta, factor, now)
    while True:
        end = block_end(factor, now.variance, gamma, rounds, t, ahead)
        if end == t or not _is_exact(now, held, ahead, floor, end - t):
            break
        _block(now, held, ridge, ahead, rounds, t, end)
        note(factor, ahead, end - t)
        t = end
    if t > started:
        for i in range(n):
            factor[n + 1, i] = held.ridge[i]
            for j in range(theta.shape[1]):
                theta[i, j] = held.targets[j, i]
        triangles.factorise(now.covariance, factor)
    return t


@kernel
def _held(theta, factor, now):
    (n, k), width = theta.shape, len(now.variance)
    information, targets, ridge = np.empty(n), np.zeros((k, width)), np.zeros(width)
    triangles.information_diagonal(factor, information)
    for i in range(n):
        ridge[i] = factor[n + 1, i]
        for j in range(k):
            targets[j, i] = theta[i, j]
    return Held(targets, information, ridge, np.zeros(width))


@kernel
def _is_exact(now, held, ahead, floor, size):
    """Whether P_kk C_kk stays below ``WORST``, C at the start with P at the end."""
    for k in range(len(ahead.peak)):
        peak = ahead.peak[k]
        learnt = size * peak * peak + 2 * floor * (size + 1)
        product = now.variance[k] * (held.information[k] + learnt)
        if not product <= WORST * ahead.left[size - 1]:
            return False
    return True


@kernel(ieee_division=True)
def _block(now, held, ridge, ahead, rounds, t, end):
    images, scale, count = lazy.images(now, rounds.x, t, end), 1.0, 0
    x, v, information = rounds.x, held.v, held.information
    for r in range(t, end):
        discount, weight = ahead.discount[r - t], ahead.weight[r - t]
        left = forgetting(discount)
        scale /= left
        for i in range(len(information)):
            v[i] = x[r, i]
            information[i] = information[i] * left + weight * v[i] * v[i]
        image = images[r - t]
        lazy.lessen(now, count, v, image)
        leverage = inner(v, image)
        gain = lazy.learn(now, count, image, leverage, scale * weight)
        rounds.loss[r] = _reveal(held, image, gain, weight, rounds, r)
        scale, count = _top_up(now, held, ridge, discount, scale, count + 1, image)
    lazy.settle(now, count, scale)


@kernel
def _reveal(held, image, gain, weight, rounds, r):
    """Predict round r and learn from its error; the loss."""
    loss, root, targets, out = 0.0, math.sqrt(weight), held.targets, rounds.out
    for j in range(len(targets)):
        out[r, j] = inner(held.v, targets[j])
        error = rounds.y[r, j] - out[r, j]
        for i in range(len(image)):
            targets[j, i] += image[i] * (gain * error)
        loss += 0.5 * (root * error) * (root * error)
    return loss


@kernel(ieee_division=True)
def _top_up(now, held, ridge, discount, scale, count, image):
    """``floor.top_up``, step by step; scale and count after it."""
    information, kept, variance = held.information, held.ridge, now.variance
    n, quiet = len(information), 0
    for k in range(n):
        kept[k] = kept[k] * discount if kept[k] * discount > TINY else TINY
        quiet += scale * variance[k] * ridge.size > IN_NEED
    target = ridge.size * min(ridge.gamma ** (-0.5 * quiet / ridge.turns), 2.0)
    for _ in range(ridge.turns):
        worst, _ = _neediest(variance, kept, target, scale)
        if worst < 0:
            return scale, count
        raised = target - kept[worst]
        kept[worst] = target
        information[worst] += raised
        lazy.column(now, count, worst, image)
        gain = lazy.learn(now, count, image, image[worst], scale * raised)
        count += 1
        if ridge.pull:
            _pull(held.targets, image, gain, worst)
    _, need = _neediest(variance, kept, target, scale)
    if need > 1:
        back = max(1 / need, discount)
        scale *= back
        for k in range(n):
            kept[k] /= back
            information[k] /= back
    return scale, count


@kernel
def _pull(targets, image, gain, k):
    """θ to where it minimises the sum with the ridge on θ_k, as if 0 had been seen."""
    for j in range(len(targets)):
        step = gain * targets[j, k]
        for i in range(len(image)):
            targets[j, i] -= image[i] * step


@kernel
def _neediest(variance, kept, target, scale):
    """The first k with the largest (target - r_k) C_kk, and that; -1 if none needs."""
    highest = spread(0.0)
    for k in range(0, len(kept), WIDTH):
        needs = _need(load(variance, k), load(kept, k), target, scale)
        highest = larger(highest, needs)
    top = most(highest)
    if top > 0:
        for k in range(len(kept)):
            if _need(variance[k], kept[k], target, scale) >= top * (1 - TIE):
                return k, top
    return -1, 0.0


@kernel
def _need(variance, kept, target, scale):
    return (target - kept) * (scale * variance)
