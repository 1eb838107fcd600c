"""The work of ``thalweg forecast``: scan, learn, forecast, write what came of it."""

import csv
import io
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.errors import InvalidParameterError, PersistenceError, StreamError
from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.persistence.files import write
from thalweg.report.console import progress_bar, stdout_console
from thalweg.report.forecast_sections import forecast_numbers, forecast_section
from thalweg.report.keyed_sections import overview_section, rank_results
from thalweg.report.section import Section
from thalweg.report.terminal import print_section
from thalweg.runs import study_files
from thalweg.runs.command_output import (
    print_notes,
    print_outcome,
    print_resume_command,
)
from thalweg.runs.forecast_loop import ForecastLoop
from thalweg.runs.forecast_plan import (
    PLAN,
    ForecastOptions,
    ForecastPlan,
    binary_notes,
    check_scan,
    far_horizon_notes,
    horizon_sentence,
    make_plan,
    short_series_sentence,
)
from thalweg.runs.model_store import (
    MODEL,
    MODELS,
    ModelStore,
    is_database,
    open_models,
)
from thalweg.runs.repeated_rows import repeated_sentence
from thalweg.runs.settings import OutputOptions, PathOptions
from thalweg.runs.signals import StoppedError, StopSignal
from thalweg.runs.source import Source
from thalweg.runs.storage import FileLocks, make_folder, refuse_overwriting
from thalweg.tables import Chunk, Table
from thalweg.tables.missing_codes import code_notes, without_counts
from thalweg.tables.row_filters import BlankRows
from thalweg.tables.row_keys import Key, key_text
from thalweg.tables.scan import Scan, scan_table
from thalweg.tables.scanned_columns import NO_TIME, ScanOptions
from thalweg.tables.time_parts import split_joined

SECTIONS_EACH = 3
"""Keys with a section of their own: so many of the best, the middle and the worst."""


def write_forecasts(
    results: Mapping[Key, ForecastResult], columns: Sequence[str], path: Path
) -> None:
    """Write the next values of all series: key columns, time or step, and bands.

    An infinite end of a band is left empty: no error has been seen yet.
    """
    make_folder(path.parent)
    has_times = all(result.time_texts is not None for result in results.values())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    first = "time" if has_times else "step"
    writer.writerow([*columns, first, "forecast", "low", "high"])
    for key, result in results.items():
        ahead = result.forecast
        steps = [str(k) for k in range(1, len(ahead) + 1)]
        places = result.time_texts if has_times else steps
        numbers = zip(ahead.mean, ahead.low, ahead.high, strict=True)
        for place, row in zip(places or steps, numbers, strict=True):
            cells = [repr(float(v)) if np.isfinite(v) else "" for v in row]
            writer.writerow([*key, place, *cells])
    write(path, text.getvalue().encode())


def forecast_sections(loop: ForecastLoop, notes: Sequence[str]) -> list[Section]:
    """The sections of a page: of the only series, or an overview and a few keys.

    The best, the worst and the middle keys have a section of their own.
    """
    first = summary_section(loop, notes)
    if not loop.plan.keys:
        return [first]
    keys = [result.key for result in rank_results(list(loop.results.values()))]
    return [first] + [
        forecast_section(loop.full_result(key)) for key in interesting_keys(keys)
    ]


def summary_section(loop: ForecastLoop, notes: Sequence[str] = ()) -> Section:
    """The section of the only series, or of all together."""
    plan, results = loop.plan, loop.results
    if not plan.keys:
        return forecast_section(results[()], None, notes)
    title = f"All series of {loop.source}"
    return overview_section(
        rank_results(list(results.values())), plan.keys, title, notes
    )


def interesting_keys(ranked: Sequence[Key]) -> list[Key]:
    """The first, the middle and the last few of keys that are ranked."""
    if len(ranked) <= 3 * SECTIONS_EACH:
        return list(ranked)
    middle = (len(ranked) - SECTIONS_EACH) // 2
    parts = (slice(SECTIONS_EACH), slice(middle, middle + SECTIONS_EACH),
             slice(-SECTIONS_EACH, None))  # fmt: skip
    return [key for part in parts for key in ranked[part]]


RUN_MODEL, RUN_MODELS = "forecast.thalweg", "forecasts.db"
"""Files of forecasters, beside those of the run that they belong to."""
MAX_NAMES = 5
"""Keys that a note names."""


def forecast_table(
    source: Source, columns: ScanOptions, options: ForecastOptions, paths: PathOptions,
    is_next: bool | None, outputs: OutputOptions,
) -> int:  # fmt: skip
    """Forecast every series of a table; write, print and save what came of it.

    Returns the exit code: that of the signal if one has stopped it.
    """
    outputs = study_files.available_outputs(outputs)
    resume, models = paths.resume, None
    folder = paths.out or (
        resume.parent if resume else Path("out", f"{source.stem}-forecast")
    )
    if resume is not None:
        by_key = is_database(resume)
        model = folder / (MODELS if by_key else MODEL)
        model = resume if paths.out is None else model
        models = open_models(model, by_key, resume, is_kept_apart=True)
    try:
        return _forecast(source, columns, options, models, folder, is_next, outputs)
    except BaseException:
        if models is not None:
            models.discard()
        raise


