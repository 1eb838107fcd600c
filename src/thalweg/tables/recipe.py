"""What to make of a table: which columns are targets and features, and how."""

from dataclasses import dataclass
from typing import get_args

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.preprocessing.imputer import Missing


@dataclass(frozen=True)
class Recipe:
    """How rows become rounds: columns to features x and targets y.

    ``features``: None takes every column but targets, times and those without a name.
    Numbers are taken as they are. Text becomes one-hot: each of the first
    ``categories`` levels to appear gets a feature, and all later ones share another.
    A column is what its first row is, a number where that is missing; columns named in
    ``text`` are text whatever they look like.

    ``time`` names a column of times or numbers that must never go back: of times with
    offsets from UTC the moments. ``calendar`` names a column of times, and adds where
    each is in its day, week and year by the clock on the wall, as sines and cosines:
    six features. Either all times of a column have an offset or none.

    ``lags`` adds each target as it was so many rounds ago; rounds without that much
    past are dropped. With a ``delay`` of d rounds a target is known only d rounds
    later, so that lags must be larger than d.

    ``missing``: ``"refuse"`` a missing number by name, or hand it on as NaN to a model
    that was told to ``"skip"`` or ``"impute"``.
    """

    targets: tuple[str, ...]
    features: tuple[str, ...] | None = None
    time: str | None = None
    lags: tuple[int, ...] = ()
    calendar: str | None = None
    delay: int = 0
    missing: Missing = "refuse"
    categories: int = 8  # each costs a feature, seen or not: the width is fixed
    text: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.instance(self, "delay", int)
        checks.instance(self, "categories", int)
        checks.in_interval(self, "delay", "[0, inf)")
        checks.in_interval(self, "categories", "[1, inf)")
        checks.one_of(self, "missing", get_args(Missing))
        for name in ("targets", "text", "lags", "features"):
            self._check_distinct(name)
        if not self.targets:
            raise InvalidParameterError("A Recipe needs at least one target.")
        for name in ("features", "text"):
            self._check_no_target_in(name, getattr(self, name) or ())
        self._check_no_target_in("time", (self.time,))
        for lag in self.lags:
            self._check_lag(lag)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named."""
        times = (name for name in (self.time, self.calendar) if name is not None)
        return (*self.targets, *(self.features or ()), *times, *self.text)

    @property
    def past(self) -> int:
        """Rounds of past that the lags need."""
        return max(self.lags, default=0)

    def _check_distinct(self, name: str) -> None:
        given = getattr(self, name)
        if given is None:
            return
        if not isinstance(given, tuple) or len(set(given)) < len(given):
            raise InvalidParameterError(
                f"The {name!r} parameter of Recipe must be a tuple without "
                f"repetitions. Got {given!r} instead."
            )

    def _check_no_target_in(self, name: str, given: tuple[str | None, ...]) -> None:
        for target in self.targets:
            if target in given:
                raise InvalidParameterError(
                    f"The target {target!r} cannot be in {name!r} as well."
                )

    def _check_lag(self, lag: int) -> None:
        checks.instance_of("Recipe", "lags", lag, int)
        checks.argument("Recipe", "lags", lag, "[1, inf)")
        if lag <= self.delay:
            raise InvalidParameterError(
                f"Lag {lag} is not known in time: with a delay of {self.delay} rounds, "
                f"lags must be {self.delay + 1} or more."
            )
