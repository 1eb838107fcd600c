"""Features that come and go in a model: its state, means, counts and names."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg import models
from thalweg.errors import InvalidParameterError
from thalweg.models.live_state import ModelSettings, ModelSnapshot
from thalweg.models.waiting_rows import WaitingRows
from thalweg.types import FloatArray

if TYPE_CHECKING:
    from thalweg.models.columns import Columns

Features = Sequence[str] | Sequence[int]


def with_names(
    settings: ModelSettings, snapshot: ModelSnapshot, names: Sequence[str]
) -> ModelSnapshot:
    """The snapshot with these names for its features, in their order."""
    columns = models.columns.Columns.from_names(names, settings.missing)
    count = len(names)
    state, before = snapshot.state, snapshot.columns
    given = None if state is None else len(state.theta) - settings.intercept
    if given not in (None, count):
        raise InvalidParameterError(
            f"The model has {given} features. Got {count} names instead."
        )
    if before is not None and not before.is_plain:
        raise InvalidParameterError(
            "The names of a model whose columns are encoded cannot change."
        )
    return snapshot._replace(columns=columns)


def by_name(columns: "Columns", theta: FloatArray) -> dict[str, Any]:
    """θ by the names of the features; a constant one comes last, if there is one."""
    constant = "intercept" if "intercept" not in columns.names else "(intercept)"
    names = (*columns.names, constant)[: len(theta)]
    return dict(zip(names, theta.tolist(), strict=True))


def with_features(
    settings: ModelSettings, snapshot: ModelSnapshot, features: Features
) -> ModelSnapshot:
    """The snapshot with more features, whose coefficients are 0.

    ``features`` are names, which come after all other columns, or the positions that
    the new features will have.
    """
    columns = snapshot.columns
    if columns is None:
        indices = _positions(features)
    else:
        before = columns.names
        columns = columns.with_names(_names(features))
        after = columns.names
        indices = [after.index(name) for name in after if name not in before]
    state = snapshot.state
    if state is not None:
        state = settings.learner.add_features(state, indices)
    return _change(snapshot, state, columns, lambda values: _insert(values, indices))


def without_features(
    settings: ModelSettings, snapshot: ModelSnapshot, features: Features
) -> ModelSnapshot:
    """The snapshot without some features, as if they were 0 from now on."""
    columns = snapshot.columns
    if columns is None:
        indices = _positions(features)
    else:
        names = _names(features)
        before = columns.names
        columns = columns.without_names(names)
        # The marker of a column goes with it.
        kept = set(columns.names)
        indices = [i for i, name in enumerate(before) if name not in kept]
    state = snapshot.state
    if state is not None:
        # A constant feature stays, whatever positions were given.
        given = len(state.theta) - settings.intercept
        if any(index >= given for index in indices):
            raise InvalidParameterError(
                f"The model has {given} features. Got the positions {indices} instead."
            )
        state = settings.learner.remove_features(state, indices)
    return _change(snapshot, state, columns, lambda values: np.delete(values, indices))


def _change(
    snapshot: ModelSnapshot, state: Any, columns: Any, change: Any
) -> ModelSnapshot:
    imputer = snapshot.imputer
    if imputer is not None:
        imputer = imputer.map_features(change)
    unexcited = snapshot.unexcited_rounds
    if state is not None:
        unexcited = change(np.broadcast_to(unexcited, len(snapshot.state.theta)))
    waiting = snapshot.waiting
    if isinstance(waiting, WaitingRows):
        waiting = waiting.copy(change)
    return snapshot._replace(
        state=state, columns=columns, imputer=imputer, unexcited_rounds=unexcited,
        waiting=waiting,
    )  # fmt: skip


def _insert(values: Any, indices: Sequence[int]) -> Any:
    """Zeros that have these indices afterwards."""
    after = np.zeros(len(values) + len(indices))
    is_old = np.ones(len(after), np.bool_)
    is_old[list(indices)] = False
    after[is_old] = values
    return after


def _positions(features: Features) -> list[int]:
    _require_several(features)
    for index in features:
        if type(index) is not int:
            raise InvalidParameterError(
                f"Features of a model without names are given by their positions. "
                f"Got {index!r} instead."
            )
    return [int(index) for index in features]


def _names(features: Features) -> list[str]:
    if isinstance(features, str):
        return [features]
    _require_several(features)
    return [str(name) if isinstance(name, np.str_) else name for name in features]  # type: ignore[misc]


def _require_several(features: object) -> None:
    """Raise unless they can be gone through one by one."""
    if not isinstance(features, Iterable):
        raise InvalidParameterError(
            f"Features are a list of names, or of positions. Got {features!r:.80} "
            "instead."
        )
