"""Columns by name: how rows of a data frame, a Series or a dict become features.

A model that was given names has an encoder (tables/encoder.py), as a run over a file
has: text, times, lags and missing values mean the same. Where every column is a number
and nothing reaches into the past, single dicts are read without it (``RowReader``).
"""

import copy
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Any, NamedTuple, Self

import numpy as np

from thalweg.errors import InvalidParameterError, PersistenceError, StreamError
from thalweg.imputer import MissingPolicy
from thalweg.tables import Chunk, Encoder, EncoderState, Recipe
from thalweg.tables.cells import PythonCells
from thalweg.tables.chunk import ROW
from thalweg.tables.schema import InputColumn, Schema
from thalweg.tables.validation import read_numbers
from thalweg.types import FloatArray


class ColumnsRecord(NamedTuple):
    """A model's columns in a file."""

    recipe: str  # settings of the Recipe as JSON
    encoder: Any  # EncoderState; ``Encoder.restore`` asks for its rules


class RowReader:
    """Reads dicts of numbers by name, several times as fast as a list does."""

    __slots__ = ("_get", "_pack", "_size")

    def __init__(self, names: Sequence[str]) -> None:
        self._size = len(names)
        self._get = itemgetter(*names, names[0])  # of two names at least: a tuple
        self._pack = struct.Struct(f"{len(names) + 1}d").pack

    def read(self, row: Mapping[str, Any]) -> FloatArray | None:
        """The features (n,); None where a name is missing or unknown, or no number."""
        if len(row) != self._size:
            return None
        try:
            return np.frombuffer(self._pack(*self._get(row)), np.float64, self._size)
        except (KeyError, struct.error, TypeError, ValueError):
            return None


