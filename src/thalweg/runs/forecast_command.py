"""The work of ``thalweg forecast``: scan, learn, forecast, write what came of it."""

import csv
import io
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from thalweg.errors import InvalidParameterError, PersistenceError
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
from thalweg.runs.forecast_plan import (
    PLAN,
    ForecastOptions,
    ForecastPlan,
    binary_notes,
    check_scan,
    far_horizon_notes,
    horizon_sentence,
    make_plan,
)
from thalweg.runs.forecast_session import ForecastSession
from thalweg.runs.model_store import (
    MODEL,
    MODELS,
    ModelStore,
    is_database,
    open_models,
)
from thalweg.runs.settings import OutputOptions, RunSettings
from thalweg.runs.signals import StoppedError, StopSignal
from thalweg.runs.source import Source, refuse_other_source
from thalweg.runs.storage import FileLocks, make_folder, refuse_overwriting
from thalweg.tables import Chunk, Table
from thalweg.tables.cell_formats import FormatSettings
from thalweg.tables.missing_codes import code_notes, without_counts
from thalweg.tables.row_filters import BlankRows
from thalweg.tables.row_keys import Key
from thalweg.tables.scan import Scan, scan_table
from thalweg.tables.scanned_columns import NO_TIME, ScanOptions
from thalweg.tables.time_parts import split_joined

SECTIONS_EACH = 3
"""Number of keys with a section of their own: of the best, the middle, the worst."""


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


def forecast_sections(session: ForecastSession, notes: Sequence[str]) -> list[Section]:
    """The sections of a page: of the only series, or an overview and a few keys.

    The best, the worst and the middle keys have a section of their own.
    """
    first = summary_section(session, notes)
    if not session.plan.keys:
        return [first]
    keys = [result.key for result in rank_results(list(session.results.values()))]
    return [first] + [
        forecast_section(session.full_result(key)) for key in interesting_keys(keys)
    ]


def summary_section(session: ForecastSession, notes: Sequence[str] = ()) -> Section:
    """The section of the only series, or of all together."""
    plan, results = session.plan, session.results
    if not plan.keys:
        return forecast_section(results[()], None, notes)
    title = f"All series of {session.source}"
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


def forecast_table(settings: RunSettings, options: ForecastOptions) -> int:
    """Forecast every series of a table; write, print and save what came of it.

    Returns the exit code: that of the signal if one has stopped it.
    """
    columns, paths, models = _scan_options(settings), settings.paths, None
    source, resume, is_next = settings.source.as_file(), paths.resume, settings.is_next
    outputs = study_files.available_outputs(settings.outputs)
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
        if plan.time is None and is_next is None:  # Times say which rows are new.
            refuse_other_source("forecast", plan.source, source.name)
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
    session = ForecastSession(plan, scan.series, models, source.name, bool(is_next))
    with FileLocks() as locks, closing(TableForecast(session, folder, notes)) as done:
        locks.acquire(models.path)
        replaced = models.path if is_new and models.path.exists() else None
        with (
            StopSignal() as stop,
            scan.prepare(opener()) as table,
            progress_bar(f"forecasting {source.name}", 1.0) as bar,
        ):
            with suppress(StoppedError):
                for chunk in stop.interruptible(table.chunks()):
                    session.play(chunk)
                    bar.update(table.fraction(), session.rows)
            done.finish(stop.number is not None)
        print_notes(session.notes(), outputs)
        if stop.number is None:
            _write_results(done, folder, outputs, replaced)
    if stop.number is not None:
        print_resume_command("forecast", source.given, models.path, session.rows)
    return stop.exit_code


