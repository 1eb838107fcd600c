"""``Online`` in a file: what it holds beside the learner's state, checked when read.

docs/file-format.md, "What Online keeps". A checksum is no proof that a model was ever
there, so every value is checked against what a model could have left.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from thalweg import persistence
from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import PersistenceError
from thalweg.kernels.error_intervals import ERROR_WINDOW
from thalweg.learners import Learner
from thalweg.losses import LinearLoss
from thalweg.models.clock import ClockState
from thalweg.models.columns import Columns, ColumnsRecord
from thalweg.models.error_intervals import stores_errors
from thalweg.models.live_state import ModelSettings, ModelSnapshot
from thalweg.models.waiting_rows import WaitingRowsState
from thalweg.models.waiting_rows_file import validate_waiting_rows
from thalweg.preprocessing.imputer import (
    POLICY_RULES,
    ImputerState,
    MissingPolicy,
)
from thalweg.rules import (
    Array,
    Condition,
    Count,
    Number,
    OneOf,
    require,
    restore_snapshot,
    validate_snapshot,
)
from thalweg.types import FloatArray

MAX_NANOSECONDS = 2**63 - 1
"""Largest time that NumPy can hold."""
OTHER_KINDS = {
    "agent": "an agent of thalweg.bandits",
    "forecaster": "a Forecaster (Forecaster.load)",
}
"""Other kinds of model files than those of ``Online``, by the name of a field."""


class ModelRecord(NamedTuple):
    """The fields of a file's ``extra`` by which it is a file of ``Online``."""

    intercept: bool
    rounds: int  # learnt, or skipped by policy
    missing: MissingPolicy
    refusals: int  # calls that were refused
    unexcited_rounds: Any  # (n,) of float64; 0.0 before the first round
    imputer: ImputerState | None  # None where missing values are refused
    errors: FloatArray | None = None  # (m, k) the last ones; files before had none
    columns: ColumnsRecord | None = None  # None where features have no names
    clock: ClockState = ClockState()
    start: FloatArray | None = None  # θ of the first round; None: zeros
    max_waiting: int = ModelSettings._field_defaults["max_waiting"]
    waiting: WaitingRowsState | None = None  # None: no row was ever asked for


class ModelFileContents(NamedTuple):
    """All that a file holds of an ``Online``."""

    settings: ModelSettings
    snapshot: ModelSnapshot  # ``LiveState.frozen_snapshot``
    refusals: int


def write_model(
    path: str | os.PathLike[str],
    model: ModelFileContents,
    others: Mapping[str, Any] | None = None,
) -> None:
    """Save the model to a file, and ``others`` beside what it holds, by name."""
    persistence.save(path, to_saved_model(model, others))


def to_saved_model(
    model: ModelFileContents, others: Mapping[str, Any] | None = None
) -> persistence.SavedModel:
    """The model's record in a file, with ``others`` beside it, by name."""
    learner, loss, intercept, missing, start, max_waiting = model.settings
    snapshot, columns = model.snapshot, model.snapshot.columns
    record = ModelRecord(
        intercept, snapshot.rounds, missing, model.refusals, snapshot.unexcited_rounds,
        snapshot.imputer, snapshot.errors,
        None if columns is None else columns.record(), snapshot.clock, start,
        max_waiting, snapshot.waiting,  # type: ignore[arg-type]
    )  # fmt: skip
    extra = {**record._asdict(), **(others or {})}
    return persistence.SavedModel(learner, loss, snapshot.state, extra)


def read_model(path: str | os.PathLike[str]) -> ModelFileContents:
    """The model in a file; ``PersistenceError`` where any of it is wrong."""
    saved = persistence.load(path)
    if "classifier" in saved.extra:
        raise PersistenceError(
            f"{path} holds a Classifier, but no Online. Use Classifier.load."
        )
    return decode_model(path, saved)


def decode_model(
    path: str | os.PathLike[str], saved: persistence.SavedModel
) -> ModelFileContents:
    """The model in what a file holds; ``path`` is what errors call it."""
    learner, loss, state, extra = saved
    if not ({"intercept", "rounds"} <= set(extra) and isinstance(loss, LinearLoss)):
        holder = next((kind for name, kind in OTHER_KINDS.items() if name in extra), "")
        raise PersistenceError(f"{path} holds {holder or 'a learner'}, but no Online.")
    features = None if state is None else len(state.theta)
    fields = _with_new_names(extra, features)
    try:
        record = restore_snapshot(ModelRecord, fields)
        validate_snapshot(_rules(record, features), record)
        _validate_errors(record, learner, loss, state)
        columns = _restore_columns(record, features)
        _validate_waiting(record, learner, state)
    except PersistenceError as error:
        raise PersistenceError(f"{path} cannot be loaded: {error}.") from None
    settings = ModelSettings(
        learner, loss, record.intercept, record.missing, record.start,
        record.max_waiting,
    )  # fmt: skip
    snapshot = ModelSnapshot(
        state, record.rounds, record.unexcited_rounds, record.imputer, record.errors,
        columns, record.clock, record.waiting,
    )  # fmt: skip
    return ModelFileContents(settings, snapshot, record.refusals)


