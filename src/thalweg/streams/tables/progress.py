"""What an encoder carries from chunk to chunk, and how it is written as JSON."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Progress:
    """Everything that depends on the rows seen so far."""

    levels: dict[str, tuple[str, ...]]  # of each column of text, by slot
    crowded: tuple[str, ...]  # columns of text with more levels than slots
    past: FloatArray  # (≤ longest lag, k) the latest targets, oldest first
    rows: int  # seen
    known: FloatArray  # (k,) rounds kept in which the target was known
    low: FloatArray  # (k,) the least of those targets
    high: FloatArray  # (k,) the largest
    latest: Any = None  # the time of the last row: datetime64[ns], float64 or None

    @classmethod
    def none(cls, targets: int) -> Self:
        """Before the first row."""
        unseen = np.full(targets, np.inf)
        nothing = np.zeros((0, targets))
        return cls({}, (), nothing, 0, np.zeros(targets), unseen, -unseen)

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

    def as_dict(self) -> dict[str, Any]:
        """In types that JSON has; floats in hexadecimal, which keeps every bit."""
        latest: Any = None
        if self.latest is not None:
            is_time = isinstance(self.latest, np.datetime64)
            latest = int(self.latest.astype(np.int64)) if is_time else _hex(self.latest)
        return {
            "levels": {name: list(levels) for name, levels in self.levels.items()},
            "crowded": list(self.crowded),
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
            latest = np.datetime64(latest, "ns")
        elif latest is not None:
            latest = np.float64(float.fromhex(latest))
        return cls(
            levels={name: tuple(levels) for name, levels in kept["levels"].items()},
            crowded=tuple(kept["crowded"]),
            past=_floats(kept["past"]).reshape(-1, len(each["low"])),
            rows=kept["rows"],
            latest=latest,
            **each,
        )


_PER_TARGET = ("known", "low", "high")


def _hex(value: Any) -> str:
    return float(value).hex()


def _floats(kept: list[Any]) -> FloatArray:
    if kept and isinstance(kept[0], list):
        return np.array([[float.fromhex(text) for text in row] for row in kept])
    return np.array([float.fromhex(text) for text in kept])
