"""The plan of a forecast: which columns, how far ahead, and what a file keeps of it."""

import json
import shlex
from typing import Any, NamedTuple

import numpy as np

from thalweg.autoregression.forecaster_state import ForecasterSettings, state_size
from thalweg.calendar.row_clock import find_series_grid
from thalweg.calendar.season_finder import Seasons, calendar_seasons
from thalweg.errors import InvalidParameterError, PersistenceError, StreamError
from thalweg.evaluation.backtest_scores import WARM_UP
from thalweg.evaluation.forecast_run import ForecastSettings
from thalweg.forecasting.forecaster import MAX_HORIZON
from thalweg.forecasting.forecaster_file import MAX_GIVEN
from thalweg.runs.memory import format_bytes, free_memory
from thalweg.tables.class_labels import MIN_VALUES as MIN_CLASS_VALUES
from thalweg.tables.column_format import ColumnFormat
from thalweg.tables.missing_codes import (
    ColumnRange,
    ranges_from_fields,
    without_counts,
)
from thalweg.tables.scan import Scan
from thalweg.tables.scanned_columns import NO_TIME, ScannedColumns, ScanOptions
from thalweg.tables.timestamps import TimeArray

PLAN = "plan"
"""The name by which a file of models holds the plan."""
DEFAULT_HORIZON = 24
LONGEST_DEFAULT = 1440
"""The longest season that is taken as the horizon: a day of minutes."""
ROWS_PER_STEP = 4
"""A default horizon is at most this part of the longest series, for a backtest."""
FEW_VALUES = 5
"""Number of values up to which little more than the last one can be forecast."""
MIN_VALUES = 2
"""Minimum known targets of a series."""
USUAL_SEASONS = Seasons(24, 168)
"""Seasons by which memory is estimated, before they are known."""


class ForecastOptions(NamedTuple):
    """What the command line says of the forecast itself."""

    horizon: int | None = None
    interval: float | None = None
    known: tuple[str, ...] | None = None
    season: tuple[int, ...] | None = None


class ForecastPlan(NamedTuple):
    """Columns and settings of a forecast; the same when it is resumed."""

    source: str
    target: str
    time: str | None
    keys: tuple[str, ...]
    settings: ForecastSettings
    formats: tuple[ColumnFormat, ...] = ()
    ranges: tuple[ColumnRange, ...] = ()  # by which codes are found; none: they stay

    @property
    def columns(self) -> ScannedColumns:
        """The columns to be read."""
        features = self.settings.features
        columns = ScannedColumns(
            self.target, self.time, self.keys, features, self.formats
        )
        columns.ranges = without_counts(self.ranges)
        return columns

    def as_json(self) -> str:
        """The plan as text for a file."""
        return json.dumps({**self._asdict(), "settings": self.settings._asdict()})

    @classmethod
    def from_json(cls, text: Any, name: str) -> "ForecastPlan":
        """The plan that a file holds; ``name`` is the file's."""
        try:
            fields = json.loads(text)
            settings = ForecastSettings(**_with_tuples(fields.pop("settings")))
            formats = tuple(ColumnFormat(*one) for one in fields.pop("formats"))
            ranges = ranges_from_fields(fields.pop("ranges", ()))
            fields = _with_tuples(fields) | {"formats": formats, "ranges": ranges}
            return cls(**fields, settings=settings)
        except (TypeError, ValueError, KeyError, AttributeError):
            raise PersistenceError(f"{name} holds no forecast of a file.") from None

    def refuse_changes(self, columns: ScanOptions, options: ForecastOptions) -> None:
        """Raise if an option that is given again is not what it was."""
        settings = self.settings
        given = {
            "target": (next(iter(columns.targets), None), self.target),
            "time": (columns.time, self.time or NO_TIME),
            "key": (columns.keys, self.keys),
            "features": (columns.features, settings.features),
            "codes": (columns.codes, "missing" if self.ranges else "keep"),
            "horizon": (options.horizon, settings.horizon),
            "interval": (options.interval, settings.interval),
            "known": (options.known, settings.known),
            "season": (options.season, settings.season),
        }
        for name, (value, before) in given.items():
            if value is not None and value != before:
                raise InvalidParameterError(
                    f"The forecast to be resumed has --{name} {_option_text(before)}. "
                    f"Got {_option_text(value)} instead."
                )


