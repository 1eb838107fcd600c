"""Errors of several forecasters on the same rounds, in constant memory."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg.evaluation.digest import Digest
from thalweg.evaluation.kept import parts
from thalweg.evaluation.study import Entry
from thalweg.types import FloatArray


class Player(NamedTuple):
    """Who is scored."""

    name: str
    role: str  # one of study.ROLES
    discount: float | None = None


class Scores:
    """The squared and absolute errors of each player, round by round."""

    def __init__(self, players: Sequence[Player]) -> None:
        self.players = tuple(players)
        self._squared = [Digest() for _ in players]
        # Of these only the mean is wanted, summed alike however the stream is cut.
        self._absolute = [Digest(points=1) for _ in players]

    def add(self, said: FloatArray, y: FloatArray) -> None:
        """Take predictions (T, N) and labels (T,); NaN in either is not scored."""
        errors = y[:, None] - said
        for k in range(len(self.players)):
            self._squared[k].add(errors[:, k] ** 2)
            self._absolute[k].add(np.abs(errors[:, k]))

    @property
    def scored(self) -> int:
        """How many rounds have been scored."""
        return self._squared[0].count

    def entries(self) -> tuple[Entry, ...]:
        """One for each player, for a study."""
        found = zip(self.players, self._squared, self._absolute, strict=True)
        return tuple(
            Entry(
                player.name, player.role, squared.average, absolute.average,
                squared.running(), player.discount,
            )
            for player, squared, absolute in found
        )  # fmt: skip

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that it remembers, for a file."""
        return tuple(digest.kept for digest in (*self._squared, *self._absolute))

    def resume(self, kept: Any, rounds: int) -> None:
        """Go on from what was kept of so many rounds."""
        count = len(self.players)
        found = parts("scores", kept, 2 * count)
        self._squared = [Digest.resumed(one, rounds) for one in found[:count]]
        self._absolute = [Digest.resumed(one, rounds, 1) for one in found[count:]]
