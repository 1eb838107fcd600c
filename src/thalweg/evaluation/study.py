"""The results on one stream: all that a report shows, and no more."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from thalweg import checks
from thalweg.changes.alarms import ChangeAlarm
from thalweg.errors import InvalidParameterError
from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.error_ratio import error_ratio
from thalweg.types import FloatArray, array_entry

FORMAT = 3
"""Version of the dictionaries that ``as_dict`` gives."""
FORMAT_OF_ALARM_ROWS = 2
"""The version before: its alarms were rows of another detector, and are left out. Any
other version is refused."""
ROLES = ("tracker", "fixed", "paper", "rival", "peer", "baseline", "persistence")
BASELINE_ROLES = ("persistence", "baseline")
"""The simple baselines: the last value, and forecasts of one line that know a season
or a trend."""
SCALARS = {int, float, str, bool}
"""What may change: of the target, and its relation to a column."""
COMPARATORS = {
    "static": "best fixed",
    "dynamic": "best moving",
    "interval": "worst stretch",
}
"""What regret is measured against, and how tables and charts call it."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A learner that was run over the stream, and its errors in the scored rounds."""

    name: str
    role: str  # one of ROLES; "fixed" is a single setting kept throughout
    squared: float  # the mean squared error
    absolute: float  # the mean absolute error
    cumulative: Curve  # the cumulative squared error
    discount: float | None = None  # γ, where the learner has one that never changes
    description: str = ""  # of a simple baseline: what it does, in plain words
    absolute_errors: Curve | None = None  # over the rounds, where they were kept

    def __post_init__(self) -> None:
        checks.require_choice(self, "role", ROLES)


@dataclass(frozen=True, eq=False)
class TrackerHistory:
    """How the Tracker behaved over the stream."""

    memory: Curve  # the effective memory: how many past rounds count
    alarms: tuple[ChangeAlarm, ...]  # changes of the target, in order
    weights: Mapping[str, Curve]  # by kind of expert
    coefficients: Mapping[str, Curve]  # by feature
    coverage: tuple[tuple[float, float], ...]  # (nominal, measured)
    season: int  # 1 where there is none
    explanation: str  # Tracker.explain, at the end
    total_alarms: int | None = None  # with those not listed; None: all are listed

    @property
    def alarm_count(self) -> int:
        """How many alarms there were."""
        total = self.total_alarms
        return len(self.alarms) if total is None else total

    @property
    def largest_alarm(self) -> ChangeAlarm | None:
        """The change of the level that is largest of those listed, if it is not the
        last change; of values at one scale, no other unit is needed."""
        levels = [one for one in self.alarms[:-1] if one.kind == "level"]
        if not levels:
            return None
        largest = max(levels, key=_level_change)
        last = self.alarms[-1]
        is_less = last.kind == "level" and _level_change(largest) <= _level_change(last)
        return None if is_less else largest


def _level_change(alarm: ChangeAlarm) -> float:
    return abs(alarm.after - alarm.before)


@dataclass(frozen=True, eq=False)
class LastRounds:
    """The last rounds, one by one."""

    last_round: int  # the first round of all being 1
    observed: FloatArray  # (T,) NaN where no label is known
    forecast: FloatArray  # (T,)
    low: FloatArray | None = None  # (T,) the prediction band; NaN where there was none
    high: FloatArray | None = None
    time: FloatArray | None = None  # (T,) seconds since 1970, by local clocks


