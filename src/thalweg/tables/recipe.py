"""The recipe of an encoder: which columns become targets and features, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.imputer import POLICIES, MissingPolicy

AUTO: Literal["auto"] = "auto"
"""A setting that is found from the rows."""
CodePolicy = Literal["missing", "keep"]
CODE_POLICIES: tuple[CodePolicy, ...] = ("missing", "keep")
"""What to do with codes such as -999."""


@dataclass(frozen=True)
class Recipe:
    """How rows become rounds: columns to features x and targets y.

    ``targets`` may be none: whoever learns from the rows then has their targets from
    elsewhere. ``features``: None takes every column but targets, times and those
    without a name. Numbers are taken as they are. Text becomes one-hot: each of the
    first ``categories`` levels to appear gets a feature, and all later ones share
    another. The first row decides whether a column holds numbers or text (a missing
    value counts as a number); columns named in ``text`` are text whatever they look
    like.

    ``time`` names a column of times or numbers that must never go back; times with
    offsets from UTC are ordered by their instants. ``"auto"`` takes the first column of
    times, if there is one, whose times may also go back or be missing. ``calendar``
    names a column of times, and adds the position of each in its day, week and year, by
    the local clock, as sines and cosines: six features. Either all times of a column
    have an offset or none has. ``"auto"`` adds the position in the year where rows are
    days; positions in shorter seasons are in the means below.

    ``lags`` adds each target as it was that many rows ago; rows without that much past
    are dropped. ``"auto"`` adds two features a target, which no row is dropped for: a
    forecast by its own past, and its mean at the same phase of the season, such as the
    same hour of the week (autoregression/past_features.py). With a ``delay`` of d rows
    a target is known only d rows later, so that lags must be larger than d.

    ``dayfirst`` says whether the day comes first in 01/02/2024, and ``decimal`` which
    decimal mark numbers have; both are found out if not given (cell_formats.py).

    ``codes``: ``"missing"`` takes numbers such as -999 and 9999 that lie far outside of
    all others of their column as missing (missing_codes.py); ``"keep"`` does not.

    ``missing``: ``"refuse"`` raises an error that names the first missing number; under
    any policy that accepts it (``imputer.POLICY_RULES``) it becomes NaN.
    """

    targets: tuple[str, ...]
    features: tuple[str, ...] | None = None
    time: str | None = AUTO
    lags: tuple[int, ...] | Literal["auto"] = AUTO
    calendar: str | None = AUTO
    delay: int = 0
    missing: MissingPolicy = "refuse"
    categories: int = 8  # each costs a feature, seen or not: the width is fixed
    text: tuple[str, ...] = ()
    dayfirst: bool | None = None  # None: the first rows tell, or the month is first
    decimal: str | None = None  # "." or ","; None: the first rows tell
    codes: CodePolicy = "keep"

    def __post_init__(self) -> None:
        checks.require_type(self, "delay", int)
        checks.require_type(self, "categories", int)
        checks.require_interval(self, "delay", "[0, inf)")
        checks.require_interval(self, "categories", "[1, inf)")
        checks.require_choice(self, "missing", POLICIES)
        checks.require_choice(self, "codes", CODE_POLICIES)
        if self.decimal is not None:
            checks.require_choice(self, "decimal", (".", ","))
        if self.dayfirst is not None:
            checks.require_type(self, "dayfirst", bool)
        for name in ("targets", "text", "features"):
            self._check_distinct(name)
        if self.lags != AUTO:
            self._check_distinct("lags")
        if self.fixed_lags and not self.targets:
            raise InvalidParameterError(
                f"The lags of a Recipe are of targets, of which it names none. Got "
                f"lags={self.lags!r}."
            )
        for name in ("features", "text"):
            self._check_no_target_in(name, getattr(self, name) or ())
        self._check_no_target_in("time", (self.time,))
        for lag in self.fixed_lags:
            self._check_lag(lag)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """The recipe of these settings, in which JSON has lists for tuples."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in settings.items()
        }
        return cls(**values)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named."""
        names = (self.given_time, self.given_calendar)
        times = (name for name in names if name is not None)
        return (*self.targets, *(self.features or ()), *times, *self.text)

    @property
    def longest_lag(self) -> int:
        """Rows of past that the lags need."""
        return max(self.fixed_lags, default=0)

    @property
    def fixed_lags(self) -> tuple[int, ...]:
        """The lags that are given by number."""
        return () if self.lags == AUTO else self.lags

    @property
    def has_past_features(self) -> bool:
        """Whether features are made of the targets' own past."""
        return self.lags == AUTO and bool(self.targets)

    @property
    def given_calendar(self) -> str | None:
        """The column of the calendar, if one is named."""
        return None if self.calendar == AUTO else self.calendar

    @property
    def given_time(self) -> str | None:
        """The column of times, if one is named."""
        return None if self.time == AUTO else self.time

    def refuse_changes(self, before: "Recipe") -> None:
        """Raise if a setting is not what it was in the run before."""
        for name in (field.name for field in fields(self)):
            value, earlier = getattr(self, name), getattr(before, name)
            if value != earlier:
                raise InvalidParameterError(
                    f"The {name!r} of the run before is {earlier!r}. "
                    f"Got {value!r} instead."
                )

    def _check_distinct(self, name: str) -> None:
        values = getattr(self, name)
        if values is None:
            return
        if not isinstance(values, tuple) or len(set(values)) < len(values):
            raise InvalidParameterError(
                f"The {name!r} parameter of Recipe must be a tuple without "
                f"repetitions. Got {values!r} instead."
            )

    def _check_no_target_in(self, name: str, columns: tuple[str | None, ...]) -> None:
        for target in self.targets:
            if target in columns:
                raise InvalidParameterError(
                    f"The target {target!r} cannot be in {name!r} as well."
                )

    def _check_lag(self, lag: int) -> None:
        checks.require_argument_type("Recipe", "lags", lag, int)
        checks.require_argument("Recipe", "lags", lag, "[1, inf)")
        if lag <= self.delay:
            raise InvalidParameterError(
                f"Lag {lag} is not known in time: with a delay of {self.delay} rows, "
                f"lags must be {self.delay + 1} or more."
            )
