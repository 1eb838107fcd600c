"""The work of ``thalweg forecast``: scan, learn, forecast, write what came of it."""

import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import typer

from thalweg.cli.console import (
    print_saved_files,
    print_sentence,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.cli.forecasts.file_scan import (
    NO_TIME,
    ColumnOptions,
    OpenTable,
    TableScan,
    scan_table,
)
from thalweg.cli.forecasts.forecast_files import (
    forecast_sections,
    write_forecasts,
    write_page,
)
from thalweg.cli.forecasts.forecast_loop import ForecastLoop
from thalweg.cli.forecasts.forecast_plan import (
    ForecastOptions,
    ForecastPlan,
    binary_notes,
    far_horizon_notes,
    horizon_sentence,
    make_plan,
)
from thalweg.cli.forecasts.forecast_tables import (
    print_overview,
    print_result,
    result_as_json,
)
from thalweg.cli.forecasts.measured_key import refuse_measured_key
from thalweg.cli.forecasts.model_files import MODEL, open_models, read_plan
from thalweg.cli.forecasts.newest_first import OrderOptions, in_time_order
from thalweg.cli.forecasts.resumed_rows import resumed_notes
from thalweg.cli.forecasts.row_keys import Key, key_text
from thalweg.cli.forecasts.scan_check import check_scan, short_series_sentence
from thalweg.cli.options import OutputOptions
from thalweg.cli.runs import study_files
from thalweg.cli.runs.file_locks import FileLocks
from thalweg.cli.runs.keyed_checkpoint import MODELS
from thalweg.cli.runs.output_paths import source_stem
from thalweg.cli.runs.signals import StopSignal
from thalweg.cli.runs.storage import refuse_overwriting
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.tables import Table
from thalweg.tables.missing_codes import code_notes, without_counts
from thalweg.tables.time_parts import split_joined

RUN_MODEL, RUN_MODELS = "forecast.thalweg", "forecasts.db"
"""Files of forecasters, beside those of the run that they belong to."""
MAX_NAMES = 5
"""Keys that a note names."""


class ForecastPaths(NamedTuple):
    """Where a forecast goes on from, and the files that it writes."""

    folder: Path
    model: Path
    resume: Path | None

    @property
    def forecast(self) -> Path:
        """The file of the next values."""
        return self.folder / study_files.FORECAST


class Source(NamedTuple):
    """A table that can be read several times."""

    given: str  # as the command line has it
    name: str
    stem: str
    open_table: OpenTable


def forecast_table(
    source: Source, columns: ColumnOptions, options: ForecastOptions,
    out: Path | None, resume: Path | None, is_next: bool | None, outputs: OutputOptions,
) -> None:  # fmt: skip
    """Forecast every series of a table; write, print and save what came of it."""
    outputs = study_files.available_outputs(outputs)
    plan = None if resume is None else read_plan(resume)
    if plan is not None:
        plan.refuse_changes(columns, options)
        columns = ColumnOptions(
            plan.target,
            plan.time,
            plan.keys,
            plan.settings.features,
            formats=plan.formats,
            ranges=without_counts(plan.ranges),
        )
        is_next = _is_next(plan, source, is_next)
        source = _with_times(source, plan.time)
    keys = columns.keys or ()
    if plan is None and keys and not {columns.target, columns.time} & {*keys}:
        refuse_measured_key(source.open_table, keys, columns.settings)
    source = _with_order(source, columns)
    scan = scan_table(source.open_table, columns)
    if plan is None:
        check_scan(scan, source.name, source.open_table)
    notes = _column_notes(scan)
    if plan is None:
        plan = make_plan(scan, options, source.name, scan.first_times)
        if options.horizon is None:
            notes.append(horizon_sentence(scan, plan.settings.horizon))
        notes += far_horizon_notes(scan, plan.settings.horizon)
        notes += binary_notes(scan, shlex.quote(source.given))
    notes += _feature_notes(plan, scan)
    paths = _paths(plan, source, out, resume)
    _print_notes(notes, outputs)
    with FileLocks() as locks:
        locks.acquire(paths.model)
        is_replaced = resume is None and paths.model.exists()
        loop, stop = _learn(plan, scan, source, paths, bool(is_next))
        resumed = resumed_notes(loop)
        _print_notes(resumed, outputs)
        notes += [*resumed, *_loop_notes(loop)]
        if stop.number is None:
            replaced = paths.model if is_replaced else None
            _write_results(loop, paths, outputs, notes, replaced)
        loop.models.close()
    if stop.number is not None:
        _show_resume_command(loop, source, paths)
        raise typer.Exit(stop.exit_code)


def _print_notes(notes: list[str], outputs: OutputOptions) -> None:
    if not outputs.json:
        for note in notes:
            print_sentence(stderr_console(), note)


class RunForecast(NamedTuple):
    """The forecast that a run ends with."""

    loop: ForecastLoop
    notes: list[str]
    saved: list[Path]

    def show(self) -> None:
        """Print the tables."""
        for note in self.notes:
            print_sentence(stderr_console(), note)
        _print_tables(self.loop.plan, self.loop.results)

    def sections(self, outputs: OutputOptions) -> list[Any]:
        """The sections of a page, if one is wanted."""
        if not (outputs.report or outputs.figures):
            return []
        return forecast_sections(self.loop, self.notes)

    def as_json(self) -> dict[str, Any]:
        """The numbers."""
        return _as_json(self.loop, self.saved, self.notes)


def forecast_after_run(
    source: Source, columns: ColumnOptions, options: ForecastOptions, folder: Path
) -> RunForecast:
    """Forecast the rows after those of a run; the files go to its folder."""
    source = _with_order(source, columns)
    scan = scan_table(source.open_table, columns)
    check_scan(scan, source.name, source.open_table)
    plan = make_plan(scan, options, source.name, scan.first_times)
    model = folder / (RUN_MODELS if plan.keys else RUN_MODEL)
    paths = ForecastPaths(folder, model, None)
    loop, stop = _learn(plan, scan, source, paths, False)
    loop.models.close()
    if stop.number is not None:
        raise typer.Exit(stop.exit_code)
    write_forecasts(loop.results, plan.keys, paths.forecast)
    notes = [*_column_notes(scan), *_feature_notes(plan, scan), *_loop_notes(loop)]
    return RunForecast(loop, notes, [model, paths.forecast])


def open_source(source: str, open_table: Callable[[], Table]) -> Source:
    """A table that ``open_table`` opens anew whenever it is read."""
    with open_table() as table:
        return Source(source, table.name, source_stem(table), open_table)


def _with_times(source: Source, time: str | None) -> Source:
    """The source with the columns joined that its times were joined of before."""
    open_table, parts = source.open_table, split_joined(time)
    if not parts:
        return source
    return source._replace(open_table=lambda: open_table().join_times(parts))


def _with_order(source: Source, columns: ColumnOptions) -> Source:
    """The source with its oldest row first, where the newest one comes first."""
    if columns.time == NO_TIME:
        return source
    order = OrderOptions(
        (columns.target,), columns.time, columns.keys, columns.settings, columns.formats
    )
    return source._replace(open_table=in_time_order(source.open_table, order))


def _learn(
    plan: ForecastPlan, scan: TableScan, source: Source, paths: ForecastPaths,
    is_next: bool,
) -> tuple[ForecastLoop, StopSignal]:  # fmt: skip
    """Learn all rows, with a bar that shows how far it is."""
    models = open_models(plan, paths.model, paths.resume)
    loop = ForecastLoop(plan, dict(scan.series), models, is_next, source.name)
    try:
        with (
            source.open_table() as table,
            StopSignal() as stop,
            progress_bar(f"forecasting {source.name}", 1.0) as bar,
        ):
            loop.run(table, stop, bar)
        if not loop.results and stop.number is None:
            _refuse_short_series(plan, source)
    except BaseException:
        models.discard()
        raise
    return loop, stop


def _refuse_short_series(plan: ForecastPlan, source: Source) -> None:
    """Raise, for no series has enough values."""
    if plan.keys:
        raise StreamError(short_series_sentence(plan.keys, plan.target))
    raise StreamError(
        f"{source.name} has fewer than two values of {plan.target!r}: there is nothing "
        f"to learn."
    )


def _write_results(
    loop: ForecastLoop, paths: ForecastPaths, outputs: OutputOptions, notes: list[str],
    replaced: Path | None,
) -> None:  # fmt: skip
    """Write the files, and print the tables or the JSON object."""
    plan, results = loop.plan, loop.results
    write_forecasts(results, plan.keys, paths.forecast)
    saved = [paths.model, paths.forecast]
    if not outputs.json:
        _print_tables(plan, results)
    saved += write_page(loop, paths.folder, outputs, notes)
    if outputs.json:
        typer.echo(json.dumps(_as_json(loop, saved, notes), allow_nan=False))
    else:
        print_saved_files(stdout_console(), saved, replaced)


def _print_tables(plan: ForecastPlan, results: Mapping[Key, ForecastResult]) -> None:
    console = stdout_console()
    if plan.keys:
        print_overview(console, results, plan.keys)
    else:
        print_result(console, results[()])


def _as_json(loop: ForecastLoop, saved: list[Path], notes: list[str]) -> dict[str, Any]:
    plan = loop.plan
    return {
        "source": loop.source,
        "target": plan.target,
        "key": list(plan.keys),
        "horizon": plan.settings.horizon,
        "interval": plan.settings.interval,
        "series": [result_as_json(result) for result in loop.results.values()],
        "notes": notes,
        "files": [str(path) for path in saved],
    }


def _paths(
    plan: ForecastPlan, source: Source, out: Path | None, resume: Path | None
) -> ForecastPaths:
    name = MODELS if plan.keys else MODEL
    folder = out or (
        resume.parent if resume else Path("out", f"{source.stem}-forecast")
    )
    model = resume if resume is not None and out is None else folder / name
    outputs = {"model": model, "forecast": folder / study_files.FORECAST}
    outputs |= {"page": folder / study_files.PAGE}
    refuse_overwriting({"source": source.given}, outputs, study_files.ADVICE)
    return ForecastPaths(folder, model, resume)


def _is_next(plan: ForecastPlan, source: Source, is_next: bool | None) -> bool:
    """Whether the source's rows come after those seen; times tell by themselves."""
    if plan.time is None and is_next is None and source.name != plan.source:
        raise InvalidParameterError(
            f"The forecast to be resumed was on {plan.source}, whose rows have no "
            f"times. Got {source.name} instead: say --next if its rows come after "
            f"those, --from-start if it begins with them."
        )
    return bool(is_next)


def _column_notes(scan: TableScan) -> list[str]:
    return [*scan.columns.notes, *code_notes(scan.columns.ranges)]


def _feature_notes(plan: ForecastPlan, scan: TableScan) -> list[str]:
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


def _show_resume_command(
    loop: ForecastLoop, source: Source, paths: ForecastPaths
) -> None:
    sentence = f"Stopped after row {loop.rows:,}. Go on with:"
    print_sentence(stderr_console(), sentence)
    command = f"thalweg forecast {shlex.quote(source.given)}"
    command += f" --resume {shlex.quote(str(paths.model))}"
    stderr_console().print(f"  {command}", markup=False, soft_wrap=True)