@dataclass(frozen=True, eq=False)
class PredictionBands:
    """The bands around forecasts, and their coverage."""

    nominal: float  # the share of values that they should hold
    low: Curve
    high: Curve
    covered: Curve  # 1 where the band held the value, 0 where it did not
    half_width: float | None = None  # the mean over scored rows; None: not known


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many numbers lay between each two edges."""

    edges: FloatArray  # (m + 1,) rising
    counts: FloatArray  # (m,)


@dataclass(frozen=True)
class Mark:
    """A learner on the chart of the frontier."""

    name: str
    path_length: (
        float  # of the shortest path that loses no more; 0 where none need move
    )
    loss: float


@dataclass(frozen=True, eq=False)
class Hindsight:
    """The frontier of hindsight: the least loss of a path of every length."""

    path_length: FloatArray  # (K,) V, rising from 0
    loss: FloatArray  # (K,) attained
    lower_bound: FloatArray  # (K,) proven
    marks: tuple[Mark, ...]
    rounds: int  # that the losses are sums over


@dataclass(frozen=True)
class RegretEntry:
    """What a learner lost beyond a comparator, and what theory allows it to lose."""

    name: str
    comparator: str  # one of COMPARATORS' keys
    measured: float
    bound: float | None

    def __post_init__(self) -> None:
        checks.require_choice(self, "comparator", tuple(COMPARATORS))


@dataclass(frozen=True, eq=False)
class Study:
    """One stream, the learners that were run on it, and the errors of each."""

    title: str
    target: str
    rounds: int  # all that were played
    scored_rounds: int  # those that errors are means over
    first_scored_round: int  # the round they begin with, the first round being 1
    features: tuple[str, ...]
    seconds: float  # that the Tracker took over all rounds
    entries: tuple[Entry, ...]
    observed: Curve  # y
    forecast: Curve  # the Tracker's
    history: TrackerHistory | None = None
    hindsight: Hindsight | None = None
    regrets: tuple[RegretEntry, ...] = ()
    notes: tuple[str, ...] = ()
    start: str | None = None  # time of the first round
    end: str | None = None  # and of the last
    last_rounds: LastRounds | None = None
    unfinished: tuple[str, ...] = ()  # what was not done because of a Ctrl-C
    times: Curve | None = None  # seconds since 1970, by local clocks
    bands: PredictionBands | None = None
    residuals: Histogram | None = None  # values minus forecasts, in the scored rounds
    effects: Mapping[str, float] | None = None  # mean size of each feature's effect
    column_features: tuple[str, ...] = ()  # those that are columns of the same row

    def __post_init__(self) -> None:
        names = [entry.name for entry in self.entries]
        for name in names:
            if names.count(name) > 1:
                raise InvalidParameterError(
                    f"The entries of a Study need names of their own. "
                    f"Got {name!r} {names.count(name)} times instead."
                )
        for role in ("tracker", "persistence"):
            if not self.entries_of_role(role):
                raise InvalidParameterError(
                    f"A Study needs an entry of role {role!r}. Got {names!r} instead."
                )
        _require_same_buckets("entries", (entry.cumulative for entry in self.entries))
        if self.history is not None:
            _require_same_buckets("weights", self.history.weights.values())
            _require_same_buckets("coefficients", self.history.coefficients.values())
        _require_same_buckets("observed and forecast", self._drawn_together())

    def _drawn_together(self) -> list[Curve]:
        """The curves that share the axis of the observed values."""
        curves = [self.observed, self.forecast]
        if self.bands is not None:
            curves += [self.bands.low, self.bands.high, self.bands.covered]
        return curves if self.times is None else [*curves, self.times]

    @property
    def tracker(self) -> Entry:
        """The learner that the study is about."""
        return self.entries_of_role("tracker")[0]

    @property
    def persistence(self) -> Entry:
        """The forecast that is the last label, which any other should beat."""
        return self.entries_of_role("persistence")[0]

    @property
    def baselines(self) -> tuple[Entry, ...]:
        """Persistence and the other simple baselines, the least error first."""
        entries = (entry for entry in self.entries if entry.role in BASELINE_ROLES)
        return tuple(sorted(entries, key=squared_order))

    @property
    def best_baseline(self) -> Entry:
        """The simple baseline of the least mean squared error."""
        return self.baselines[0]

    @property
    def best_simple_method(self) -> Entry:
        """The simple baseline of the least mean absolute error."""
        return min(self.baselines, key=lambda one: nan_last(one.absolute))

    def entries_of_role(self, role: str) -> tuple[Entry, ...]:
        """The entries of this role, the least error first."""
        entries = (entry for entry in self.entries if entry.role == role)
        return tuple(sorted(entries, key=squared_order))

    def ranked_entries(self) -> tuple[Entry, ...]:
        """All entries, the least error first."""
        return tuple(sorted(self.entries, key=squared_order))

    def entry(self, name: str) -> Entry:
        """The entry of this name."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        known = ", ".join(repr(entry.name) for entry in self.entries)
        raise InvalidParameterError(f"The entries are {known}. Got {name!r} instead.")

    def ratio(self, name: str, against: str) -> float:
        """The mean squared error of one entry over that of another."""
        return error_ratio(self.entry(name).squared, self.entry(against).squared)

    def with_alarms(self, alarms: tuple[ChangeAlarm, ...], total: int) -> "Study":
        """This study with changes of the target; ``total`` counts those not listed."""
        if self.history is None:
            return self
        history = replace(self.history, alarms=alarms, total_alarms=total)
        notes = self.notes
        if total > len(alarms):
            note = f"Of {total:,} changes the last {len(alarms):,} are shown."
            notes = (*notes, note)
        return replace(self, history=history, notes=notes)

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, for JSON; ``from_dict`` brings it back."""
        return {"format": FORMAT, **to_json(self)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Study":
        """The study that ``as_dict`` was taken of."""
        try:
            if given["format"] == FORMAT_OF_ALARM_ROWS:
                given = _without_alarms(given)
            elif given["format"] != FORMAT:
                raise ValueError(f"its format is {given['format']!r}, not {FORMAT}")
            study: Study = from_json(cls, given)
        except KeyError as error:
            why = f"{error} is missing"
        except (TypeError, ValueError, AttributeError) as error:
            why = str(error).rstrip(".")
        else:
            return study
        raise InvalidParameterError(f"This is no study: {why}.")


def _without_alarms(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The dictionary of a study without the alarms of its history."""
    history = given.get("history")
    if not isinstance(history, Mapping):
        return given
    return {**given, "history": {**history, "alarms": [], "total_alarms": None}}


