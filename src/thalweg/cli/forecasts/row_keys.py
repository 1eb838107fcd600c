"""Keys of rows: the cells that tell the series of a long table apart."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import InvalidParameterError
from thalweg.tables import Chunk

IntArray = npt.NDArray[np.intp]
Key = tuple[str, ...]
"""The cells of the key columns of a row, as text; a blank one is empty."""
MAX_KEYS = 10_000
"""Series that one command takes at most: each has a model of its own in memory."""


class KeyRows(NamedTuple):
    """The rows of one key in a chunk."""

    key: Key
    rows: IntArray  # positions in the chunk, in order


def split_by_key(chunk: Chunk, columns: Sequence[str]) -> Iterator[KeyRows]:
    """The rows of each key, in the order in which keys appear in the chunk."""
    if not columns:
        yield KeyRows((), np.arange(len(chunk)))
        return
    parts = [chunk.categories(name) for name in columns]
    codes = np.stack([part.codes for part in parts], axis=1)
    _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    edges = np.append(np.flatnonzero(np.diff(group[order], prepend=-1)), len(order))
    members = [order[a:b] for a, b in zip(edges[:-1], edges[1:], strict=True)]
    for k in np.argsort(first, kind="stable"):
        row = codes[first[k]]
        cells = (
            part.levels[code] if code >= 0 else ""
            for part, code in zip(parts, row, strict=True)
        )
        yield KeyRows(tuple(cells), members[k])


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