def _rules(record: ModelRecord, features: int | None) -> dict[str, Any]:
    """Sizes and ranges in a model with ``features``; None: before the first round."""
    rounds = record.rounds
    accepts = POLICY_RULES[record.missing].accepts
    return {
        "rounds": Count(0) if features is None else Count(),
        "unexcited_rounds": _feature_counts(features, rounds),
        "imputer": imputer_rules(features, rounds) if accepts else OneOf((None,)),
        "clock": {
            "unit": _nanoseconds(record.clock.unit, 1),
            "latest": _nanoseconds(record.clock.latest, -MAX_NANOSECONDS),
        },
        "start": OneOf((None,)) if record.start is None else _start_rule(record.start),
    }


def _validate_errors(
    record: ModelRecord, learner: Learner[Any], loss: LinearLoss, state: Any
) -> None:
    """Raise unless a model of this learner could have stored these errors."""
    errors, most = record.errors, min(ERROR_WINDOW, record.rounds)
    if errors is None:
        return
    stores = state is not None and stores_errors(learner, loss)
    rule = Condition(stores, "None where no errors are stored")
    validate_snapshot(rule, errors, "errors")
    targets = sum(state.theta.shape[1:]) or 1
    validate_snapshot(Array((None, targets)), errors, "errors")
    rule = Condition(0 < len(errors) <= most, f"of 1 to {most} rows")
    validate_snapshot(rule, errors, "errors")


def _validate_waiting(record: ModelRecord, learner: Learner[Any], state: Any) -> None:
    """Raise unless rows of a model of this learner could wait like these."""
    rule = Condition(record.max_waiting >= 1, "1 or more")
    validate_snapshot(rule, record.max_waiting, "max_waiting")
    if record.waiting is None:
        return
    delay = int(getattr(learner, "delay", 0))
    given = None if state is None else len(state.theta) - record.intercept
    accepts = POLICY_RULES[record.missing].accepts
    validate_waiting_rows(record.waiting, delay, state, given, accepts)


def _nanoseconds(value: Any, low: int) -> Condition:
    right = value is None or (type(value) is int and low <= value <= MAX_NANOSECONDS)
    return Condition(right, f"None or a whole number from {low} to {MAX_NANOSECONDS}")


def _start_rule(start: FloatArray) -> Array:
    largest = MAX_MAGNITUDE[np.dtype(np.float64)]
    return Array((None,) * min(max(start.ndim, 1), 2), -largest, largest)


def _restore_columns(record: ModelRecord, features: int | None) -> Columns | None:
    """The names of the features, which are as many as the state has."""
    if record.columns is None:
        return None
    columns = Columns.from_record(record.columns)
    expected = None if features is None else features - record.intercept
    names = columns.names
    require(expected in (None, len(names)), "columns", f"{expected} names", names)
    return columns


def imputer_rules(features: int | None, rounds: int) -> dict[str, Any]:
    """The rules of an ``ImputerState`` after ``rounds`` rounds."""
    return {
        "sums": OneOf((0.0,)) if features is None else Array((features,)),
        "counts": _feature_counts(features, rounds),
        "imputed": Count(rounds * (features or 0)),
        "skipped": Count(rounds),
        "waited": Number(0.0),
    }


def _feature_counts(features: int | None, rounds: int) -> OneOf | Array:
    """A number of rounds for each feature."""
    if features is None:
        return OneOf((0.0,))
    return Array((features,), 0.0, float(rounds), whole=True)


def _with_new_names(extra: Mapping[str, Any], features: int | None) -> dict[str, Any]:
    """The fields of a record, also from files of earlier versions.

    The first files held ``intercept`` and ``rounds`` only. Later ones called
    ``unexcited_rounds`` ``quiet``, and had the imputer's fields next to the others.
    Names that are not the record's are left to others.
    """
    fields = {name: extra[name] for name in ModelRecord._fields if name in extra}
    if "quiet" in extra:
        flat = {name: extra[name] for name in ImputerState._fields if name in extra}
        renamed = {"unexcited_rounds": extra["quiet"], "imputer": flat or None}
        return renamed | fields
    if set(fields) == {"intercept", "rounds"}:
        unexcited = 0.0 if features is None else np.zeros(features)
        first = {"missing": "refuse", "refusals": 0, "imputer": None}
        return {**fields, **first, "unexcited_rounds": unexcited}
    return fields
