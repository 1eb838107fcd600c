"""Running to the end: the results are shown and saved, and the exit code set."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from thalweg.cli.console import (
    print_saved_files,
    print_sentence,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.cli.options import OutputOptions
from thalweg.cli.runs import study_files
from thalweg.cli.runs.data_clock import DataClock
from thalweg.cli.runs.run_loop import RunLoop
from thalweg.cli.runs.signals import StopSignal
from thalweg.cli.study_tables import print_study, study_as_json
from thalweg.evaluation.classification_study import AnyStudy

NO_DIGEST = (
    "This run was saved without a digest of its rows, by an earlier thalweg: whether "
    "the rows seen before have changed since is not known."
)


def finish_run(
    loop: RunLoop, source: str, outputs: OutputOptions,
    forecast: Callable[[Path], Any] | None = None,
) -> None:  # fmt: skip
    """Run to the end, or until stopped; show and save the results.

    ``source`` is as the command was given it. ``forecast`` makes the forecast that the
    results end with, in a folder (``cli.forecasts.RunForecast``). Exits with the code
    of the signal if one has stopped the run.
    """
    session = loop.session
    if session.rows:
        stderr_console().print(f"Goes on after row {session.rows:,}.")
        if session.seen_rows() and session.digest.state is None:
            print_sentence(stderr_console(), NO_DIGEST)
    clock = DataClock()
    total = None if loop.table.is_live else 1.0
    with StopSignal() as stop, progress_bar(loop.table.name, total) as bar:
        loop.run(stop, bar)
    seconds = clock.seconds()
    notes = loop.notes()
    studies = session.studies(loop.table.name, notes) if session.scored_rounds() else []
    # Who presses Ctrl-C does not wait for a page: thalweg report makes it later.
    complete = studies if stop.number is None else []
    paths = _save(loop, complete)
    if not outputs.json:
        _show(loop, studies, seconds)
    ahead = None
    if forecast is not None and stop.number is None:
        ahead = forecast(loop.paths.folder)
        paths += ahead.saved
        if not outputs.json:
            ahead.show()
    if complete:
        later = [] if ahead is None else ahead.sections(outputs)
        paths += study_files.draw_studies(complete, loop.paths.folder, outputs, later)
    if outputs.json:
        _print_json(loop, studies, paths, seconds, ahead)
    else:
        replaced = loop.model if loop.replaces_model else None
        print_saved_files(_console(loop), paths, replaced)
    if stop.number is not None:
        _show_resume_command(loop, source)
        raise typer.Exit(stop.exit_code)


def _save(loop: RunLoop, studies: list[AnyStudy]) -> list[Path]:
    """Save the studies, and return the paths of all that the run has saved."""
    paths = [loop.model] if loop.session.runs else []
    if loop.file is not None and loop.file.size:
        paths.append(loop.file.path)
    if studies:
        paths.append(study_files.save_studies(studies, loop.paths.folder))
    return paths


def _console(loop: RunLoop) -> Console:
    """Where results go: predictions have standard output for themselves."""
    return stderr_console() if loop.echo else stdout_console()


def _show(loop: RunLoop, studies: list[AnyStudy], seconds: float) -> None:
    console = _console(loop)
    for study in studies:
        print_study(console, study)
    if not studies:
        print_sentence(console, _no_score_sentence(loop))
    # Where predictions are printed as they are made, the rest was said before them.
    session = loop.session
    notes = session.encoder.notes() if loop.echo else session.notes()
    for note in (*notes, *loop.notes()):
        print_sentence(stderr_console(), note)
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
    return (
        f"{loop.rows:,} rows in {_format_seconds(seconds)} s, with reading and "
        f"saving: about {rate:,.0f} rows a second."
    )


def _no_score_sentence(loop: RunLoop) -> str:
    runs = loop.session.runs
    if not runs:
        return "No row came."
    labels, known = runs[0].burn_in, int(loop.session.encoder.state.known_targets[0])
    values = "value" if known == 1 else "values"
    return (
        f"Too few rows to score: there are {known:,} {values} of the target, and the "
        f"first {labels} only warm up. The rows are predicted and the model is saved, "
        f"to go on with more rows (--resume); errors are told from row {labels + 1} on."
    )


def _print_json(
    loop: RunLoop, studies: list[AnyStudy], paths: list[Path], seconds: float,
    forecast: Any = None,
) -> None:  # fmt: skip
    content = {
        "source": loop.table.name,
        "rows": loop.session.rows,
        "new_rows": loop.rows,
        "seconds": seconds,
        "rows_per_second": loop.rows / seconds,
        "malformed_lines": 0 if loop.table.errors is None else loop.table.errors.count,
        "studies": [study_as_json(study) for study in studies],
        "files": [str(path) for path in paths],
    }
    if forecast is not None:
        content["forecast"] = forecast.as_json()
    typer.echo(json.dumps(content, allow_nan=False))


def _show_resume_command(loop: RunLoop, source: str) -> None:
    if not loop.session.runs:
        return
    command = f"thalweg run {shlex.quote(source)}"
    print_sentence(
        stderr_console(), f"Stopped after row {loop.session.rows:,}. Go on with:"
    )
    command += f" --resume {shlex.quote(str(loop.model))}"
    stderr_console().print(f"  {command}", markup=False, soft_wrap=True)


def _format_seconds(seconds: float) -> str:
    """As 0.13, 1.31, 13.1 or 131."""
    decimals = 2 if seconds < 10 else 1 if seconds < 100 else 0
    return f"{seconds:,.{decimals}f}"
