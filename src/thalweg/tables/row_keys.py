"""Keys of rows: the cells that tell the series of a long table apart."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import InvalidParameterError
from thalweg.tables.cells import Categorical
from thalweg.tables.chunk import Chunk

IntArray = npt.NDArray[np.intp]
Key = tuple[str, ...]
"""The cells of the key columns of a row, as text; a blank one is empty."""
MAX_KEYS = 10_000
"""Limit of the series of one command: each has a model of its own in memory."""


class KeyRows(NamedTuple):
    """The rows of one key in a chunk."""

    key: Key
    rows: IntArray  # positions in the chunk, in order


class RowGroups(NamedTuple):
    """The keys of the rows of a chunk."""

    keys: list[Key]  # in the order in which they appear
    group: IntArray  # (T,) of each row, which of the keys it has


def split_by_key(chunk: Chunk, columns: Sequence[str]) -> Iterator[KeyRows]:
    """The rows of each key, in the order in which keys appear in the chunk."""
    keys, group = group_rows([chunk.categories(name) for name in columns], len(chunk))
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    yield from map(KeyRows, keys, members)


def group_rows(columns: Sequence[Categorical], rows: int) -> RowGroups:
    """Rows grouped by the cells of some columns; all are of one group if there is no
    column."""
    if not columns:
        return RowGroups([()], np.zeros(rows, np.intp))
    codes = columns[0].codes
    for k, column in enumerate(columns[1:]):
        if k:  # so that products stay small
            _, codes = np.unique(codes, return_inverse=True)
        codes = codes * (len(column.levels) + 1) + column.codes + 1
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))
    keys = [
        tuple(one.levels[one.codes[k]] if one.codes[k] >= 0 else "" for one in columns)
        for k in np.sort(first).tolist()
    ]
    return RowGroups(keys, ranks[group.reshape(-1)])


def key_text(key: Key) -> str:
    """The key as tables and messages show it."""
    return " / ".join(cell or "(blank)" for cell in key)


def require_key_count(count: int, columns: Sequence[str], source: str) -> None:
    """Raise if there are more keys than one command takes."""
    if count > MAX_KEYS:
        raise InvalidParameterError(
            f"--key {','.join(columns)} tells more than {MAX_KEYS:,} series of "
            f"{source} apart, which is the limit, as each has a model of its own in "
            f"memory. Split the file, or name a coarser key."
        )