def check_scan(scan: Scan, source: str) -> None:
    """Raise unless the series of a table have values, in order of time."""
    columns, totals = scan.columns, list(scan.series.values())
    known = sum(one.known for one in totals)
    if not known:
        raise StreamError(
            f"The target {columns.target!r} of {source} is always missing."
        )
    if not columns.keys and known == 1:
        raise StreamError(
            f"{source} has one value of {columns.target!r}. A forecast takes two at "
            f"least, and its error is known from about ten on."
        )
    if not scan.is_ordered():
        raise StreamError(f"{source}: {scan.order_sentence()}")
    if columns.keys and all(one.known < MIN_VALUES for one in totals):
        raise StreamError(short_series_sentence(columns.keys, columns.target))


def short_series_sentence(keys: tuple[str, ...], target: str) -> str:
    """What to say where no series of a key has values enough."""
    return (
        f"Every series that --key {','.join(keys)} tells apart has fewer than two "
        f"values of {target!r}. Name the columns that say which series a row belongs "
        f"to, not which row it is."
    )


def make_plan(
    scan: Scan,
    options: ForecastOptions,
    source: str,
    first_times: TimeArray | None,
) -> ForecastPlan:
    """The plan for a table that was scanned, with the defaults that suit it."""
    columns = scan.columns
    if len(columns.features) > MAX_GIVEN:
        raise InvalidParameterError(
            f"A forecast takes at most {MAX_GIVEN} features, and {source} has "
            f"{len(columns.features)} columns of numbers beside the target. Name those "
            f"to use: --features."
        )
    known = scan.known_features() if options.known is None else options.known
    _check_known(known, scan, source)
    horizon = options.horizon or _default_horizon(scan, first_times)
    if not 1 <= horizon <= MAX_HORIZON:
        raise InvalidParameterError(
            f"--horizon takes 1 to {MAX_HORIZON:,} rows. Got {horizon} instead."
        )
    settings = ForecastSettings(
        horizon, columns.features, known, options.season, options.interval or 0.9
    )
    _require_memory(scan, settings, source)
    return ForecastPlan(
        source, columns.target, columns.time, columns.keys, settings, columns.formats,
        columns.first_ranges,
    )  # fmt: skip


def binary_notes(scan: Scan, source: str) -> list[str]:
    """A note where the target holds 0 and 1 only, which are classes."""
    known = sum(one.known for one in scan.series.values())
    if not scan.is_binary or known < MIN_CLASS_VALUES or scan.columns.keys:
        return []
    target = scan.columns.target
    return [
        f"{target!r} holds 0 and 1 only: the forecast is a mean of such values. "
        f"thalweg run {source} -t {shlex.quote(target)} classifies: it predicts the "
        f"probability of 1, also in rows at the end whose {target!r} is blank."
    ]


def far_horizon_notes(scan: Scan, horizon: int) -> list[str]:
    """A warning where no forecast so far ahead can have been scored."""
    longest = max((one.rows for one in scan.series.values()), default=0)
    known = max((one.known for one in scan.series.values()), default=0)
    if known <= FEW_VALUES:
        return [
            f"{'There is one value' if known == 1 else f'There are {known} values'} of "
            f"{scan.columns.target!r}: about the last one "
            "is forecast. A trend, a season and an error take more rows, and bands are "
            "wide or endless."
        ]
    if horizon < longest:
        return []
    return [
        f"The horizon of {horizon:,} rows reaches further than the {longest:,} rows "
        "there are: no forecast so far ahead can be checked, and bands may be endless."
    ]


