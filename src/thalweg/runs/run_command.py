"""The work of ``thalweg run``: play the rows of a table, and tell what came of it."""

import time
from contextlib import closing, nullcontext
from typing import Any

from rich.console import Console

from thalweg.errors import InvalidParameterError
from thalweg.kernels.compiler.jit import compilation_seconds
from thalweg.report.console import (
    print_sentence,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.runs import study_files
from thalweg.runs.checkpoint import RunOrigin, load_checkpoint
from thalweg.runs.command_output import (
    print_notes,
    print_outcome,
    print_resume_command,
)
from thalweg.runs.forecast_command import TableForecast
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.model_store import ModelStore, is_database, open_models
from thalweg.runs.output_paths import OutputPaths
from thalweg.runs.prediction_file import check_suffix
from thalweg.runs.run_loop import RunLoop
from thalweg.runs.run_results import RunResults
from thalweg.runs.settings import RunSettings
from thalweg.runs.signals import StopSignal
from thalweg.runs.source import (
    CHUNK_ROWS,
    KEYED_CHUNK_ROWS,
    STANDARD_INPUT,
    new_recipe,
    refuse_other_source,
    scan_source,
)
from thalweg.runs.storage import FileLocks, require_standard_output
from thalweg.tables import Table
from thalweg.tables.time_parts import split_joined


class Stopwatch:
    """Counts the seconds since it was made, but for those of the compiler.

    A first run on a machine compiles for half a minute, which says nothing about how
    many rows a second it takes.
    """

    def __init__(self) -> None:
        self._began = self._now()

    def seconds(self) -> float:
        """The seconds so far; above 0."""
        return max(self._now() - self._began, 1e-6)

    @staticmethod
    def _now() -> float:
        return time.perf_counter() - compilation_seconds()


NO_DIGEST = (
    "This run was saved without a digest of its rows, by an earlier thalweg: whether "
    "the rows seen before have changed since is not known."
)


def run_table(settings: RunSettings) -> int:
    """Predict and learn every row of a table, and show and save the results.

    Returns the exit code: that of the signal if one has stopped the run.
    """
    paths = settings.paths
    if settings.horizon is not None:
        _check_forecast(settings)
    check_suffix(paths.predictions)
    settings = settings._replace(
        outputs=study_files.available_outputs(settings.outputs)
    )
    with FileLocks() as locks:
        if paths.resume is not None and paths.out is None and paths.model is None:
            # The lock comes before the read: another run may be writing the file.
            locks.acquire(paths.resume)
        models, session, origin = _open_session(settings)
        try:
            return _run(settings, models, session, origin, locks)
        finally:
            if models is not None:
                models.close()


def _open_session(
    settings: RunSettings,
) -> tuple[ModelStore | None, KeyedSession | None, RunOrigin]:
    """The models, the session and its origin, of a run that is resumed."""
    resume = settings.paths.resume
    if resume is None:
        if "targets" not in settings.recipe:
            raise InvalidParameterError("Say which column to predict: --target NAME.")
        return None, None, RunOrigin()
    models = open_models(resume, is_database(resume), resume)
    session, origin = load_checkpoint(models, settings.task, **settings.recipe)
    if settings.keys is not None and session.keys and settings.keys != session.keys:
        raise InvalidParameterError(
            f"The run to be resumed has --key {','.join(session.keys)}. Got "
            f"{','.join(settings.keys) or 'none'} instead."
        )
    return models, session, origin


def _run(
    settings: RunSettings, models: ModelStore | None, session: KeyedSession | None,
    origin: RunOrigin, locks: FileLocks,
) -> int:  # fmt: skip
    source, outputs = settings.source, settings.outputs
    notes: tuple[str, ...] = ()
    if session is None:
        recipe = new_recipe(settings.recipe)
        scan = scan_source(
            source, recipe, settings.keys, has_values=settings.horizon is not None
        )
        keys = settings.keys or ()
        if settings.keys != () and scan is not None:
            keys = scan.columns.keys
            notes = (*scan.key_notes(), *scan.advice())
        session = KeyedSession(recipe, keys, settings.task)
    else:
        source = source.with_times(split_joined(session.recipe.time))
        scan = scan_source(
            source, session.recipe, session.keys, session.schema(),
            settings.horizon is not None,
        )  # fmt: skip
    print_notes(notes, outputs)
    with source.open(KEYED_CHUNK_ROWS if session.keys else CHUNK_ROWS) as table:
        if scan is not None:
            scan.prepare(table)
        session.set_live(table.is_live)
        _set_earlier_rows(session, origin, table, settings.is_next)
        paths = OutputPaths.from_options(
            source, models, session, origin, settings.paths, table.is_live
        )
        paths.refuse_overwriting(source.given)
        echo = table.is_live and not outputs.json
        if echo:
            require_standard_output()
        forecast = None
        if settings.horizon is not None and scan is not None:
            horizon = settings.horizon
            forecast = TableForecast.of_run(source, scan, horizon, paths.folder)
        loop = RunLoop(table, session, paths, locks, echo, forecast)
        with closing(paths.models), closing(forecast) if forecast else nullcontext():
            return _finish(settings, loop, notes)


def _finish(settings: RunSettings, loop: RunLoop, notes: tuple[str, ...]) -> int:
    """Run to the end, or until stopped; show and save the results."""
    session, outputs, folder = loop.session, settings.outputs, loop.paths.folder
    if session.rows:
        stderr_console().print(f"Goes on after row {session.rows:,}.")
        if session.seen_rows() and not session.has_digest():
            print_sentence(stderr_console(), NO_DIGEST)
    stopwatch = Stopwatch()
    total = None if loop.table.is_live else 1.0
    with StopSignal() as stop, progress_bar(loop.table.name, total) as bar:
        loop.run(stop, bar)
    seconds, is_stopped = stopwatch.seconds(), stop.number is not None
    forecast = None if is_stopped else loop.forecast
    found = (*session.notes(loop.echo), *loop.notes())
    shown = (*notes, *session.notes(), *loop.notes())
    results = RunResults(session, loop.table.name, shown)
    console = stderr_console() if loop.echo else stdout_console()
    saved = [loop.paths.models.path] if session.has_rows else []
    if loop.file is not None and loop.file.size:
        saved.append(loop.file.path)
    # Who presses Ctrl-C does not wait for a page: thalweg report makes it later.
    if results and not is_stopped:
        saved += results.save(folder)
    if not outputs.json:
        _show(console, loop, results, seconds)
        print_notes(found)
    content = _as_json(loop, results, seconds) | {"notes": [*notes, *found]}
    if forecast is not None:
        saved += forecast.saved
        content["forecast"] = forecast.as_json()
        if not outputs.json:
            forecast.show_with_notes()
    if results and not is_stopped:
        later = [] if forecast is None else forecast.sections(outputs)
        saved += results.draw(folder, outputs, later)
    replaced = loop.paths.models.path if loop.replaces_model else None
    print_outcome(console, content, saved, outputs, replaced)
    if is_stopped and session.has_rows:
        model = loop.paths.models.path
        print_resume_command("run", settings.source.given, model, session.rows)
    return stop.exit_code


def _show(console: Console, loop: RunLoop, results: RunResults, seconds: float) -> None:
    """Print the tables, and how fast the run was."""
    results.show(console)
    if not results:
        print_sentence(console, _no_score_sentence(loop.session))
    print_sentence(console, _speed_sentence(loop, seconds))


def _speed_sentence(loop: RunLoop, seconds: float) -> str:
    """How fast it was from the first row to the last one saved, without a page."""
    session = loop.session
    if not loop.rows:
        name, seen_rows = loop.table.name, session.seen_rows()
        if loop.table.is_live:
            return "No new row came."
        if not seen_rows:
            return f"No new row in {name}."
        return f"No new row in {name}: all {seen_rows:,} were seen."
    rate = float(f"{loop.rows / seconds:.2g}")  # as exact as the seconds allow
    series = f" of {len(session.sessions):,} series" if session.keys else ""
    others = " and saving" if loop.forecast is None else ", saving and the forecast"
    return (
        f"{loop.rows:,} rows{series} in {_format_seconds(seconds)} s, with reading"
        f"{others}: about {rate:,.0f} rows a second."
    )


def _no_score_sentence(session: KeyedSession) -> str:
    one = next(iter(session.sessions.values()), None)
    if one is None or not one.runs:
        return "No row came."
    labels, known = one.runs[0].burn_in, int(one.encoder.state.known_targets[0])
    if session.keys:
        return (
            f"No series has enough rows to be scored: the first {labels} labels of "
            f"each only warm up."
        )
    values = "value" if known == 1 else "values"
    return (
        f"Too few rows to score: there are {known:,} {values} of the target, and the "
        f"first {labels} only warm up. The rows are predicted and the model is saved, "
        f"to go on with more rows (--resume); errors begin at row {labels + 1}."
    )


def _as_json(loop: RunLoop, results: RunResults, seconds: float) -> dict[str, Any]:
    return {
        "source": loop.table.name,
        "key": list(loop.session.keys),
        "rows": loop.session.rows,
        "new_rows": loop.rows,
        "seconds": seconds,
        "rows_per_second": loop.rows / seconds,
        "malformed_lines": 0 if loop.table.errors is None else loop.table.errors.count,
        "studies": results.as_json(),
    }


def _format_seconds(seconds: float) -> str:
    """As 0.13, 1.31, 13.1 or 131."""
    decimals = 2 if seconds < 10 else 1 if seconds < 100 else 0
    return f"{seconds:,.{decimals}f}"


def _check_forecast(settings: RunSettings) -> None:
    """Raise if a run of this source cannot end with a forecast."""
    given = settings.source.given
    if given == STANDARD_INPUT or settings.is_next:
        raise InvalidParameterError(
            "--horizon takes a file with all rows. Got "
            f"{'standard input' if given == STANDARD_INPUT else '--next'}: use thalweg "
            "forecast."
        )
    if len(settings.recipe.get("targets", ())) != 1:
        raise InvalidParameterError(
            "--horizon takes one --target, also where a run is resumed."
        )


def _set_earlier_rows(
    session: KeyedSession, origin: RunOrigin, table: Table, is_next: bool | None
) -> None:
    """Decide whether the table's rows come after those seen, or begin with them."""
    if not session.rows:
        return
    if is_next is None and not table.is_live:
        refuse_other_source("run", origin.source, table.name)
    if table.is_live if is_next is None else is_next:
        session.start_source()