def _forecast(
    source: Source, columns: ScanOptions, options: ForecastOptions,
    models: ModelStore | None, folder: Path, is_next: bool | None,
    outputs: OutputOptions,
) -> int:  # fmt: skip
    plan, is_new = None, models is None
    if models is not None:
        plan = _read_plan(models)
        plan.refuse_changes(columns, options)
        columns = ScanOptions(
            (plan.target,),
            plan.time or NO_TIME,
            plan.keys,
            plan.settings.features,
            formats=plan.formats,
            ranges=without_counts(plan.ranges),
        )
        _check_source(plan, source, is_next)
        source = source.with_times(split_joined(plan.time))
    opener = _opener(source, columns)
    scan = scan_table(opener, columns)
    notes = [*scan.key_notes(), *_column_notes(scan)]
    if plan is None:
        check_scan(scan, source.name)
        plan = make_plan(scan, options, source.name, scan.first_times)
        if options.horizon is None:
            notes.append(horizon_sentence(scan, plan.settings.horizon))
        notes += far_horizon_notes(scan, plan.settings.horizon)
        notes += binary_notes(scan, shlex.quote(source.given))
    notes += _feature_notes(plan, scan)
    if models is None:
        path = folder / (MODELS if plan.keys else MODEL)
        models = open_models(path, bool(plan.keys), is_kept_apart=True)
    files = {
        "model": models.path,
        "forecast": folder / study_files.FORECAST,
        "page": folder / study_files.PAGE,
    }
    refuse_overwriting({"source": source.given}, files, study_files.ADVICE)
    print_notes(notes, outputs)
    with FileLocks() as locks:
        locks.acquire(models.path)
        is_replaced = is_new and models.path.exists()
        loop = ForecastLoop(plan, dict(scan.series), models, bool(is_next), source.name)
        with StopSignal() as stop:
            _learn(loop, lambda: scan.prepare(opener()), stop)
        resumed = _resumed_notes(loop)
        print_notes(resumed, outputs)
        notes += [*resumed, *_loop_notes(loop)]
        if stop.number is None:
            replaced = models.path if is_replaced else None
            _write_results(loop, folder, outputs, notes, replaced)
        models.close()
    if stop.number is not None:
        print_resume_command("forecast", source.given, models.path, loop.rows)
    return stop.exit_code


class RunForecast:
    """The forecast that a run ends with: of the rows that the run plays."""

    def __init__(self, source: Source, scan: Scan, horizon: int, folder: Path) -> None:
        check_scan(scan, source.name)
        options = ForecastOptions(horizon)
        plan = make_plan(scan, options, source.name, scan.first_times)
        path = folder / (RUN_MODELS if plan.keys else RUN_MODEL)
        models = open_models(path, bool(plan.keys), is_kept_apart=True)
        self.saved = [path, folder / study_files.FORECAST]
        self._loop = ForecastLoop(plan, dict(scan.series), models, False, source.name)
        self._notes = [*_column_notes(scan), *_feature_notes(plan, scan)]
        self._blank_rows = BlankRows()

    def add(self, chunk: Chunk) -> None:
        """Learn the next rows."""
        rows = self._blank_rows.drop(chunk)
        if len(rows):
            self._loop.add(rows)

    def finish(self) -> None:
        """Forecast, and write the files."""
        loop = self._loop
        loop.finish(is_stopped=False)
        _refuse_short_series(loop)
        loop.models.close()
        write_forecasts(loop.results, loop.plan.keys, self.saved[1])
        self._notes += _loop_notes(loop)

    def close(self) -> None:
        """Remove what was written, unless it was finished."""
        if not self._loop.results:
            self._loop.models.discard()

    def show(self) -> None:
        """Print the tables."""
        print_notes(self._notes)
        print_section(stdout_console(), summary_section(self._loop))

    def sections(self, outputs: OutputOptions) -> list[Any]:
        """The sections of a page, if one is wanted."""
        return forecast_sections(self._loop, self._notes) if outputs.has_page else []

    def as_json(self) -> dict[str, Any]:
        """The numbers."""
        files = [str(path) for path in self.saved]
        return _as_json(self._loop, self._notes) | {"files": files}


def forecast_file(
    source: Source, target: str, horizon: int, folder: Path
) -> RunForecast:
    """The forecast of a file that no run plays."""
    columns = ScanOptions((target,))
    opener = _opener(source, columns)
    scan = scan_table(opener, columns)
    forecast = RunForecast(source, scan, horizon, folder)
    with scan.prepare(opener()) as table:
        for chunk in table.chunks():
            forecast.add(chunk)
    forecast.finish()
    return forecast


