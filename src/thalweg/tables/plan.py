"""Which columns become features, decided by a table's first row and kept for good."""

from dataclasses import dataclass
from typing import Any, Self

from thalweg.errors import StreamError
from thalweg.tables.chunk import Chunk
from thalweg.tables.literals import Kind, has_separators
from thalweg.tables.names import is_unnamed, refuse_unknown
from thalweg.tables.recipe import Recipe


@dataclass(frozen=True)
class Plan:
    """The columns to read, and what each is read as."""

    inputs: dict[str, Kind]  # features, in order: "number" or "text"
    time: Kind | None  # of the recipe's time column: "number" or "time"
    notes: tuple[str, ...]  # sentences about columns that were left out

    @classmethod
    def of(cls, recipe: Recipe, chunk: Chunk) -> Self:
        """What the first row of the first chunk decides."""
        refuse_unknown(recipe.columns, chunk.cells, chunk.source)
        if recipe.features is None:
            inputs, notes = _all_usable(recipe, chunk)
        else:
            inputs, notes = _as_named(recipe, chunk), ()
        if not (inputs or recipe.lags or recipe.calendar):
            raise StreamError(
                f"{chunk.source} has no column to learn from. Earlier targets can "
                f"serve as features: --lags 1."
            )
        return cls(inputs, _time_kind(recipe, chunk), notes)

    def check(self, recipe: Recipe, chunk: Chunk) -> None:
        """Raise if a later chunk, of another file perhaps, lacks a column."""
        refuse_unknown((*recipe.columns, *self.inputs), chunk.cells, chunk.source)

    def as_dict(self) -> dict[str, Any]:
        """In types that JSON has."""
        return {
            "inputs": list(map(list, self.inputs.items())),
            "time": self.time,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Self:
        """What ``as_dict`` gave."""
        return cls(dict(kept["inputs"]), kept["time"], tuple(kept["notes"]))


def _kind(recipe: Recipe, chunk: Chunk, name: str) -> Kind:
    return "text" if name in recipe.text else chunk.kind(name)


def _all_usable(
    recipe: Recipe, chunk: Chunk
) -> tuple[dict[str, Kind], tuple[str, ...]]:
    inputs: dict[str, Kind] = {}
    notes = []
    for name in chunk.cells:
        if name in (*recipe.targets, recipe.time, recipe.calendar):
            continue
        kind = _kind(recipe, chunk, name)
        if kind == "time":
            notes.append(
                f"Column {name!r} holds times and is left out; features can be made of "
                f"it: --calendar {name}."
            )
        elif kind == "other":
            notes.append(f"Column {name!r} holds neither numbers nor text: left out.")
        elif is_unnamed(name):
            notes.append(f"Column {name!r} has no name of its own and is left out.")
        else:
            inputs[name] = kind
            if kind == "text" and name not in recipe.text:
                notes += _if_meant_as_number(chunk, name)
    return inputs, tuple(notes)


def _if_meant_as_number(chunk: Chunk, name: str) -> list[str]:
    first = chunk.cut(0, 1).words(name).levels[0]
    if not has_separators(first):
        return []
    return [
        f"Column {name!r} is text, as {first!r} is. Numbers have a decimal point and "
        f"no thousands separators."
    ]


def _as_named(recipe: Recipe, chunk: Chunk) -> dict[str, Kind]:
    inputs = {name: _kind(recipe, chunk, name) for name in recipe.features or ()}
    for name, kind in inputs.items():
        if kind == "time":
            raise StreamError(
                f"Column {name!r} of {chunk.source} holds times, which are no numbers. "
                f"Features can be made of them: --calendar {name}."
            )
        if kind == "other":
            raise StreamError(
                f"Column {name!r} of {chunk.source} holds neither numbers nor text."
            )
    return inputs


def _time_kind(recipe: Recipe, chunk: Chunk) -> Kind | None:
    if recipe.time is None:
        return None
    # Anything but a number is read as a time, and refused there if it is none.
    return "number" if chunk.kind(recipe.time) == "number" else "time"
