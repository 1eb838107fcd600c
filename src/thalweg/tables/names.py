"""Names of columns: no two alike, and the nearest one to a name that is not there."""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from thalweg.errors import StreamError

_NO_NAME = re.compile(r"|column [0-9]+|Unnamed: [0-9]+|__index_level_[0-9]+__")


def unnamed(position: int) -> str:
    """What a column without a name is called; positions count from 0."""
    return f"column {position + 1}"


def is_unnamed(name: str) -> bool:
    """Whether it is what we or pandas call a column, most often an index, unnamed."""
    return _NO_NAME.fullmatch(name) is not None


def refuse_duplicates(names: Sequence[str], source: str) -> None:
    """Raise if two columns have one name."""
    places: dict[str, int] = {}
    for position, name in enumerate(names):
        earlier = places.setdefault(name, position)
        if earlier < position:
            raise StreamError(
                f"Columns {earlier + 1} and {position + 1} of {source} are both "
                f"called {name!r}. Rename one of them."
            )


def refuse_unknown(
    wanted: Sequence[str], names: Mapping[str, Any], source: str
) -> None:
    """Raise if a wanted name is not among the names, and say what is near or there."""
    for name in wanted:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = (
                f"Did you mean {near[0]!r}?" if near else f"It has {_listed([*names])}."
            )
            raise StreamError(f"{source} has no column {name!r}. {hint}")


def _listed(names: Sequence[str]) -> str:
    some = ", ".join(map(repr, names[:12]))
    return some if len(names) <= 12 else f"{some} and {len(names) - 12} more"
