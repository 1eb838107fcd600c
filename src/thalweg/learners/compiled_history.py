"""Following the leading history in a kernel, for experts that have one of their own."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.kernels.leading_history import (
    GRADIENT,
    NEWTON,
    POINT_GRADIENT,
    follow_history,
)
from thalweg.learners.gradient import DiscountedGradient, GradientState
from thalweg.learners.kernel_arrays import KernelArrays, loss_formula
from thalweg.learners.newton import DiscountedNewton, NewtonState
from thalweg.losses import Loss
from thalweg.types import FloatArray

Expert = DiscountedNewton | DiscountedGradient


class LivingCopies(NamedTuple):
    """The copies of an expert that are alive, oldest first."""

    log_weights: FloatArray  # (K,)
    active_from: npt.NDArray[np.int64]  # (K,) the round that each started in
    states: tuple[Any, ...]


def play_history(
    expert: Expert, rate: float, copies: LivingCopies, loss: Loss, arrays: KernelArrays
) -> LivingCopies:
    """Play the rounds of ``arrays``, which are filled in; the copies after them."""
    newest = copies.states[-1]  # it has seen no round yet: so the next one starts
    last_round = int(copies.active_from[-1]) + len(arrays.y)
    # At most 2⌊log₂t⌋ + 2 copies are alive in round t.
    slots = _slots(copies.states, 2 * last_round.bit_length() + 2)
    living = _living(copies, len(slots[0]))
    factor = newest.factor if isinstance(newest, NewtonState) else np.empty((0, 0))
    start = newest.theta, factor.astype(newest.theta.dtype)
    settings, t = _settings(expert, loss, newest.theta), 0
    columns = arrays.by_column()
    data, trace = columns[:4], columns[4:]
    while t < len(arrays.y):
        t = follow_history(*settings, float(rate), slots, living, start, data, trace, t)
        _project_outsiders(expert, slots)
    order, active_from, log_weights, count = living
    states = [_state(slots, slot) for slot in order[: count[0]]]
    return LivingCopies(
        log_weights[: count[0]].copy(), active_from[: count[0]].copy(), tuple(states)
    )


def _slots(states: tuple[Any, ...], size: int) -> tuple[Any, ...]:
    """θ, factor, discounted count and whether it is outside, of each slot."""
    theta = states[0].theta
    has_factor = isinstance(states[0], NewtonState)
    shape = states[0].factor.shape if has_factor else (0, 0)
    thetas, factors = (
        np.zeros((size, *array_shape), theta.dtype)
        for array_shape in (theta.shape, shape)
    )
    counts, outside = np.zeros(size), np.zeros(size, np.bool_)
    for slot, state in enumerate(states):
        thetas[slot] = state.theta
        if has_factor:
            factors[slot] = state.factor
        else:
            counts[slot] = state.discounted_count
    return thetas, factors, counts, outside


def _state(slots: tuple[Any, ...], slot: int) -> NewtonState | GradientState:
    thetas, factors, counts, _ = slots
    if factors.size:
        return NewtonState(thetas[slot].copy(), factors[slot].copy())
    return GradientState(thetas[slot].copy(), float(counts[slot]))


def _living(copies: LivingCopies, size: int) -> tuple[Any, ...]:
    """The order of the slots, starts and log weights in this order, and their count."""
    count = len(copies.states)
    active_from, log_weights = np.zeros(size, np.int64), np.zeros(size)
    active_from[:count], log_weights[:count] = copies.active_from, copies.log_weights
    return np.arange(size), active_from, log_weights, np.array([count])


def _settings(expert: Expert, loss: Loss, theta: FloatArray) -> tuple[Any, ...]:
    """The kind and settings of the expert, the loss's formula, the domain's limits."""
    is_point, *formula = loss_formula(loss)
    kind = NEWTON if isinstance(expert, DiscountedNewton) else GRADIENT
    if is_point:
        kind = POINT_GRADIENT
    domain = expert.domain.limits(theta)
    return (kind, *expert._kernel_settings), tuple(formula), domain


def _project_outsiders(expert: Expert, slots: tuple[Any, ...]) -> None:
    """Copies that have left the domain go to its nearest point; only Newton's can."""
    thetas, factors, _, outside = slots
    for slot in np.flatnonzero(outside):
        assert isinstance(expert, DiscountedNewton)
        thetas[slot] = expert._project(thetas[slot], factors[slot])
    outside[:] = False
