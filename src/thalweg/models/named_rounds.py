"""Rounds of a model from rows with names: data frames, Series and dicts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import InvalidParameterError, StreamError
from thalweg.imputer import MissingPolicy
from thalweg.learners import Learner
from thalweg.learners.tracker import Tracker
from thalweg.models.columns import Columns
from thalweg.models.live_state import LiveState
from thalweg.models.named_rows import as_targets
from thalweg.tables import Chunk, Recipe
from thalweg.tables.cells import PythonCells
from thalweg.tables.recipe import AUTO
from thalweg.tables.schema import refuse_unknown_columns
from thalweg.tables.validation import read_numbers
from thalweg.types import FloatArray


class NamedRounds(NamedTuple):
    """Rounds made of rows with names, and the columns after them."""

    columns: Columns
    x: FloatArray  # (T, n)
    y: Any  # (T,) or (T, k)


def encode_rounds(
    live: LiveState, missing: MissingPolicy, chunk: Chunk, y: Any, target: Any,
    recipe: Recipe | None, learner: Learner[Any],
) -> NamedRounds:  # fmt: skip
    """The rounds of rows whose targets are ``y``, or columns of their own.

    Where nothing else is said, a Tracker gets features of the targets' past, as in
    ``thalweg run``; any other learner gets the columns alone.
    """
    if isinstance(y, str):
        raise InvalidParameterError(
            f"Online.run takes the name of a column as target={y!r}, not as y."
        )
    targets = _target_names(target)
    if recipe is None and targets:
        recipe = _default_recipe(live, targets, missing, learner)
    if recipe is not None and isinstance(learner, Tracker) and recipe.lags == AUTO:
        recipe = replace(recipe, delay=learner.delay)  # known no earlier than labels
    columns = _model_columns(live, missing, chunk, targets, recipe)
    named = columns.recipe.targets
    if y is None and not (named or targets):
        raise InvalidParameterError(
            "Online.run needs targets: y, or the name of their column, target='...'."
        )
    if y is not None and targets:
        raise InvalidParameterError(
            f"Online.run takes targets from y or from a column. Got y and "
            f"target={target!r}."
        )
    if named and y is not None:
        chunk = _with_targets(chunk, named, as_targets(y))
    elif not named and y is None:
        refuse_unknown_columns(targets, chunk.cells, chunk.source)
        read = [read_numbers(chunk, name, missing) for name in targets]
        y = read[0] if len(read) == 1 else np.column_stack(read)
        chunk = _without_columns(chunk, targets)
    columns, x, encoded = columns.encode(chunk)
    if named:
        y = encoded[:, 0] if len(named) == 1 else encoded
    return NamedRounds(columns, x, as_targets(y))


def encode_queries(live: LiveState, missing: MissingPolicy, chunk: Chunk) -> FloatArray:
    """The features (T, n) of rows to be predicted, each as if it came next."""
    return _model_columns(live, missing, chunk, (), None).encode_queries(chunk)


def encode_features(
    live: LiveState, missing: MissingPolicy, chunk: Chunk
) -> tuple[Columns, FloatArray]:
    """The columns after rows whose targets come later, and their features (T, n)."""
    return _model_columns(live, missing, chunk, (), None).encode_features(chunk)


def time_column(chunk: Chunk, name: str) -> Any:
    """A column of times as time stamps (UTC), one of numbers as it is."""
    refuse_unknown_columns((name,), chunk.cells, chunk.source)
    if chunk.kind(name) == "number":
        return chunk.numbers(name)
    return chunk.timestamps(name).instants


def _target_names(target: Any) -> tuple[str, ...]:
    if target is None:
        return ()
    names = (target,) if isinstance(target, str | int) else target
    is_list = isinstance(names, Sequence)
    if not is_list or not all(isinstance(name, str | int) for name in names):
        raise InvalidParameterError(
            f"The 'target' parameter of Online.run must be the name of a column, or "
            f"several. Got {target!r} instead."
        )
    return tuple(map(str, names))  # columns of pandas may be numbered


def _model_columns(
    live: LiveState, missing: MissingPolicy, chunk: Chunk, targets: tuple[str, ...],
    recipe: Recipe | None,
) -> Columns:  # fmt: skip
    """The columns of the model, or those that its first rows have."""
    columns = live.columns
    if columns is None:
        if (given := live.count_given_features()) is not None:
            raise StreamError(
                f"The model has learnt from {given} features without names: give rows "
                f"as arrays of {given} numbers. Of an Online they can be named: "
                "model.feature_names = [...]."
            )
        wanted = recipe or Recipe(targets=targets, missing=missing)
        if wanted.missing == "refuse":  # the default: the model says it
            wanted = replace(wanted, missing=missing)
        if wanted.missing != missing:
            raise InvalidParameterError(
                f"The 'missing' of a recipe must be the model's, {missing!r}. "
                f"Got {wanted.missing!r} instead."
            )
        return Columns.from_chunk(wanted, chunk)
    if recipe is not None:
        replace(recipe, missing=missing).refuse_changes(columns.recipe)
    known = columns.recipe.targets
    if targets and known not in ((), targets):
        raise InvalidParameterError(
            f"The model's targets are {', '.join(map(repr, known))}. "
            f"Got target={targets!r} instead."
        )
    return columns


def _default_recipe(
    live: LiveState, targets: tuple[str, ...], missing: MissingPolicy,
    learner: Learner[Any],
) -> Recipe | None:  # fmt: skip
    """The recipe of a model that is given the names of targets and nothing else."""
    if live.columns is not None:
        return None
    if isinstance(learner, Tracker):
        return Recipe(targets, missing=missing)
    return Recipe(targets, time=None, lags=(), calendar=None, missing=missing)


def _with_targets(chunk: Chunk, names: tuple[str, ...], y: Any) -> Chunk:
    """The rows with their targets as columns, as lags need them."""
    values = np.asarray(y, np.float64).reshape(len(chunk), -1)
    if values.shape[1] != len(names):
        raise StreamError(
            f"The model has {len(names)} targets. Got {values.shape[1]} instead."
        )
    cells = dict(chunk.cells)
    for k, name in enumerate(names):
        cells[name] = PythonCells(
            [None if v != v else v for v in values[:, k].tolist()]
        )
    return replace(chunk, cells=cells)


def _without_columns(chunk: Chunk, names: tuple[str, ...]) -> Chunk:
    cells = {name: cells for name, cells in chunk.cells.items() if name not in names}
    if not cells:
        raise StreamError(f"{chunk.source} has no column to learn from.")
    return replace(chunk, cells=cells)
