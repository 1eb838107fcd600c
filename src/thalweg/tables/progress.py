"""What an encoder carries from chunk to chunk, and how it is written as JSON."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from thalweg.tables.moments import Moments
from thalweg.tables.one_hot import OneHot
from thalweg.types import FloatArray

ENOUGH, RARE = 50, 0.01
"""From so many cells on, text of which less than this share comes again is no level."""


class Crowd(NamedTuple):
    """The cells of a column of text since its levels are more than there are slots."""

    cells: int = 0
    back: int = 0  # of those, the ones whose level has a slot

    def and_then(self, made: OneHot) -> Self:
        """After more cells."""
        known = ~np.isnan(made.features[:, 0])
        if not self.cells:  # those before the first that finds no slot do not count
            known[: made.shared.argmax()] = False
        cells = int(known.sum())
        return self._replace(
            cells=self.cells + cells,
            back=self.back + cells - int(made.shared.sum()),
        )

    def note(self, name: str, slots: int) -> str:
        """What to say of the column."""
        if self.cells < ENOUGH or self.back > RARE * self.cells:
            return (
                f"Column {name!r} has more than {slots} levels: the later ones share a "
                f"feature."
            )
        return (
            f"Column {name!r} looks like dates or identifiers, which as text are of no "
            f"use as a feature: it has more than {slots} levels, and the first {slots} "
            f"hardly come again. Dates are read as such if they are ISO, 2024-01-31."
        )


@dataclass(frozen=True, eq=False)
class Progress:
    """Everything that depends on the rows seen so far."""

    levels: dict[str, tuple[str, ...]]  # of each column of text, by slot
    crowded: dict[str, "Crowd"]  # columns of text with more levels than slots
    past: FloatArray  # (≤ longest lag, k) the latest targets, oldest first
    rows: int  # seen
    known: FloatArray  # (k,) rounds kept in which the target was known
    low: FloatArray  # (k,) the least of those targets
    high: FloatArray  # (k,) the largest
    latest: Any = None  # (1,) the time of the last row: Moments, float64 or None
    zoned: dict[str, bool] = field(default_factory=dict)  # columns with offsets or not

    @classmethod
    def none(cls, targets: int) -> Self:
        """Before the first row."""
        unseen = np.full(targets, np.inf)
        nothing = np.zeros((0, targets))
        return cls({}, {}, nothing, 0, np.zeros(targets), unseen, -unseen)

    def with_targets(
        self, y: FloatArray, dropped: int, lags: tuple[int, ...]
    ) -> tuple[Self, list[FloatArray]]:
        """After more rows with the targets ``y``, of which the first are dropped.

        With it, for each lag, what the targets of the rows that are kept were so many
        rows earlier, (T, k).
        """
        kept, both = y[dropped:], np.vstack([self.past, y])
        start, stop = len(both) - len(kept), len(both)
        after = replace(
            self,
            past=both[max(stop - max(lags, default=0), 0) :],
            rows=self.rows + len(y),
            known=self.known + np.count_nonzero(~np.isnan(kept), axis=0),
            low=np.fmin(self.low, np.fmin.reduce(kept, axis=0, initial=np.inf)),
            high=np.fmax(self.high, np.fmax.reduce(kept, axis=0, initial=-np.inf)),
        )
        if not len(kept):
            return after, [kept for _ in lags]
        return after, [both[start - lag : stop - lag] for lag in lags]

    def with_text(self, name: str, made: OneHot) -> Self:
        """After more cells of a column of text."""
        levels, crowded = self.levels | {name: made.levels}, self.crowded
        if name in crowded or made.shared.any():
            crowd = crowded.get(name, Crowd()).and_then(made)
            crowded = crowded | {name: crowd}
        return replace(self, levels=levels, crowded=crowded)

    def with_time(self, name: str, time: Any) -> Self:
        """After rows at these times."""
        after = replace(self, latest=time[-1:])
        return after.with_zone(name, time) if isinstance(time, Moments) else after

    def with_zone(self, name: str, found: Moments) -> Self:
        """After more times of a column, all with an offset or all without."""
        if not found.known.any():
            return self
        return replace(self, zoned=self.zoned | {name: bool(found.has_offset.any())})

    def as_dict(self) -> dict[str, Any]:
        """In types that JSON has; floats in hexadecimal, which keeps every bit."""
        latest, ahead = self.latest, None
        if isinstance(latest, Moments):
            latest, ahead = latest.as_integers()
        elif latest is not None:
            latest = _hex(latest[0])
        return {
            "levels": {name: list(levels) for name, levels in self.levels.items()},
            "crowded": list(self.crowded),
            "crowds": [list(crowd) for crowd in self.crowded.values()],
            "zoned": self.zoned,
            "ahead": ahead,
            "past": [[_hex(value) for value in row] for row in self.past],
            "rows": self.rows,
            "latest": latest,
        } | {name: list(map(_hex, getattr(self, name))) for name in _PER_TARGET}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Self:
        """What ``as_dict`` gave, to the last bit."""
        each = {name: _floats(kept[name]) for name in _PER_TARGET}
        latest = kept["latest"]
        if isinstance(latest, int):
            latest = Moments.of_integers(latest, kept["ahead"])
        elif latest is not None:
            latest = np.array([float.fromhex(latest)])
        return cls(
            levels={name: tuple(levels) for name, levels in kept["levels"].items()},
            crowded={
                name: Crowd(int(rows), int(back))
                for name, (rows, back) in zip(
                    kept["crowded"], kept["crowds"], strict=True
                )
            },
            past=_floats(kept["past"]).reshape(-1, len(each["low"])),
            rows=kept["rows"],
            latest=latest,
            zoned={name: bool(zoned) for name, zoned in kept["zoned"].items()},
            **each,
        )


_PER_TARGET = ("known", "low", "high")


def _hex(value: Any) -> str:
    return float(value).hex()


def _floats(kept: list[Any]) -> FloatArray:
    if kept and isinstance(kept[0], list):
        return np.array([[float.fromhex(text) for text in row] for row in kept])
    return np.array([float.fromhex(text) for text in kept])
