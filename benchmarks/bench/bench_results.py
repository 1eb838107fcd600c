"""The results of a bench, and their JSON file for a later run."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.errors import PersistenceError

FORMAT = 2


class Timing(NamedTuple):
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
        """What was timed: section, name, features and size."""
        return self.section, self.name, self.n, self.size

    def relative_to(self, ns: float) -> "Timing":
        """The same as multiples of another time."""
        return Timing(*self.key, self.ns / ns, self.low / ns, self.high / ns)


class Agreement(NamedTuple):
    """Whether an implementation predicts what thalweg predicts."""

    name: str
    n: int
    difference: float  # the largest, over the spread of y
    outcome: str  # "agrees", "disagrees", "another algorithm", or how it failed

    @property
    def has_failed(self) -> bool:
        """Whether the implementation raised an error."""
        return self.outcome.startswith("failed")


class MemoryUse(NamedTuple):
    """Memory of a process after some rounds, in MiB."""

    learner: str
    rounds: int
    peak: float  # resident, file pages included: VmHWM
    own: float  # allocated by the process: RssAnon


@dataclass(frozen=True)
class BenchResults:
    """Everything that was measured."""

    timings: list[Timing] = field(default_factory=list)
    agreements: list[Agreement] = field(default_factory=list)
    memory_use: list[MemoryUse] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # packages
    environment: dict[str, str] = field(
        default_factory=dict
    )  # date, platform, versions

    def timing(self, section: str, name: str, n: int, size: int = 0) -> Timing | None:
        """The timing of that key; None where it was not measured."""
        key = (section, name, n, size)
        return next((timing for timing in self.timings if timing.key == key), None)

    def in_section(self, section: str) -> list[Timing]:
        """The timings of one section, in the order they were measured."""
        return [timing for timing in self.timings if timing.section == section]

    def save(self, path: Path) -> None:
        """Write JSON that ``load`` reads."""
        path.parent.mkdir(parents=True, exist_ok=True)
        values = asdict(self) | {
            name: [entry._asdict() for entry in getattr(self, name)]
            for name in _ENTRY_CLASSES
        }
        path.write_text(json.dumps({"format": FORMAT} | values, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> "BenchResults":
        """The results that ``save`` wrote; those of another version are refused."""
        try:
            values: dict[str, Any] = json.loads(path.read_text())
            if values.pop("format") != FORMAT:
                raise ValueError
            for name, kind in _ENTRY_CLASSES.items():
                values[name] = [kind(**entry) for entry in values[name]]
            return cls(**values)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise PersistenceError(
                f"{path} holds no results of this version's bench."
            ) from None


_ENTRY_CLASSES: dict[str, type[Any]] = {
    "timings": Timing,
    "agreements": Agreement,
    "memory_use": MemoryUse,
}


def relative_timings(new: BenchResults, old: BenchResults) -> list[Timing]:
    """New over old for every timing that both have; 1 means as fast as it was.

    The quartiles are divided by the old median.
    """
    before = {timing.key: timing.ns for timing in old.timings}
    return [
        timing.relative_to(before[timing.key])
        for timing in new.timings
        if timing.key in before
    ]
