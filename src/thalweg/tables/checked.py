"""Columns of a chunk, with what no learner could use refused by row and name."""

from typing import Any

import numpy as np

from thalweg.checks import LARGEST
from thalweg.errors import StreamError
from thalweg.preprocessing.imputer import (
    ACCEPTING_POLICIES,
    POLICY_RULES,
    MissingPolicy,
)
from thalweg.tables.cells import Coded
from thalweg.tables.chunk import Chunk
from thalweg.tables.literals import Kind
from thalweg.tables.moments import Moments
from thalweg.types import FloatArray

_LARGEST = LARGEST[np.dtype(np.float64)]


def numbers(
    chunk: Chunk, name: str, missing: MissingPolicy, hint: str = ""
) -> FloatArray:
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


def words(chunk: Chunk, name: str, missing: MissingPolicy) -> Coded:
    """A column of text."""
    coded = chunk.words(name)
    _check_missing(chunk, name, coded.codes < 0, missing)
    return coded


def times(
    chunk: Chunk, name: str, missing: MissingPolicy, zoned: bool | None
) -> Moments:
    """A column of times, all with an offset or all without.

    ``zoned`` says how it was in the chunks before, where any time was known.
    """
    found = chunk.times(name)
    _check_missing(chunk, name, ~found.known, missing)
    _check_offsets(chunk, name, found, zoned)
    return found


def ordered(
    chunk: Chunk, name: str, kind: Kind | None, latest: Any, zoned: bool | None
) -> Any:
    """A column of times or numbers that never go back, nor behind ``latest``.

    That is the last of the rows before, of this run or of the one it goes on from.
    None may be missing.
    """
    values: Any
    if kind == "number":
        values = order = numbers(chunk, name, "skip")
        before = latest
    else:
        values = times(chunk, name, "skip", zoned)
        order = values.instants
        before = None if latest is None else latest.instants[0]
    unknown = order != order  # NaN and NaT alike
    if unknown.any():
        raise StreamError(
            f"{chunk.place(int(unknown.argmax()))}: {name!r} is missing. Every row "
            f"needs its time."
        )
    # The first row ever has nothing before it but itself.
    back = order < np.append(order[0] if before is None else before, order[:-1])
    if back.any():
        first = int(back.argmax())
        earlier = values[first - 1 : first] if first else latest
        where = chunk.first_row + first
        raise StreamError(
            f"{chunk.place(first)}: {name!r} goes back to "
            f"{_shown(values[first : first + 1])} from {_shown(earlier)} in "
            f"{f'row {where:,}' if where else 'the run before'}. Sort the rows by "
            f"{name!r} first."
        )
    return values


def _check_offsets(
    chunk: Chunk, name: str, found: Moments, zoned: bool | None
) -> None:  # fmt: skip
    """Either all say what they are ahead of UTC, or none: else none has an order."""
    if not found.known.any():
        return
    has = found.has_offset
    wanted = has[found.known.argmax()] if zoned is None else zoned
    mixed = found.known & (has != wanted)
    if mixed.any():
        first = int(mixed.argmax())
        ways = ("with", "without") if has[first] else ("without", "with")
        raise StreamError(
            f"{chunk.place(first)}: {name!r} is {found[first : first + 1].shown()[0]}, "
            f"{ways[0]} an offset from UTC, and the rows before are {ways[1]} one. "
            f"Write all of them one way."
        )


def _check_missing(chunk: Chunk, name: str, gaps: Any, missing: MissingPolicy) -> None:
    if not POLICY_RULES[missing].accepts and gaps.any():
        options = " or ".join(f"--missing {policy}" for policy in ACCEPTING_POLICIES)
        raise StreamError(
            f"{chunk.place(int(gaps.argmax()))}: {name!r} is missing. Fill it in, or "
            f"say what to do: {options}."
        )


def _shown(value: Any) -> str:
    """The only time of some, or the only number."""
    if isinstance(value, Moments):
        return value.shown()[0]
    return repr(float(np.ravel(value)[0]))
