"""What is kept of one key, and how it becomes a row of the file."""

from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.learners import Learner
from thalweg.losses import LinearLoss
from thalweg.persistence.format import Saved, dumps, loads


class Kept(NamedTuple):
    """What is known of one key."""

    state: Any = None  # None before its first round
    rounds: int = 0
    seq: int = -1  # of the round learnt last
    prediction: Any = None  # what was said in that round


class Settings(NamedTuple):
    """What all keys of a file share."""

    learner: Learner[Any]
    loss: LinearLoss
    intercept: bool

    def dumped(self, kept: Kept) -> bytes:
        """The model of one key as bytes: a file of its own, were it written to one."""
        extra = {"intercept": self.intercept, **kept._asdict()}
        return dumps(Saved(self.learner, self.loss, extra.pop("state"), extra))

    def loaded(self, data: bytes, name: str) -> Kept:
        """What ``dumped`` made into ``data``; refused where it was made by others."""
        learner, loss, state, extra = loads(data, name)
        if (learner, loss, extra.get("intercept")) != self:
            raise PersistenceError(
                f"{name} was made with {learner!r}, {loss!r} and intercept="
                f"{extra.get('intercept')}. Give these, or another path."
            )
        kept = Kept(state, *(extra.get(field, "") for field in Kept._fields[1:]))
        if not _is_sound(kept):
            raise PersistenceError(f"{name} is no model of KeyedModels.")
        return kept


def _is_sound(kept: Kept) -> bool:
    whole = type(kept.rounds) is int and type(kept.seq) is int
    if kept.state is None:
        return whole and kept[1:] == Kept()[1:]
    said = isinstance(kept.prediction, np.ndarray | np.floating)
    return whole and said and kept.rounds >= 1 and kept.seq >= 0


def check_key(key: object) -> None:
    """Raise unless ``key`` is a string that SQLite can hold."""
    try:
        if isinstance(key, str) and key.encode():
            return
    except UnicodeEncodeError:  # half of a pair of surrogates
        pass
    raise InvalidParameterError(
        f"A key of KeyedModels is a string that is not empty. Got {key!r} instead."
    )


def checked_seq(seq: Any) -> int:
    """``seq`` as an int, if it is a whole number that SQLite can hold."""
    whole = isinstance(seq, int | np.integer) and not isinstance(seq, bool)
    if not whole or not 0 <= seq < 2**63:
        raise InvalidParameterError(
            f"A seq of KeyedModels is a whole number from 0 to 2⁶³ - 1. "
            f"Got {seq!r} instead."
        )
    return int(seq)
