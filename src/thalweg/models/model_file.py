"""``Online`` in a file: what it holds beside the learner's state, checked when read.

docs/file-format.md, "What Online keeps". A checksum is no proof that a model was ever
there, so every value is held to what a model could have left.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from thalweg import persistence
from thalweg.errors import PersistenceError
from thalweg.losses import LinearLoss
from thalweg.models.live_state import ModelSettings, ModelSnapshot
from thalweg.persistence.snapshots import (
    Array,
    Count,
    Number,
    OneOf,
    restore_snapshot,
)
from thalweg.preprocessing.imputer import (
    POLICIES,
    POLICY_RULES,
    ImputerState,
    MissingPolicy,
)


class ModelRecord(NamedTuple):
    """The fields of a file's ``extra`` by which it is a file of ``Online``."""

    intercept: bool
    rounds: int  # learnt, or skipped by policy
    missing: MissingPolicy
    refusals: int  # calls that were refused
    unexcited_rounds: Any  # (n,) of float64; 0.0 before the first round
    imputer: ImputerState | None  # None where missing values are refused


class SavedModel(NamedTuple):
    """All that a file holds of an ``Online``."""

    settings: ModelSettings
    snapshot: ModelSnapshot
    refusals: int


def write_model(path: str | os.PathLike[str], model: SavedModel) -> None:
    """Save the model to a file."""
    learner, loss, intercept, missing = model.settings
    state, rounds, unexcited_rounds, imputer = model.snapshot
    record = ModelRecord(
        intercept, rounds, missing, model.refusals, unexcited_rounds, imputer
    )
    saved = persistence.Saved(learner, loss, state, record._asdict())
    persistence.save(path, saved)


def read_model(path: str | os.PathLike[str]) -> SavedModel:
    """The model in a file; ``PersistenceError`` where any of it is wrong."""
    learner, loss, state, extra = persistence.load(path)
    if not ({"intercept", "rounds"} <= set(extra) and isinstance(loss, LinearLoss)):
        raise PersistenceError(f"{path} holds a learner, but no Online.")
    features = None if state is None else len(state.theta)
    fields = _with_new_names(extra, features)
    try:
        # Others are counted in rounds, so that these are checked first.
        rounds = _count_rounds(features).restore(fields["rounds"], "rounds")
        template = _template(features, rounds, fields.get("missing"))
        record = restore_snapshot(template, fields)
    except PersistenceError as error:
        raise PersistenceError(f"{path} cannot be loaded: {error}.") from None
    settings = ModelSettings(learner, loss, record.intercept, record.missing)
    snapshot = ModelSnapshot(state, rounds, record.unexcited_rounds, record.imputer)
    return SavedModel(settings, snapshot, record.refusals)


def _count_rounds(features: int | None) -> Count:
    return Count(0) if features is None else Count()


def _template(features: int | None, rounds: int, missing: Any) -> Any:
    """What each field must be like in a model of so many features and rounds."""
    counts: Any = OneOf((0.0,))  # before the first round
    sums: Any = counts
    if features is not None:
        sums = Array((features,))
        counts = Array((features,), 0.0, float(rounds), whole=True)
    imputer: Any = None
    if missing in POLICIES and POLICY_RULES[missing].accepts:
        imputed: Any = Count(rounds * (features or 0))
        skipped: Any = Count(rounds)
        waited: Any = Number(0.0)
        imputer = ImputerState(sums, counts, imputed, skipped, waited)
    rules: dict[str, Any] = {
        "intercept": OneOf((False, True)),
        "rounds": _count_rounds(features),
        "missing": OneOf(POLICIES),
        "refusals": Count(),
        "unexcited_rounds": counts,
        "imputer": imputer,
    }
    return ModelRecord(**rules)


def _with_new_names(extra: Mapping[str, Any], features: int | None) -> dict[str, Any]:
    """The fields of a record, also from files of earlier versions.

    The first files held ``intercept`` and ``rounds`` only. Later ones called
    ``unexcited_rounds`` ``quiet``, and held the imputer's fields beside the others.
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
