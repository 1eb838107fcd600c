"""The work of ``thalweg run --key``: a Tracker for each key, and what came of all."""

import json
import shlex
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.console import Console

from thalweg import report
from thalweg.cli.console import (
    print_saved_files,
    print_sentence,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.cli.forecasts.forecast_files import interesting_keys
from thalweg.cli.forecasts.row_keys import key_text
from thalweg.cli.options import OutputOptions, PathOptions
from thalweg.cli.runs import study_files
from thalweg.cli.runs.checkpoint import RunOrigin
from thalweg.cli.runs.data_clock import DataClock
from thalweg.cli.runs.file_locks import FileLocks
from thalweg.cli.runs.keyed_checkpoint import (
    MODELS,
    KeyedCheckpoint,
    refuse_other_keys,
    remove_database,
)
from thalweg.cli.runs.keyed_loop import KeyedRunLoop
from thalweg.cli.runs.keyed_results import (
    keyed_scores,
    print_scores,
    scores_as_json,
)
from thalweg.cli.runs.keyed_session import KeyedSession
from thalweg.cli.runs.missing_notes import missing_notes
from thalweg.cli.runs.output_paths import (
    NEW_RUN,
    new_recipe,
    order_oldest_first,
    source_stem,
)
from thalweg.cli.runs.predictions import PredictionFile
from thalweg.cli.runs.repeated_rows import repeated_sentence
from thalweg.cli.runs.signals import StopSignal
from thalweg.cli.runs.storage import (
    refuse_overwriting,
    require_standard_output,
    storage_errors,
)
from thalweg.errors import InvalidParameterError
from thalweg.evaluation.keyed_scores import KeyedScores
from thalweg.tables import Table
from thalweg.tables.class_labels import Task
from thalweg.tables.feature_notes import backward_note
from thalweg.tables.missing_codes import code_notes
from thalweg.tables.time_parts import split_joined


class KeyedRunSettings(NamedTuple):
    """What the command line says of a run by key."""

    source: str
    keys: tuple[str, ...] | None  # None: those of the run that is resumed
    recipe: dict[str, Any]
    task: Task
    paths: PathOptions
    is_next: bool | None
    outputs: OutputOptions
    notes: tuple[str, ...] = ()


def run_by_key(
    settings: KeyedRunSettings, open_table: Callable[[], Table],
    forecast: Callable[[Path], Any] | None = None,
) -> None:  # fmt: skip
    """Run a Tracker over the rows of each key; save and print what came of it.

    ``forecast`` makes the forecast that the results end with, in a folder.
    """
    with open_table() as table, FileLocks() as locks:
        folder, model = _folder_and_model(settings.paths, table)
        locks.acquire(model)
        resumed = settings.paths.resume
        if resumed is not None and resumed.resolve() != model.resolve():
            raise InvalidParameterError(
                "A run by key goes on in its own folder. Leave out --out and --model."
            )
        _protect_files(settings, folder, model)
        replaced = model if resumed is None and model.exists() else None
        if resumed is None:
            remove_database(model)
            names = (study_files.STUDY, study_files.PAGE, study_files.FORECAST)
            study_files.remove_files(folder, *names)
        with KeyedCheckpoint(model) as checkpoint:
            session, origin = _open_session(settings, checkpoint, table, open_table)
            echo = table.is_live and not settings.outputs.json
            if echo:
                require_standard_output()
            file = _prediction_file(settings, session, origin, folder, table.is_live)
            loop = KeyedRunLoop(table, session, checkpoint, file, echo)
            _finish(settings, loop, folder, forecast, replaced)


def _finish(
    settings: KeyedRunSettings, loop: KeyedRunLoop, folder: Path,
    forecast: Callable[[Path], Any] | None, replaced: Path | None,
) -> None:  # fmt: skip
    session, outputs = loop.session, settings.outputs
    if session.rows:
        stderr_console().print(f"Goes on after row {session.rows:,}.")
    clock = DataClock()
    with StopSignal() as stop, progress_bar(loop.table.name, 1.0) as bar:
        loop.run(stop, bar)
    seconds = clock.seconds()
    scores = keyed_scores(session)
    saved = [loop.checkpoint.path]
    if loop.file is not None and loop.file.size:
        saved.append(loop.file.path)
    if not outputs.json:
        _show(settings, loop, scores, seconds)
    ahead = None
    if forecast is not None and stop.number is None:
        ahead = forecast(folder)
        saved += ahead.saved
        if not outputs.json:
            ahead.show()
    if stop.number is None and scores:
        later = [] if ahead is None else ahead.sections(outputs)
        saved += _write_page(settings, loop, scores, folder, later)
    if outputs.json:
        _print_json(settings, loop, scores, saved, seconds, ahead)
    else:
        print_saved_files(_console(loop), saved, replaced)
    if stop.number is not None:
        _show_resume_command(settings, loop)
        raise typer.Exit(stop.exit_code)


def _show(
    settings: KeyedRunSettings, loop: KeyedRunLoop, scores: list[KeyedScores],
    seconds: float,
) -> None:  # fmt: skip
    console, session = _console(loop), loop.session
    for one in scores:
        print_scores(console, loop.table.name, session.keys, one)
    if not scores:
        print_sentence(console, _no_score_sentence(loop))
    for note in _notes(loop):
        print_sentence(stderr_console(), note)
    rate = float(f"{loop.rows / max(seconds, 1e-9):.2g}")
    print_sentence(
        console,
        f"{loop.rows:,} rows of {len(session.sessions):,} series in {seconds:.3g} s: "
        f"about {rate:,.0f} rows a second.",
    )


def _console(loop: KeyedRunLoop) -> Console:
    """Where results go: predictions have standard output for themselves."""
    return stderr_console() if loop.echo else stdout_console()


def _no_score_sentence(loop: KeyedRunLoop) -> str:
    session = next(iter(loop.session.sessions.values()), None)
    if session is None or not session.runs:
        return "No row came."
    return (
        f"No series has enough rows to be scored: the first {session.runs[0].burn_in} "
        "labels of each only warm up."
    )


def _notes(loop: KeyedRunLoop) -> tuple[str, ...]:
    """What a reader should know of the columns, as the first key in order has it."""
    sessions = loop.session.sessions
    backward = {
        key: session.encoder.state.clock.backward_row
        for key, session in sessions.items()
        if session.encoder.state.clock.backward_row
    }
    ordered = (one for key, one in sessions.items() if key not in backward)
    session = next(ordered, None) or next(iter(sessions.values()), None)
    notes = () if session is None else session.notes()
    if session is not None:  # codes are counted in all series
        own = code_notes(session.encoder.state.ranges)
        states = (one.encoder.state for one in sessions.values())
        of_all = code_notes([one for state in states for one in state.ranges])
        own += missing_notes(session.recipe, [session.encoder.state], session.runs[:1])
        notes = (*(note for note in notes if note not in own), *of_all)
        states = (one.encoder.state for one in sessions.values())
        runs = [run for one in sessions.values() for run in one.runs[:1]]
        notes = (*notes, *missing_notes(session.recipe, states, runs))
    count, name = loop.session.repeated_rows(), loop.table.name
    repeated = (repeated_sentence(count, name),) if count else ()
    notes = (*notes, *loop.table.notes(), *repeated)
    if not backward or session is None:
        return notes
    key, row = next(iter(backward.items()))
    state = session.encoder.state
    time = None if state.schema is None else state.schema.time_column
    of_one = "" if time is None else backward_note(time, state.clock.backward_row)
    return (
        *(note for note in notes if note != of_one),
        f"Times go back in {len(backward):,} of {len(sessions):,} series, first in "
        f"{key_text(key)} (row {row:,} of it): rows are taken in their order. Sort "
        "them by time, oldest first; if one is several series, name all columns that "
        "tell them apart: --key.",
    )


def _write_page(
    settings: KeyedRunSettings, loop: KeyedRunLoop, scores: list[KeyedScores],
    folder: Path, later: list[Any],
) -> list[Path]:  # fmt: skip
    """Write an overview, and a section for each of the most interesting keys."""
    outputs, paths = settings.outputs, []
    if not (outputs.report or outputs.figures):
        return []
    sections = import_module("thalweg.report.keyed_sections")
    session, name = loop.session, loop.table.name
    notes = (*settings.notes, *_notes(loop))
    overviews = [
        sections.keyed_section(one, session.keys, f"All series of {name}", notes)
        for one in scores
    ]
    keys = interesting_keys([score.key for score in scores[0].keys])
    studies = [
        study for key in keys for study in session.sessions[key].studies(key_text(key))
    ]
    with storage_errors(folder):
        if outputs.report:
            page = folder / study_files.PAGE
            content = [*overviews, *studies, *later]
            report.write_page(content, page, f"{name}, by key")
            paths.append(page)
        if outputs.figures:
            report.write_figures(studies, folder / study_files.FIGURES)
            paths.append(folder / study_files.FIGURES)
    return paths


def _print_json(
    settings: KeyedRunSettings, loop: KeyedRunLoop, scores: list[KeyedScores],
    saved: list[Path], seconds: float, forecast: Any,
) -> None:  # fmt: skip
    session = loop.session
    content: dict[str, Any] = {
        "source": loop.table.name,
        "key": list(session.keys),
        "rows": session.earlier_rows + session.rows,
        "new_rows": loop.rows,
        "seconds": seconds,
        "rows_per_second": loop.rows / seconds,
        "studies": [scores_as_json(one, loop.table.name) for one in scores],
        "notes": [*settings.notes, *_notes(loop)],
        "files": [str(path) for path in saved],
    }
    if forecast is not None:
        content["forecast"] = forecast.as_json()
    typer.echo(json.dumps(content, allow_nan=False))


def _folder_and_model(paths: PathOptions, table: Table) -> tuple[Path, Path]:
    resume = paths.resume
    folder = paths.out or (resume.parent if resume else Path("out", source_stem(table)))
    resumed = resume if paths.out is None else None
    return folder, paths.model or resumed or folder / MODELS


def _protect_files(settings: KeyedRunSettings, folder: Path, model: Path) -> None:
    outputs = {"model": model, "page": folder / study_files.PAGE}
    file = settings.paths.predictions or folder / "predictions.csv"
    refuse_overwriting({"source": settings.source}, outputs | {"predictions": file})


def _open_session(
    settings: KeyedRunSettings, checkpoint: KeyedCheckpoint, table: Table,
    open_table: Callable[[], Table],
) -> tuple[KeyedSession, RunOrigin]:  # fmt: skip
    """A new session of all keys, or the one to be resumed."""
    if settings.paths.resume is None:
        assert settings.keys is not None
        recipe = new_recipe(settings.recipe)
        return KeyedSession(recipe, settings.keys, settings.task), NEW_RUN
    session, origin = checkpoint.load(settings.recipe)
    table.join_times(split_joined(session.recipe.time))
    refuse_other_keys(session, settings.keys)
    known = session.schema()
    order_oldest_first(table, session.recipe, known, session.keys, open_table)
    is_next = table.is_live if settings.is_next is None else settings.is_next
    if settings.is_next is None and not is_next and table.name != origin.source:
        raise InvalidParameterError(
            f"The run to be resumed was on {origin.source}. Got {table.name} instead: "
            f"say --next if its rows come after those, --from-start if it begins with "
            f"them."
        )
    if is_next:
        session.start_source()
    return session, origin


def _prediction_file(
    settings: KeyedRunSettings, session: KeyedSession, origin: RunOrigin, folder: Path,
    is_live: bool,
) -> PredictionFile | None:  # fmt: skip
    """The file for predictions; None where they go to standard output alone."""
    path = settings.paths.predictions or origin.predictions
    if path is None and is_live:
        return None
    path = path or folder / "predictions.csv"
    columns: Any = session.columns()
    if (
        origin.predictions is not None
        and path.resolve() == origin.predictions.resolve()
    ):
        return PredictionFile(path, columns, origin.written_bytes)
    return PredictionFile(path, columns)


def _show_resume_command(settings: KeyedRunSettings, loop: KeyedRunLoop) -> None:
    sentence = f"Stopped after row {loop.session.rows:,}. Go on with:"
    print_sentence(stderr_console(), sentence)
    command = f"thalweg run {shlex.quote(settings.source)}"
    command += f" --resume {shlex.quote(str(loop.checkpoint.path))}"
    stderr_console().print(f"  {command}", markup=False, soft_wrap=True)