class Columns:
    """The columns of a model, and what their encoding remembers; never changed."""

    __slots__ = ("encoder", "reader")

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.reader = RowReader(self.names) if self.is_plain else None

    def __reduce__(self) -> Any:  # A reader cannot be pickled.
        return Columns, (self.encoder,)

    @classmethod
    def from_chunk(cls, recipe: Recipe, chunk: Chunk) -> Self:
        """The columns that the first rows of a model have."""
        state = EncoderState.initial(recipe)
        schema = Schema.from_first_chunk(recipe, chunk)
        return cls(Encoder.restore(recipe, state.with_schema(schema)))

    @classmethod
    def from_names(cls, names: Sequence[str], missing: MissingPolicy) -> Self:
        """Columns of numbers with these names."""
        names = _as_texts(names)
        if len(set(names)) < len(names):
            raise InvalidParameterError(
                f"Names of features must be distinct. Got {tuple(names)!r} instead."
            )
        recipe = Recipe(targets=(), missing=missing)
        inputs = tuple(InputColumn(name, "number") for name in names)
        state = EncoderState.initial(recipe).with_schema(Schema(inputs, None, ()))
        return cls(Encoder.restore(recipe, state))

    @property
    def recipe(self) -> Recipe:
        """How rows become features and targets."""
        return self.encoder.recipe

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each feature, without a constant one."""
        return self.encoder.feature_names()

    def encode(self, chunk: Chunk) -> tuple["Columns", FloatArray, FloatArray]:
        """The columns after more rows, their features (T, n) and targets (T, k)."""
        encoder = copy.copy(self.encoder)  # its state is never changed in place
        self._schema.refuse_other_columns(self.recipe, chunk)
        encoded = encoder.encode(chunk)
        # Where nothing reaches into the past, nothing needs to be remembered.
        after = self if self.is_plain else Columns(encoder)
        return after, encoded.x, encoded.y

    def encode_features(self, chunk: Chunk) -> tuple["Columns", FloatArray]:
        """The columns after rows whose targets come later; their features (T, n)."""
        if self.recipe.fixed_lags or self.recipe.given_time:
            what = "lags" if self.recipe.fixed_lags else "a time"
            raise StreamError(
                f"Rows of a recipe with {what} cannot wait for their targets. Give "
                "what is known of the past as features."
            )
        encoder = copy.copy(self.encoder)  # its state is never changed in place
        self._schema.refuse_other_columns(self.recipe, chunk)
        features = encoder.encode_features(chunk)
        return (self if self.is_plain else Columns(encoder)), features

    def with_label(self, age: int, label: Any) -> "Columns":
        """The columns once the label of a row is known, 1 for the last one encoded.

        One that comes when later rows have been encoded without it, more of them than
        the delay of the recipe, is no part of the past that features are made of.
        """
        if not self.recipe.has_past_features:
            return self
        encoder = copy.copy(self.encoder)  # its state is never changed in place
        encoder.set_label(age, np.asarray(label, np.float64))
        return Columns(encoder)

    def encode_queries(self, chunk: Chunk) -> FloatArray:
        """The features (T, n) of rows to be predicted, each as if it came next."""
        self._schema.refuse_other_columns(self.recipe, chunk)
        return self.encoder.encode_queries(chunk)

    def with_names(self, names: Sequence[str]) -> "Columns":
        """The columns with more features of numbers, after all other columns."""
        names = _as_texts(names)
        taken = {column.name for column in self._schema.inputs}
        for name in names:
            if name in taken or name in self.recipe.columns:
                raise InvalidParameterError(
                    f"The model has a feature {name!r} already."
                )
            taken.add(name)
        added = tuple(InputColumn(name, "number") for name in names)
        return self._with_inputs(self._schema.inputs + added)

    def without_names(self, names: Sequence[str]) -> "Columns":
        """The columns without some, which hold numbers."""
        inputs = self._schema.inputs
        numbers = {column.name for column in inputs if column.kind == "number"}
        for name in names:
            if name not in numbers:
                raise InvalidParameterError(
                    f"The model has no feature {name!r} of numbers to remove. It has "
                    f"{', '.join(map(repr, sorted(numbers)))}."
                )
        return self._with_inputs(tuple(c for c in inputs if c.name not in names))

    def record(self) -> ColumnsRecord:
        """The columns as a file holds them."""
        return ColumnsRecord(json.dumps(asdict(self.recipe)), self.encoder.state)

    @classmethod
    def from_record(cls, record: ColumnsRecord) -> Self:
        """The columns in a file; ``PersistenceError`` where no model has left them."""
        try:
            recipe = Recipe.from_settings(json.loads(record.recipe))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise PersistenceError("its columns have no recipe") from error
        encoder = Encoder.restore(recipe, record.encoder)
        if encoder.state.schema is None:
            raise PersistenceError("its columns have no schema")
        return cls(encoder)

    @property
    def _schema(self) -> Schema:
        schema = self.encoder.state.schema
        assert schema is not None
        return schema

    @property
    def is_plain(self) -> bool:
        """Whether features are numbers of the same row, whatever came before."""
        recipe, inputs = self.recipe, self._schema.inputs
        named = recipe.fixed_lags or recipe.given_calendar or recipe.given_time
        schema = self._schema
        reaches_out = named or recipe.has_past_features
        remembers = schema.markers or schema.ranges
        return not (reaches_out or remembers) and all(
            kind == "number" for _, kind in inputs
        )

    def _with_inputs(self, inputs: tuple[InputColumn, ...]) -> "Columns":
        names = {column.name for column in inputs}
        markers = tuple(name for name in self._schema.markers if name in names)
        names |= {*self.recipe.targets}
        first, latest = (
            tuple(one for one in ranges if one.name in names)
            for ranges in (self._schema.ranges, self.encoder.state.ranges)
        )
        schema = self._schema._replace(inputs=inputs, markers=markers, ranges=first)
        state = self.encoder.state._replace(schema=schema, ranges=latest)
        return Columns(Encoder.restore(self.recipe, state))


def _as_texts(names: Sequence[Any]) -> list[str]:
    """The names as files hold them: of type str, not of a class derived from it."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise InvalidParameterError(
                f"Names of features must be strings. Got {name!r} instead."
            )
    return list(map(str.__str__, names))


def number_columns(
    chunk: Chunk, names: Sequence[str] | None = None
) -> dict[str, FloatArray]:
    """Columns of numbers, NaN where one is missing: all, or those of ``names``."""
    wanted = chunk.cells if names is None else [n for n in names if n in chunk.cells]
    return {name: read_numbers(chunk, name, "skip") for name in wanted}


def row_chunk(row: Mapping[Any, Any]) -> Chunk:
    """A dict as a chunk of one row."""
    cells = {}
    for name, value in row.items():
        if not isinstance(name, str):
            raise StreamError(f"Features have names that are text. Got {name!r}.")
        scalar = value.item() if isinstance(value, np.generic) else value
        if hasattr(scalar, "isoformat"):  # a time of the standard library or pandas
            scalar = scalar.isoformat()
        cells[str.__str__(name)] = PythonCells([scalar])
    if not cells:
        raise StreamError("The row has no features.")
    return Chunk(ROW, 0, cells)
