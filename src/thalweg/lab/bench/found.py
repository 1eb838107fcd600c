"""What a run of the bench found, and how it is kept for a later run."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.errors import PersistenceError

FORMAT = 1


class Row(NamedTuple):
    """Nanoseconds a round; in all for start-up, a byte or operation for a ceiling."""

    section: str
    name: str
    n: int  # features
    size: int  # experts in the bank, rounds where T grows; else 0
    ns: float  # the median over repetitions
    low: float  # and the quartiles
    high: float

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What was measured."""
        return self.section, self.name, self.n, self.size

    def over(self, other: float) -> "Row":
        """The same as multiples of another time."""
        times = self.ns / other, self.low / other, self.high / other
        return Row(*self[:4], *times)


class Verdict(NamedTuple):
    """Whether a contender predicts what we predict."""

    name: str
    n: int
    gap: float  # the largest difference over the spread of y
    word: str  # "agrees", "disagrees", "another algorithm", or what it failed with


class Memory(NamedTuple):
    """Memory of a process after so many rounds, in MiB."""

    learner: str
    rounds: int
    peak: float  # resident, file pages included: VmHWM
    own: float  # allocated by the process: RssAnon


@dataclass(frozen=True)
class Found:
    """Everything that was measured."""

    rows: list[Row] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)

    def row(self, section: str, name: str, n: int, size: int = 0) -> Row | None:
        """The row of that key; None where it was not measured."""
        key = (section, name, n, size)
        return next((row for row in self.rows if row.key == key), None)

    def of(self, section: str) -> list[Row]:
        """The rows of one section, in the order they were measured."""
        return [row for row in self.rows if row.section == section]

    def save(self, path: Path) -> None:
        """Write JSON that ``load`` reads."""
        path.parent.mkdir(parents=True, exist_ok=True)
        named = asdict(self) | {
            part: [entry._asdict() for entry in getattr(self, part)]
            for part in ("rows", "verdicts", "memory")
        }
        path.write_text(json.dumps({"format": FORMAT} | named, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> "Found":
        """What ``save`` wrote."""
        try:
            kept: dict[str, Any] = json.loads(path.read_text())
            if kept.pop("format") != FORMAT:
                raise ValueError
            for part, kind in (
                ("rows", Row),
                ("verdicts", Verdict),
                ("memory", Memory),
            ):
                kept[part] = [kind(**entry) for entry in kept[part]]
            return cls(**kept)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise PersistenceError(
                f"{path} holds no results of this version's bench."
            ) from None


def against(new: Found, old: Found) -> list[Row]:
    """New over old for every row that both have; 1 means as fast as it was.

    The quartiles are set against the old median.
    """
    before = {row.key: row.ns for row in old.rows}
    return [row.over(before[row.key]) for row in new.rows if row.key in before]
