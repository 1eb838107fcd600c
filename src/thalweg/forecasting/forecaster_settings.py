"""The settings of a forecaster as its user gives them, checked and made plain."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError

MAX_SEASON = 100_000


def as_known(known: bool | Sequence[int | str]) -> bool | tuple[int | str, ...]:
    """True, False, or the positions and names of features."""
    if isinstance(known, bool):
        return known
    labels = tuple(known) if isinstance(known, Sequence | np.ndarray) else (None,)
    labels = tuple(int(k) if isinstance(k, np.integer) else k for k in labels)
    if isinstance(known, str) or not all(
        type(label) is str or (type(label) is int and label >= 0) for label in labels
    ):
        raise InvalidParameterError(
            "The 'known' parameter of Forecaster must be True, False or a list of "
            f"names and positions of features. Got {known!r:.80} instead."
        )
    return labels


def as_periods(owner: object, season: int | Sequence[int]) -> int | tuple[int, ...]:
    """One or two periods given by the user."""
    if not isinstance(season, Sequence | np.ndarray) or isinstance(season, str):
        return require_count(owner, "season", season, MAX_SEASON)
    if not 1 <= len(season) <= 2:
        raise InvalidParameterError(
            f"The 'season' parameter of Forecaster must be one period or two. "
            f"Got {season!r:.80} instead."
        )
    return as_counts(owner, "season", season, MAX_SEASON)


def as_counts(
    owner: object, name: str, values: Sequence[int], largest: int
) -> tuple[int, ...]:
    """A sequence of whole numbers from 1 to ``largest``."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        raise InvalidParameterError(
            f"The {name!r} parameter of Forecaster must be a list of whole numbers. "
            f"Got {values!r:.80} instead."
        )
    return tuple(require_count(owner, name, value, largest) for value in values)


def require_count(owner: object, name: str, value: Any, largest: int) -> int:
    """The value, if it is a whole number from 1 to ``largest``."""
    owner_name = owner if isinstance(owner, str) else type(owner).__name__
    checks.require_argument(owner_name, name, value, f"[1, {largest}]")
    if value != int(value):
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner_name} must be a whole number. "
            f"Got {value} instead."
        )
    return int(value)
