"""Columns of a chunk, with what no learner could use refused by row and name."""

from typing import Any

import numpy as np

from thalweg.checks import LARGEST
from thalweg.errors import StreamError
from thalweg.streams.tables.cells import Coded, TimeArray
from thalweg.streams.tables.chunk import Chunk
from thalweg.streams.tables.literals import Kind
from thalweg.streams.tables.recipe import Missing
from thalweg.types import FloatArray

_LARGEST = LARGEST[np.dtype(np.float64)]


def numbers(chunk: Chunk, name: str, missing: Missing, hint: str = "") -> FloatArray:
    """A column of numbers that learners accept, NaN where missing."""
    values = chunk.numbers(name, hint)
    sizes = np.abs(values)
    if (sizes <= _LARGEST).all():
        return values
    large = sizes > _LARGEST
    if large.any():
        first = int(large.argmax())
        raise StreamError(
            f"{chunk.place(first)}: {name!r} is {float(values[first])!r}. Numbers must "
            f"be finite and at most {_LARGEST:g} in size."
        )
    _check_missing(chunk, name, np.isnan(values), missing)
    return values


def words(chunk: Chunk, name: str, missing: Missing) -> Coded:
    """A column of text."""
    coded = chunk.words(name)
    _check_missing(chunk, name, coded.codes < 0, missing)
    return coded


def times(chunk: Chunk, name: str, missing: Missing) -> TimeArray:
    """A column of times, NaT where missing."""
    values = chunk.times(name)
    _check_missing(chunk, name, np.isnat(values), missing)
    return values


def ordered(chunk: Chunk, name: str, kind: Kind | None, latest: Any, row: str) -> Any:
    """A column of times or numbers that never go back, nor behind ``latest``.

    ``row`` says where ``latest`` stands. None of them may be missing.
    """
    read: Any = numbers if kind == "number" else times
    values = read(chunk, name, "skip")
    unknown = values != values  # NaN and NaT alike
    if unknown.any():
        raise StreamError(
            f"{chunk.place(int(unknown.argmax()))}: {name!r} is missing. Every row "
            f"needs its time."
        )
    # The first row ever has nothing before it but itself.
    before = np.append(values[0] if latest is None else latest, values[:-1])
    back = values < before
    if back.any():
        first = int(back.argmax())
        earlier = f"row {chunk.first_row + first:,}" if first else row
        raise StreamError(
            f"{chunk.place(first)}: {name!r} goes back to {_shown(values[first])} from "
            f"{_shown(before[first])} in {earlier}. Sort the rows by {name!r} first."
        )
    return values


def _check_missing(chunk: Chunk, name: str, gaps: Any, missing: Missing) -> None:
    if missing == "refuse" and gaps.any():
        raise StreamError(
            f"{chunk.place(int(gaps.argmax()))}: {name!r} is missing. Fill it in, or "
            f"say what to do: --missing skip or --missing impute."
        )


def _shown(value: Any) -> str:
    if not isinstance(value, np.datetime64):
        return repr(float(value))
    whole, _, fraction = str(value).partition(".")
    return f"{whole}.{fraction}".rstrip("0").rstrip(".") if fraction else whole