def squared_order(entry: Any) -> float:
    """To sort by the mean squared error: what is not a number comes last."""
    return nan_last(entry.squared)


def nan_last(error: float) -> float:
    """To sort by: what is not a number comes last."""
    return np.inf if np.isnan(error) else error


def _require_same_buckets(what: str, curves: Iterable[Curve]) -> None:
    ends = [curve.last_round for curve in curves]
    if not all(np.array_equal(at, ends[0]) for at in ends):
        raise InvalidParameterError(
            f"The curves of {what} are drawn together and need the same buckets: "
            "downsampled to the same points, over the same rounds."
        )


def to_json(value: Any) -> Any:
    """Lists, numbers and strings; NaN and infinities, which JSON lacks, by name."""
    if is_dataclass(value):
        return {part.name: to_json(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_json(part) for name, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def from_json(kind: Any, value: Any) -> Any:
    """A ``kind`` from what ``to_json`` made of it.

    Raises ValueError, TypeError or KeyError where it was something else.
    """
    if kind in SCALARS:
        return _scalar(kind, value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        make: Any = kind
        # What an older file does not have yet is left to its default.
        parts = [one.name for one in fields(kind) if _has_value(one, value)]
        return make(**{name: from_json(hints[name], value[name]) for name in parts})
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        other = next(part for part in inner if part is not NoneType)
        return None if value is None else from_json(other, value)
    if array_entry(kind) is not None:
        entry = int if array_entry(kind) is np.int64 else float
        return np.array([_scalar(entry, part) for part in value], entry)
    if origin is tuple:
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(from_json(*part) for part in zip(kinds, value, strict=True))
    return {str(name): from_json(inner[1], part) for name, part in value.items()}


def _has_value(part: Field[Any], value: Any) -> bool:
    return part.default is MISSING or part.name in value


def _scalar(kind: Any, value: Any) -> Any:
    # float('nan') is NaN: the names that to_json gives are read by float itself.
    named = kind is float and value in ("nan", "inf", "-inf")
    expected = int | float if kind is float else kind
    is_of_kind = isinstance(value, bool) == (kind is bool) and (
        named or isinstance(value, expected)
    )
    if not is_of_kind:
        raise ValueError(f"{value!r} stands where a {kind.__name__} should")
    return kind(value)


LARGE_GAIN = 0.5
"""Limit of the Tracker's error, in units of the best simple method's, for a warning."""
MAIN_SHARE = 0.5
"""Minimum share of all effects on forecasts that columns of the same row have."""
MAX_NAMED = 3
"""Limit of the number of columns named in the warning."""


def leaking_columns(study: Study) -> tuple[str, ...]:
    """Columns of the same row that cause a large gain, the largest effect first.

    Also known as: target leakage, look-ahead. A total and its parts, or a closing price
    and the highest one of the day, become known together. When the one is to be
    forecast, the others are not known yet.
    """
    effects = study.effects or {}
    own = {name: effects[name] for name in study.column_features if name in effects}
    best = min((one.absolute for one in study.baselines), default=0.0)
    is_large = study.tracker.absolute < LARGE_GAIN * best
    if not is_large or sum(own.values()) <= MAIN_SHARE * sum(effects.values()):
        return ()
    return tuple(sorted(own, key=lambda name: -own[name]))


def leakage_sentence(study: Study) -> str:
    """A warning that names these columns, and what to do; empty without any."""
    names = leaking_columns(study)
    if not names:
        return ""
    *others, last = map(repr, names[:MAX_NAMED])
    listed = f"{', '.join(others)} and {last}" if others else last
    explain = "explains" if len(names) == 1 else "explain"
    those = "it is" if len(names) == 1 else "they are"
    return (
        f"{listed} of the same row {explain} most of {study.target}. If {those} known "
        f"only together with it, this is no forecast: name the columns to use, or "
        f"none, with --features."
    )
