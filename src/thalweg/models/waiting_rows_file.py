"""Waiting rows in a file, checked against what a model could have left there."""

from typing import Any

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.learners.tracker.pending_ring import PendingRing
from thalweg.models.waiting_rows import MAX_LOST_KEYS, WaitingRowsState, is_key
from thalweg.rules import Array, Condition, Count, Number, require, validate_snapshot

LARGEST = MAX_MAGNITUDE[np.dtype(np.float64)]
NAME = "waiting"


def validate_waiting_rows(
    rows: WaitingRowsState, delay: int, state: Any, given: int | None,
    accepts_missing: bool,
) -> None:  # fmt: skip
    """Raise unless a model of ``given`` features (None: not known) left these rows.

    ``delay`` is the learner's, ``state`` its state.
    """
    count = len(rows.keys)
    n: int | None = given if count else 0
    labels_shape = (count, *(None,) * min(max(rows.labels.ndim - 1, 0), 1))
    rules = {
        "numbers": Array((count,), 0.0, rows.asked - 1.0, whole=True),
        "x": Array((count, n), -LARGEST, LARGEST, may_be_nan=accepts_missing),
        "is_waiting": Array((count,), 0.0, 1.0, whole=True),
        "labels": Array(labels_shape, -LARGEST, LARGEST, may_be_nan=True),
        "weights": Array((count,), 0.0, LARGEST),
        "next_number": Count(rows.asked),
        "waited": Number(0.0, LARGEST),
    }
    validate_snapshot(rules, rows, NAME)
    waits = rows.is_waiting > 0
    steps, keys = np.diff(rows.numbers), [*rows.keys, *rows.lost_keys]
    names = [key for key, one in zip(rows.keys, waits, strict=True) if one]
    axes = tuple(range(1, rows.labels.ndim))
    told = ~np.isnan(rows.labels).any(axis=axes)
    sizes = np.abs(np.nan_to_num(rows.labels)).max(axis=axes, initial=0)
    conditions = {
        "keys": all(map(is_key, keys)) and len(set(names)) == len(names),
        "lost_keys": len(rows.lost_keys) <= min(rows.given_up, MAX_LOST_KEYS),
        "numbers": (steps == 1 if delay else steps > 0).all(),
        "is_waiting": waits.all() or delay > 0,
        "labels": not (told & waits).any(),
        "weights": (sizes * np.sqrt(np.maximum(rows.weights, 1)) <= LARGEST).all(),
        "given_up": rows.given_up <= rows.asked - len(names),
    }
    for name, is_true in conditions.items():
        rule = Condition(is_true, "what a model could have left")
        validate_snapshot({name: rule}, rows, NAME)
    if delay:
        _validate_line(rows, delay, state, bool(told.any()))


def _validate_line(
    rows: WaitingRowsState, delay: int, state: Any, has_labels: bool
) -> None:
    """Raise unless rows of the line are in the ring of the state, as far as played."""
    played = int((rows.numbers < rows.next_number).sum())
    waiting_rounds = 0
    if state is not None:
        packed, n = np.atleast_2d(state.packed), len(state.theta)
        waiting_rounds = min(len(PendingRing(own, n)) for own in packed)
    last = rows.numbers[-1] + 1 if len(rows.numbers) else rows.next_number
    is_line = played <= min(delay, waiting_rounds) and last == rows.asked
    is_line = is_line and (not len(rows.numbers) or rows.numbers[0] <= rows.next_number)
    require(is_line, f"{NAME}.next_number", "that of the line", rows.next_number)
    if state is not None and has_labels:
        expected = (len(rows.keys), *state.theta.shape[1:])
        is_shape = rows.labels.shape == expected
        require(is_shape, f"{NAME}.labels", f"of shape {expected}", rows.labels)