def _opener(source: Source, columns: ScanOptions) -> Callable[[], Table]:
    """Opens the table, without blank rows where rows have times."""

    def open_table() -> Table:
        table = source.open()
        return table if columns.time == NO_TIME else table.drop_blank_rows()

    return open_table


def _read_plan(models: ModelStore) -> ForecastPlan:
    """The plan of a forecast that is to be resumed."""
    text = models.read_shared(PLAN)
    if text is None:
        raise PersistenceError(
            f"{models.path} holds a model, but no forecast of a file that could go on."
        )
    return ForecastPlan.from_json(text, str(models.path))


def _learn(
    loop: ForecastLoop, open_table: Callable[[], Table], stop: StopSignal
) -> None:
    """Learn all rows, with a bar that shows how far it is."""
    try:
        with (
            open_table() as table,
            progress_bar(f"forecasting {loop.source}", 1.0) as bar,
        ):
            try:
                for chunk in stop.interruptible(table.chunks()):
                    loop.add(chunk)
                    bar.update(table.fraction(), loop.rows)
            except StoppedError:
                pass
            loop.finish(stop.number is not None)
        if stop.number is None:
            _refuse_short_series(loop)
    except BaseException:
        loop.models.discard()
        raise


def _refuse_short_series(loop: ForecastLoop) -> None:
    """Raise if no series has enough values."""
    plan = loop.plan
    if loop.results:
        return
    if plan.keys:
        raise StreamError(short_series_sentence(plan.keys, plan.target))
    raise StreamError(
        f"{loop.source} has fewer than two values of {plan.target!r}: there is nothing "
        f"to learn."
    )


def _write_results(
    loop: ForecastLoop, folder: Path, outputs: OutputOptions, notes: list[str],
    replaced: Path | None,
) -> None:  # fmt: skip
    """Write the files, and print the tables or the JSON object."""
    plan, path = loop.plan, folder / study_files.FORECAST
    write_forecasts(loop.results, plan.keys, path)
    saved = [loop.models.path, path]
    if not outputs.json:
        print_section(stdout_console(), summary_section(loop))
    if outputs.has_page:
        sections, horizon = forecast_sections(loop, notes), plan.settings.horizon
        values = "value" if horizon == 1 else f"{horizon:,} values"
        title = f"{plan.target}: the next {values}"
        saved += study_files.write_page(sections, sections, folder, outputs, title)
    content = _as_json(loop, notes)
    print_outcome(stdout_console(), content, saved, outputs, replaced)


def _as_json(loop: ForecastLoop, notes: list[str]) -> dict[str, Any]:
    plan = loop.plan
    return {
        "source": loop.source,
        "target": plan.target,
        "key": list(plan.keys),
        "horizon": plan.settings.horizon,
        "interval": plan.settings.interval,
        "series": [forecast_numbers(result) for result in loop.results.values()],
        "notes": notes,
    }


def _check_source(plan: ForecastPlan, source: Source, is_next: bool | None) -> None:
    """Raise unless it is known which rows are new; times tell by themselves."""
    if plan.time is None and is_next is None and source.name != plan.source:
        raise InvalidParameterError(
            f"The forecast to be resumed was on {plan.source}, whose rows have no "
            f"times. Got {source.name} instead: say --next if its rows come after "
            f"those, --from-start if it begins with them."
        )


def _column_notes(scan: Scan) -> list[str]:
    return [*scan.columns.notes, *code_notes(scan.columns.ranges)]


def _feature_notes(plan: ForecastPlan, scan: Scan) -> list[str]:
    settings = plan.settings
    notes = []
    if settings.known:
        names = ", ".join(settings.known)
        notes.append(f"Known in advance, from rows without {plan.target!r}: {names}.")
    ahead = max((one.future for one in scan.series.values()), default=0)
    if ahead > settings.horizon:
        notes.append(
            f"{ahead:,} rows at the end have no {plan.target!r}, of which the first "
            f"{settings.horizon:,} are forecast."
        )
    return notes


def _loop_notes(loop: ForecastLoop) -> list[str]:
    names = [key_text(key) for key in loop.too_short]
    if not names or not loop.plan.keys:
        return []
    shown = ", ".join(names[:MAX_NAMES])
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    note = f"Series with fewer than two values are left out: {shown}{more}."
    return [note]


def _resumed_notes(loop: ForecastLoop) -> list[str]:
    """How many rows were learnt after those before, and how many passed over."""
    before, new = loop.earlier_rows, loop.new_rows
    if not before:
        return []
    if not new:
        return [f"No new row in {loop.source}: the model has learnt {before:,} before."]
    rows = "1 new row" if new == 1 else f"{new:,} new rows"
    were = "was" if new == 1 else "were"
    notes = [f"{rows} of {loop.source} {were} learnt, after {before:,} before."]
    if loop.passed_over:
        notes.append(repeated_sentence(loop.passed_over, loop.source))
    return notes
