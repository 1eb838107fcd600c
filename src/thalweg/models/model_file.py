"""``Online`` in a file: what it holds beside the learner's state, checked when read.

docs/file-format.md, "What Online keeps". A checksum is no proof that a model was ever
there, so every value is checked against what a model could have left.
"""

import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import numpy as np

from thalweg import persistence
from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import PersistenceError
from thalweg.imputer import (
    POLICY_RULES,
    ImputerState,
    MissingPolicy,
    feature_rule,
)
from thalweg.kernels.error_intervals import ERROR_WINDOW
from thalweg.learners import Learner
from thalweg.learners.tracker.pending_ring import PendingRing
from thalweg.losses import LinearLoss
from thalweg.models.clock import ClockState
from thalweg.models.columns import Columns, ColumnsRecord
from thalweg.models.error_intervals import stores_errors
from thalweg.models.live_state import ModelSettings, ModelSnapshot
from thalweg.models.waiting_rows import WaitingRowsState
from thalweg.rules import (
    MAX_COUNT,
    Array,
    Condition,
    Count,
    Given,
    require,
    restore_snapshot,
)
from thalweg.types import FloatArray

OTHER_KINDS = {
    "agent": "an agent of thalweg.bandits",
    "forecaster": "a Forecaster (Forecaster.load)",
}
"""Other kinds of model files than those of ``Online``, by the name of a field."""


LARGEST = MAX_MAGNITUDE[np.dtype(np.float64)]

# Rules of files, of models with ``features``; None: before the first round.
MAX_WAITING = ModelSettings._field_defaults["max_waiting"]
ACCEPTING = Condition(
    "(imputer is not None) == accepts_missing", "None where missing values are refused"
)
STORED = Condition("stores_errors", "None where no errors are stored")
RECENT = Condition(
    f"0 < len(errors) <= min({ERROR_WINDOW}, rounds)",
    f"of 1 to {ERROR_WINDOW} rows, at most as many as were learnt",
)
START = "Array((None, None)[: max(start.ndim, 1)], -LARGEST, LARGEST)"
Errors = Annotated[FloatArray, STORED, Array((None, "targets")), RECENT]
GIVEN = "None if features is None else features - intercept"


class ModelRecord(NamedTuple):
    """The fields of a file's ``extra`` by which it is a file of ``Online``."""

    intercept: bool
    # Learnt, or skipped by policy.
    rounds: Annotated[int, Count(f"0 if features is None else {MAX_COUNT}")]
    missing: MissingPolicy
    refusals: int  # calls that were refused
    # (n,) of float64; 0.0 before the first round
    unexcited_rounds: Annotated[Any, "feature_rule(features, 0.0, rounds, True)"]
    # None where missing values are refused.
    imputer: Annotated[ImputerState | None, ACCEPTING]
    # (m, k) the last ones; files before had none
    errors: Errors | None = None
    columns: ColumnsRecord | None = None  # None where features have no names
    clock: ClockState = ClockState()
    # θ of the first round; None: zeros.
    start: Annotated[FloatArray, START] | None = None
    max_waiting: Annotated[int, Count(min=1)] = MAX_WAITING
    # None: no row was ever asked for.
    waiting: Annotated[WaitingRowsState, Given(given=GIVEN)] | None = None

    @property
    def accepts_missing(self) -> bool:
        """Whether a row may lack features."""
        return POLICY_RULES[self.missing].accepts


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
    targets = 1 if state is None else sum(state.theta.shape[1:]) or 1
    model = SimpleNamespace(
        features=features, targets=targets,
        stores_errors=state is not None and stores_errors(learner, loss),
        delay=int(getattr(learner, "delay", 0)), feature_rule=feature_rule,
    )  # fmt: skip
    try:
        record = restore_snapshot(ModelRecord, fields, "", (model,))
        columns = _restore_columns(record, features)
        if record.waiting is not None:
            _validate_line(record.waiting, learner, state)
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


def _validate_line(rows: WaitingRowsState, learner: Learner[Any], state: Any) -> None:
    """Raise unless rows of the line are in the ring of the state, as far as played."""
    delay, numbers = int(getattr(learner, "delay", 0)), rows.numbers
    if not delay:
        return
    played, waiting_rounds = int((numbers < rows.next_number).sum()), 0
    if state is not None:
        packed, n = np.atleast_2d(state.packed), len(state.theta)
        waiting_rounds = min(len(PendingRing(own, n)) for own in packed)
    ends = numbers[[0, -1]] + [0, 1] if len(numbers) else [0, rows.next_number]
    is_line = played <= min(delay, waiting_rounds) and ends[1] == rows.asked
    is_line = is_line and ends[0] <= rows.next_number
    require(is_line, "waiting.next_number", "that of the line", rows.next_number)
    if state is not None and rows.has_label.any():
        expected = (len(rows.keys), *state.theta.shape[1:])
        is_shape = rows.labels.shape == expected
        require(is_shape, "waiting.labels", f"of shape {expected}", rows.labels)


def _restore_columns(record: ModelRecord, features: int | None) -> Columns | None:
    """The names of the features, which are as many as the state has."""
    if record.columns is None:
        return None
    columns = Columns.from_record(record.columns)
    expected = None if features is None else features - record.intercept
    names = columns.names
    require(expected in (None, len(names)), "columns", f"{expected} names", names)
    return columns


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