def horizon_sentence(scan: Scan, horizon: int) -> str:
    """Why the horizon is what it is, where nobody said."""
    rows = "1 row" if horizon == 1 else f"{horizon:,} rows"
    season = _calendar_horizon(scan.first_times)
    longest = max(one.rows for one in scan.series.values())
    known = max(one.known for one in scan.series.values())
    if scan.has_future():
        reason = f"those at the end without {scan.columns.target!r}"
    elif known <= FEW_VALUES:
        reason = f"there are only {longest:,}"
    elif horizon < (season or DEFAULT_HORIZON):
        reason = f"a quarter of the {longest:,} there are"
        # The first origins of a backtest are not scored.
        if known > WARM_UP + horizon:
            reason += ", so that errors are known"
    elif season:
        reason = "one season by the calendar"
    elif scan.first_times is None:
        reason = "there is no column of dates that could show a season"
    else:
        reason = "the times show no season"
    return f"The horizon is {rows}: {reason}; --horizon to say otherwise."


def live_series(scan: Scan) -> int:
    """How many series have rows before and after some row of the table, at most."""
    spans = [(one.first_row, one.last_row) for one in scan.series.values()]
    starts, ends = np.sort(np.array(spans), axis=0).T
    return int((np.arange(1, len(spans) + 1) - np.searchsorted(ends, starts)).max())


def series_bytes(settings: ForecastSettings) -> int:
    """About how many bytes the model of one series takes."""
    flags = tuple(name in settings.known for name in settings.features)
    sizes = ForecasterSettings(settings.horizon, (), len(flags), flags)
    return 8 * state_size(sizes, USUAL_SEASONS)


def _default_horizon(scan: Scan, first_times: TimeArray | None) -> int:
    """The rows without a target; else a season by the calendar, else 24."""
    if scan.has_future():
        ahead = max(one.future for one in scan.series.values())
        return min(ahead, MAX_HORIZON)
    longest = max(one.rows for one in scan.series.values())
    horizon = _calendar_horizon(first_times) or DEFAULT_HORIZON
    return max(min(horizon, longest // ROWS_PER_STEP), 1)


def _calendar_horizon(first_times: TimeArray | None) -> int | None:
    """The rows of a season by the calendar; None where there is none, or a long one."""
    grid = None if first_times is None else find_series_grid(first_times).grid
    if grid is None:
        return None
    season = calendar_seasons(grid).season
    return season if 1 < season <= LONGEST_DEFAULT else None


def _check_known(known: tuple[str, ...], scan: Scan, source: str) -> None:
    for name in known:
        if name not in scan.columns.features:
            raise InvalidParameterError(
                f"--known names {name!r}, which is not among the columns of numbers to "
                f"forecast from: {', '.join(scan.columns.features) or 'none'}."
            )
    if known and not scan.has_future():
        raise StreamError(
            f"--known {known[0]}: the coming values of a column that is known in "
            f"advance stand in rows after the last {scan.columns.target!r}, with that "
            f"blank. {source} has no such row."
        )


def _require_memory(scan: Scan, settings: ForecastSettings, source: str) -> None:
    """Raise unless the models of all series that are live at once fit in memory."""
    count, free = live_series(scan), free_memory()
    needed = count * series_bytes(settings)
    if free is not None and needed > free:
        raise InvalidParameterError(
            f"The {count:,} series of {source} whose rows are mixed would need "
            f"{format_bytes(needed)} of memory, and {format_bytes(free)} are free. "
            f"Sort the rows by {', '.join(scan.columns.keys)}, so that one series "
            f"follows the other, or give a shorter --horizon."
        )


def _with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }


def _option_text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "none"
    if value == NO_TIME:
        return "none"
    return "(not given)" if value is None else str(value)
