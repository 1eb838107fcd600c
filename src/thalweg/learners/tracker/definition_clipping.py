"""Limits of predictions, as the Tracker's definition has them (clipping.py)."""

import math

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.clipping import (
    AGREED,
    AGREED_MARGIN,
    JUMP_RATIO,
    LIMITED_ROUNDS,
    MAX_USUAL_STEP,
    MIN_STEPS,
    MIN_SURPRISE,
    RANGE_MARGIN,
    RETURN_RATIO,
    STEP_MARGIN,
    STEP_MEMORY,
    USUAL_STEPS,
)
from thalweg.kernels.tracker.solve import MAX_FLOAT
from thalweg.types import FloatArray


def clip_limits(
    counters: FloatArray, labels: FloatArray, q: FloatArray
) -> tuple[float, float]:
    """The limits of predictions, [low - R/2, high + R/2], R = high - low of all labels.

    And, where steps are limited, y_{t-1} ± 2 max_s |y_s - y_{s-1}|. A limit beyond
    which three quarters of the shrunk experts go yields to them, by 2 R at most, unless
    the last label has just jumped. ``labels`` are the past ones, newest first.
    """
    last_y, last_step = labels[0], abs(labels[0] - labels[1])
    lowest, highest = counters[layout.LOWEST_LABEL], counters[layout.HIGHEST_LABEL]
    label_range = highest - lowest
    low = lowest - RANGE_MARGIN * label_range
    high = highest + RANGE_MARGIN * label_range
    if counters[layout.STEP_LIMIT] > 0:
        step = STEP_MARGIN * counters[layout.MAX_LABEL_STEP]
        low, high = max(low, last_y - step), min(high, last_y + step)
    shrunk = q[layout.SHRUNK : layout.ANCHORED]
    if last_step > MAX_USUAL_STEP * counters[layout.MAX_LABEL_STEP]:
        return float(low), float(high)
    if max((shrunk < low).sum(), (shrunk > high).sum()) < AGREED:
        return float(low), float(high)
    infinite = ~(abs(shrunk) < MAX_FLOAT)
    ordered = np.sort(np.where(infinite, np.copysign(MAX_FLOAT, shrunk), shrunk))
    most = lowest - AGREED_MARGIN * label_range
    low = min(low, max(ordered[AGREED - 1], most))
    most = highest + AGREED_MARGIN * label_range
    return float(low), float(max(high, min(ordered[-AGREED], most)))


def clip_predictions(low: float, high: float, q: FloatArray) -> FloatArray:
    """Predictions within the limits.

    A prediction beyond float64 has not even a direction: it becomes the last label.
    """
    return np.clip(np.where(abs(q) < MAX_FLOAT, q, q[layout.LAST_VALUE]), low, high)


def update_label_range(counters: FloatArray, y: float, last_y: float) -> None:
    """Let clipping know of a label and, but in the first round, of the step to it."""
    if counters[layout.ROUNDS] == 0:
        counters[layout.LOWEST_LABEL] = counters[layout.HIGHEST_LABEL] = y
        return
    counters[layout.LOWEST_LABEL] = min(counters[layout.LOWEST_LABEL], y)
    counters[layout.HIGHEST_LABEL] = max(counters[layout.HIGHEST_LABEL], y)
    counters[layout.MAX_LABEL_STEP] = max(
        counters[layout.MAX_LABEL_STEP], abs(y - last_y)
    )


def limit_after_jump(
    counters: FloatArray, low: float, high: float
) -> tuple[float, float]:
    """The limits, narrower in the rounds after a label that jumped unforeseen.

    To the range of labels since, with a margin as wide as the jump; after its return,
    of a tenth of it, or as far as usual steps may lead.
    """
    if counters[layout.JUMP_ROUNDS] == 0 or counters[layout.STEP_LIMIT] == 0:
        return low, high
    reach = RETURN_RATIO if counters[layout.JUMP_RETURNED] else 1.0
    steps = USUAL_STEPS * (1 + counters[layout.DELAY])
    margin = max(
        reach * counters[layout.JUMP_SIZE], steps * counters[layout.ROOT_STEP] ** 2
    )
    low = max(low, counters[layout.JUMP_LOW] - margin)
    return float(low), float(min(high, counters[layout.JUMP_HIGH] + margin))


def update_jump(counters: FloatArray, y: float, last_y: float, forecast: float) -> None:
    """Begin, continue or end the limits after a jump, and learn the usual step.

    A jump is a step of more than 16 usual ones, to a label that the forecast missed by
    half of that at least. A label within a tenth of the jump from the forecast that it
    missed has returned.
    """
    step, error = abs(y - last_y), abs(y - forecast)
    usual = counters[layout.ROOT_STEP] ** 2
    surprise = min(step, error / MIN_SURPRISE)
    if counters[layout.JUMP_ROUNDS] > 0:
        counters[layout.JUMP_ROUNDS] -= 1
        counters[layout.JUMP_LOW] = min(counters[layout.JUMP_LOW], y)
        counters[layout.JUMP_HIGH] = max(counters[layout.JUMP_HIGH], y)
        origin = counters[layout.JUMP_ORIGIN]
        near = RETURN_RATIO * counters[layout.JUMP_SIZE]
        if not counters[layout.JUMP_RETURNED] and abs(y - origin) < near:
            counters[layout.JUMP_RETURNED] = 1.0
            counters[layout.JUMP_ROUNDS] = LIMITED_ROUNDS
            counters[[layout.JUMP_LOW, layout.JUMP_HIGH]] = (
                min(y, origin),
                max(y, origin),
            )
    elif counters[layout.STEP_COUNT] >= MIN_STEPS and surprise > JUMP_RATIO * usual:
        counters[layout.JUMP_RETURNED] = 0.0
        counters[layout.JUMP_ROUNDS] = LIMITED_ROUNDS
        counters[layout.JUMP_ORIGIN], counters[layout.JUMP_SIZE] = forecast, error
        counters[[layout.JUMP_LOW, layout.JUMP_HIGH]] = (
            min(y, forecast),
            max(y, forecast),
        )
    counters[layout.STEP_COUNT] = min(counters[layout.STEP_COUNT] + 1, STEP_MEMORY)
    change = math.sqrt(step) - counters[layout.ROOT_STEP]
    counters[layout.ROOT_STEP] += change / counters[layout.STEP_COUNT]
