"""What a model keeps beside its learner's state, as a file holds it, and back.

docs/file-format.md, "What Online keeps". A checksum is no proof that a model was ever
there, so everything is checked.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from thalweg import persistence
from thalweg.errors import PersistenceError
from thalweg.learners import Learner
from thalweg.losses import LinearLoss
from thalweg.preprocessing.imputer import (
    POLICIES,
    ImputerState,
    MeanImputer,
    MissingPolicy,
)

FIRST = ("intercept", "rounds")
"""By these a file is known to hold an Online; the first ones held no more."""
LATER = ("missing", "refusals", "quiet")
IMPUTER = ImputerState._fields
"""Only where missing values are not refused."""
MOST = 2**63 - 1


class Kept(NamedTuple):
    """All that a model keeps."""

    learner: Learner[Any]
    loss: LinearLoss
    intercept: bool
    refusals: int
    imputer: MeanImputer | None
    state: Any
    rounds: int
    quiet: Any  # (n,) of float64; 0.0 before the first round

    @property
    def missing(self) -> MissingPolicy:
        """What a NaN means."""
        return "refuse" if self.imputer is None else self.imputer.policy


def write(path: str | os.PathLike[str], kept: Kept) -> None:
    """Keep it in a file."""
    extra = {name: getattr(kept, name) for name in (*FIRST, *LATER)}
    if kept.imputer is not None:
        extra |= kept.imputer.state._asdict()
    saved = persistence.Saved(kept.learner, kept.loss, kept.state, extra)
    persistence.save(path, saved)


def read(path: str | os.PathLike[str]) -> Kept:
    """What ``write`` wrote; ``PersistenceError`` where that is not all there."""
    learner, loss, state, extra = persistence.load(path)
    if not (set(FIRST) <= set(extra) and isinstance(loss, LinearLoss)):
        raise PersistenceError(f"{path} holds a learner, but no Online.")
    width = None if state is None else len(state.theta)
    if not {*LATER, *IMPUTER} & set(extra):
        quiet = 0.0 if width is None else np.zeros(width)
        extra = {**extra, "missing": "refuse", "refusals": 0, "quiet": quiet}
    found = _Found(extra, width)
    try:
        intercept = found.one_of("intercept", False, True)
        rounds = found.whole("rounds", 0 if width is None else MOST)
        refusals, quiet = found.whole("refusals", MOST), found.counts("quiet", rounds)
        imputer = _imputer(found, rounds)
    except PersistenceError as error:
        raise PersistenceError(f"{path} cannot be loaded: {error}.") from None
    return Kept(learner, loss, intercept, refusals, imputer, state, rounds, quiet)


def _imputer(found: "_Found", rounds: int) -> MeanImputer | None:
    policy = found.one_of("missing", *POLICIES)
    if policy == "refuse":
        return None
    state = ImputerState(
        skipped=found.whole("skipped", rounds),
        imputed=found.whole("imputed", rounds * (found.width or 0)),
        sums=found.row("sums"),
        counts=found.counts("counts", rounds),
        waited=found.time("waited"),
    )
    return MeanImputer(policy, state)


class _Found(NamedTuple):
    """Values by name, each refused unless it is what it is asked for as."""

    extra: Mapping[str, Any]
    width: int | None  # how many features there are; None before the first round

    def one_of(self, name: str, *choices: Any) -> Any:
        value = self._value(name)
        right = any(type(value) is type(one) and value == one for one in choices)
        return self._if(right, name, f"one of {', '.join(map(repr, choices))}")

    def whole(self, name: str, most: int) -> Any:
        value = self._value(name)
        right = type(value) is int and 0 <= value <= most
        return self._if(right, name, f"a whole number from 0 to {most}")

    def time(self, name: str) -> Any:
        value = self._value(name)
        right = type(value) is float and 0 <= value < np.inf
        return self._if(right, name, "a float that is finite and not negative")

    def row(self, name: str) -> Any:
        """A finite number for each feature."""
        value = self._value(name)
        if self.width is None:
            right = type(value) is float and value == 0
            return self._if(right, name, "0.0 before the first round")
        array = isinstance(value, np.ndarray) and value.dtype == np.float64
        right = array and value.shape == (self.width,) and np.isfinite(value).all()
        return self._if(right, name, f"{self.width} finite numbers, of float64")

    def counts(self, name: str, most: int) -> Any:
        """A row of whole numbers."""
        value = np.asarray(self.row(name))
        right = (value >= 0) & (value <= most) & (value == np.floor(value))
        return self._if(right.all(), name, f"whole numbers from 0 to {most}")

    def _value(self, name: str) -> Any:
        if name not in self.extra:
            raise PersistenceError(f"its Online comes without {name!r}")
        return self.extra[name]

    def _if(self, right: Any, name: str, rule: str) -> Any:
        value = self.extra[name]
        if not right:
            raise PersistenceError(
                f"its {name!r} must be {rule}. Got {value!r:.80} instead"
            )
        return value
