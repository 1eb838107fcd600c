"""What was found out about one stream: all that a report shows, and no more."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.evaluation.digest import Curve
from thalweg.evaluation.plain import plain, restored
from thalweg.types import FloatArray

FORMAT = 1
"""Of the dictionaries that ``as_dict`` gives; one that differs is refused."""
ROLES = ("tracker", "fixed", "paper", "rival", "peer", "persistence")
AGAINST = {
    "static": "best fixed",
    "dynamic": "best moving",
    "interval": "worst stretch",
}
"""What regret is measured against, and the words that tables and charts have for it."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A learner that was run over the stream, and its errors in the scored rounds."""

    name: str
    role: str  # one of ROLES; "fixed" is a single setting kept throughout
    squared: float  # the mean squared error
    absolute: float  # the mean absolute error
    running: Curve  # the cumulative squared error: Digest.running
    discount: float | None = None  # γ, where the learner has one that never changes

    def __post_init__(self) -> None:
        checks.require_choice(self, "role", ROLES)


@dataclass(frozen=True, eq=False)
class Inside:
    """What went on inside the Tracker."""

    memory: Curve  # the rounds that count
    alarms: tuple[int, ...]  # the rounds of abrupt change, the first round being 1
    weights: Mapping[str, Curve]  # by kind of expert
    coefficients: Mapping[str, Curve]  # by feature
    coverage: tuple[tuple[float, float], ...]  # (level promised, part measured)
    season: int  # 1 where there is none
    words: str  # Tracker.explain, at the end
    alarms_in_all: int | None = None  # with those not listed; None: all are listed

    @property
    def alarm_count(self) -> int:
        """How many alarms there were."""
        in_all = self.alarms_in_all
        return len(self.alarms) if in_all is None else in_all


@dataclass(frozen=True, eq=False)
class Recent:
    """The last rounds, one by one."""

    last: int  # the last of them, the first round of all being 1
    observed: FloatArray  # (T,) NaN where no label is known
    forecast: FloatArray  # (T,)


@dataclass(frozen=True)
class Mark:
    """A learner among the paths of hindsight."""

    name: str
    path_length: (
        float  # of the shortest path that loses no more; 0 where none need move
    )
    loss: float


@dataclass(frozen=True, eq=False)
class Hindsight:
    """The least loss of a path of every length, and learners beside it."""

    path_length: FloatArray  # (K,) V, rising from 0
    loss: FloatArray  # (K,) attained
    lower: FloatArray  # (K,) proven
    marks: tuple[Mark, ...]
    rounds: int  # that the losses are sums over


@dataclass(frozen=True)
class Regret:
    """What a learner lost beyond a comparator, and what theory allows it to lose."""

    name: str
    against: str  # one of AGAINST's keys
    measured: float
    bound: float | None

    def __post_init__(self) -> None:
        checks.require_choice(self, "against", tuple(AGAINST))


@dataclass(frozen=True, eq=False)
class Study:
    """One stream, the learners that were run over it, and how far each came."""

    title: str
    target: str
    rounds: int  # all that were played
    scored: int  # those that errors are means over
    first_scored: int  # the round they begin with, the first round being 1
    features: tuple[str, ...]
    seconds: float  # that the Tracker took over all rounds
    entries: tuple[Entry, ...]
    observed: Curve  # y
    forecast: Curve  # the Tracker's
    inside: Inside | None = None
    hindsight: Hindsight | None = None
    regrets: tuple[Regret, ...] = ()
    notes: tuple[str, ...] = ()
    start: str | None = None  # time of the first round
    end: str | None = None  # and of the last
    recent: Recent | None = None
    left: tuple[str, ...] = ()  # what a Ctrl-C left no time for

    def __post_init__(self) -> None:
        names = [entry.name for entry in self.entries]
        for name in names:
            if names.count(name) > 1:
                raise InvalidParameterError(
                    f"The entries of a Study need names of their own. "
                    f"Got {name!r} {names.count(name)} times instead."
                )
        for role in ("tracker", "persistence"):
            if not self.of_role(role):
                raise InvalidParameterError(
                    f"A Study needs an entry of role {role!r}. Got {names!r} instead."
                )
        _drawn_together("entries", (entry.running for entry in self.entries))
        if self.inside is not None:
            _drawn_together("weights", self.inside.weights.values())
            _drawn_together("coefficients", self.inside.coefficients.values())
        _drawn_together("observed and forecast", (self.observed, self.forecast))

    @property
    def tracker(self) -> Entry:
        """The learner that the study is about."""
        return self.of_role("tracker")[0]

    @property
    def persistence(self) -> Entry:
        """The forecast that is the last label, which any other should beat."""
        return self.of_role("persistence")[0]

    def of_role(self, role: str) -> tuple[Entry, ...]:
        """The entries of this role, the least error first."""
        kept = (entry for entry in self.entries if entry.role == role)
        return tuple(sorted(kept, key=_error))

    def ranked(self) -> tuple[Entry, ...]:
        """All entries, the least error first."""
        return tuple(sorted(self.entries, key=_error))

    def entry(self, name: str) -> Entry:
        """The entry of this name."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        known = ", ".join(repr(entry.name) for entry in self.entries)
        raise InvalidParameterError(f"The entries are {known}. Got {name!r} instead.")

    def ratio(self, name: str, against: str) -> float:
        """The mean squared error of one entry over that of another."""
        above, below = self.entry(name).squared, self.entry(against).squared
        if below == 0:
            return 1.0 if above == 0 else float("inf")
        return above / below

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, for JSON; ``from_dict`` brings it back."""
        return {"format": FORMAT, **plain(self)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Study":
        """The study that ``as_dict`` was taken of."""
        try:
            if found["format"] != FORMAT:
                raise ValueError(f"its format is {found['format']!r}, not {FORMAT}")
            study: Study = restored(cls, found)
        except KeyError as error:
            why = f"{error} is missing"
        except (TypeError, ValueError, AttributeError) as error:
            why = str(error).rstrip(".")
        else:
            return study
        raise InvalidParameterError(f"This is no study: {why}.")


def _error(entry: Entry) -> float:
    """To sort by: a learner whose error is not a number comes last."""
    return np.inf if np.isnan(entry.squared) else entry.squared


def _drawn_together(what: str, curves: Iterable[Curve]) -> None:
    ends = [curve.at for curve in curves]
    if not all(np.array_equal(at, ends[0]) for at in ends):
        raise InvalidParameterError(
            f"The curves of {what} are drawn together and need the same buckets: "
            "digests with the same points, over the same rounds."
        )