class TableForecast:
    """The forecasts of a table: of a command of its own, or what a run ends with."""

    def __init__(
        self, session: ForecastSession, folder: Path, notes: Sequence[str]
    ) -> None:
        self.session = session
        self.saved = [session.models.path, folder / study_files.FORECAST]
        self._notes = list(notes)
        self._blank_rows = BlankRows()
        self._is_finished = False

    @classmethod
    def of_run(cls, source: Source, scan: Scan, horizon: int, folder: Path) -> Self:
        """The forecast of the rows that a run plays, before the first of them."""
        check_scan(scan, source.name)
        options = ForecastOptions(horizon)
        plan = make_plan(scan, options, source.name, scan.first_times)
        path = folder / (RUN_MODELS if plan.keys else RUN_MODEL)
        models = open_models(path, bool(plan.keys), is_kept_apart=True)
        session = ForecastSession(plan, scan.series, models, source.name)
        return cls(session, folder, [*_column_notes(scan), *_feature_notes(plan, scan)])

    def play(self, chunk: Chunk) -> None:
        """Learn the next rows, but for those without any value."""
        rows = self._blank_rows.drop(chunk)
        if len(rows):
            self.session.play(rows)

    def finish(self, is_stopped: bool = False) -> None:
        """Save the models and, unless a signal has stopped it, write the forecasts."""
        session = self.session
        session.finish(is_stopped)
        self._is_finished = True
        session.models.close()
        if not is_stopped:
            write_forecasts(session.results, session.plan.keys, self.saved[1])
            self._notes += session.notes()

    def close(self) -> None:
        """Remove what was written, unless it was finished."""
        if not self._is_finished:
            self.session.models.discard()

    def show(self) -> None:
        """Print the tables."""
        print_section(stdout_console(), summary_section(self.session))

    def show_with_notes(self) -> None:
        """Print what is known of the columns, and the tables."""
        print_notes(self._notes)
        self.show()

    def sections(self, outputs: OutputOptions) -> list[Any]:
        """The sections of a page, if one is wanted."""
        if not outputs.has_page:
            return []
        return forecast_sections(self.session, self._notes)

    def as_json(self) -> dict[str, Any]:
        """The numbers."""
        session = self.session
        plan = session.plan
        return {
            "source": session.source,
            "target": plan.target,
            "key": list(plan.keys),
            "horizon": plan.settings.horizon,
            "interval": plan.settings.interval,
            "series": [forecast_numbers(one) for one in session.results.values()],
            "notes": self._notes,
            "files": [str(path) for path in self.saved],
        }


def forecast_file(
    source: Source, target: str, horizon: int, folder: Path
) -> TableForecast:
    """The forecast of a file that no run plays."""
    columns = ScanOptions((target,))
    opener = _opener(source, columns)
    scan = scan_table(opener, columns)
    forecast = TableForecast.of_run(source, scan, horizon, folder)
    with scan.prepare(opener()) as table:
        for chunk in table.chunks():
            forecast.session.play(chunk)
    forecast.finish()
    return forecast


def _scan_options(settings: RunSettings) -> ScanOptions:
    """The columns that the command line names, of which one is forecast."""
    recipe, targets = settings.recipe, settings.recipe.get("targets", ())
    if not targets and settings.paths.resume is None:
        raise InvalidParameterError("Say which column to forecast: --target NAME.")
    if len(targets) > 1:
        raise InvalidParameterError(
            f"One column is forecast at a time. Got --target {' and '.join(targets)}."
        )
    time = recipe.get("time")
    return ScanOptions(
        targets,
        NO_TIME if "time" in recipe and time is None else time,
        settings.keys,
        recipe.get("features"),
        FormatSettings(recipe.get("dayfirst"), recipe.get("decimal")),
        codes=recipe.get("codes"),
    )


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


def _write_results(
    forecast: TableForecast, folder: Path, outputs: OutputOptions, replaced: Path | None
) -> None:
    """Write the page, and print the tables or the JSON object."""
    plan, saved = forecast.session.plan, [*forecast.saved]
    if not outputs.json:
        forecast.show()
    if outputs.has_page:
        sections, horizon = forecast.sections(outputs), plan.settings.horizon
        values = "value" if horizon == 1 else f"{horizon:,} values"
        title = f"{plan.target}: the next {values}"
        saved += study_files.write_page(sections, sections, folder, outputs, title)
    print_outcome(stdout_console(), forecast.as_json(), saved, outputs, replaced)


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
