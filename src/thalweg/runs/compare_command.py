"""The work of ``thalweg compare``: all learners on a table, a study of each target."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from thalweg.calendar.time_grid import Times
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.evaluation.compare_study import announcement_count, study_with_baselines
from thalweg.evaluation.study import Study
from thalweg.imputer import Imputer
from thalweg.report.classification_section import section_of
from thalweg.report.console import (
    EXIT_INTERRUPTED,
    collect_until_interrupt,
    print_sentence,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.report.study_sections import PAST_LABELS
from thalweg.report.terminal import print_section
from thalweg.runs import study_files
from thalweg.runs.command_output import print_notes, print_outcome
from thalweg.runs.forecast_command import TableForecast
from thalweg.runs.observed_rows import add_alarms
from thalweg.runs.session import Session
from thalweg.runs.settings import OutputOptions
from thalweg.runs.source import Source, new_recipe, scan_source
from thalweg.tables import Table, Timestamps
from thalweg.types import FloatArray


class StreamRows(NamedTuple):
    """The last complete rows of a table."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T, k)
    times: Times | None  # (T,) local times, where rows have any
    complete: int  # complete rows in the whole table
    left_out: int  # rows that lack a target or, under "skip", a feature


class ComparisonOutcome(NamedTuple):
    """The studies that were made until the end, or until a Ctrl-C."""

    studies: list[Study]
    interrupted: bool


def compare_table(
    source: Source, recipe: dict[str, Any], max_rows: int, out: Path | None,
    outputs: OutputOptions,
) -> int:  # fmt: skip
    """Compare all learners on every target of a table, and write the results.

    This is done on at most the last ``max_rows`` rows. Returns the exit code.
    """
    if "targets" not in recipe:
        raise InvalidParameterError("Say which column to predict: --target NAME.")
    outputs = study_files.available_outputs(outputs)
    session = Session(new_recipe(recipe), "regress")
    scan = scan_source(source, session.recipe, ())
    with source.open() as table:
        if scan is not None:
            scan.prepare(table)
        folder = out or Path("out", f"{source.stem}-compared")
        study_files.protect_source(source.given, folder)
        rows = read_last_rows(table, session, max_rows)
    print_notes((*session.encoder.notes(), *table.notes()), outputs)
    studies = table_studies(table.name, session, rows)
    return write_results(
        run_comparisons(studies, session.recipe.targets), folder, outputs
    )


def read_last_rows(table: Table, session: Session, max_rows: int) -> StreamRows:
    """Read the whole table, and keep the last rows that have all targets."""
    imputer = Imputer(session.recipe.missing)
    x, y, times, complete, left_out = [], [], [], 0, 0
    total = None if table.is_live else 1.0
    with progress_bar(f"reading {table.name}", total) as bar:
        for chunk in table.chunks():
            features, targets, time, *_ = session.read(chunk)
            features, known = imputer.impute(features, targets)
            x.append(features[known])
            y.append(targets[known])
            if isinstance(time, Timestamps):
                times.append(time.local_times()[known])
            complete += int(known.sum())
            left_out += int((~known).sum())
            while sum(map(len, y[1:])) >= max_rows:  # the oldest chunk is not needed
                x, y, times = x[1:], y[1:], times[1:]
            bar.update(table.fraction(), complete)
    session.check_targets()
    if not complete:
        raise StreamError(f"No row of {table.name} has all its features and targets.")
    last_x, last_y = np.vstack(x)[-max_rows:], np.vstack(y)[-max_rows:]
    last_times = np.concatenate(times)[-max_rows:] if times else None
    return StreamRows(last_x, last_y, last_times, complete, left_out)


def table_studies(name: str, session: Session, stream: StreamRows) -> Iterator[Study]:
    """Compare all learners on each target by itself."""
    encoder = session.encoder
    targets, notes = encoder.recipe.targets, _notes(session, stream)
    given = encoder.past_forecasts() or (None,) * len(targets)
    for k, target in enumerate(targets):
        study = compare_with_progress(
            f"{name}, {target}" if len(targets) > 1 else name, target,
            encoder.feature_names(), stream.x, stream.y[:, k], notes,
            encoder.recipe.delay, stream.times, given[k],
        )  # fmt: skip
        study = add_alarms(study, session.changes[k], encoder)
        yield replace(
            study,
            features=encoder.used_feature_names(),
            column_features=encoder.column_features(),
        )


def _notes(session: Session, stream: StreamRows) -> list[str]:
    """What a reader should know about the rows that were compared."""
    notes = list(session.encoder.notes())
    if session.recipe.lags == ():
        notes.append(PAST_LABELS)
    if stream.left_out:
        notes.append(
            f"{stream.left_out:,} rows that lack a number were left out; seasons are "
            f"counted without them."
        )
    if stream.complete > len(stream.y):
        notes.append(
            f"The last {len(stream.y):,} of {stream.complete:,} rows were compared."
        )
    return notes


def compare_with_progress(
    title: str, target: str, features: Sequence[str], x: FloatArray, y: FloatArray,
    notes: Sequence[str] = (), delay: int = 0, times: Times | None = None,
    external_forecast: int | None = None,
) -> Study:  # fmt: skip
    """The study of every learner on (x, y), with a bar that names each learner."""
    with progress_bar(title, float(announcement_count())) as bar:
        study = study_with_baselines(
            title, target, features, x, y,
            lambda name: bar.advance(f"{title}: {name}"), delay, times,
            external_forecast,
        )  # fmt: skip
    return replace(study, notes=(*notes, *study.notes))


def run_comparisons(
    studies: Iterable[Study], names: Sequence[str]
) -> ComparisonOutcome:
    """Make the studies one after the other, of these names, until a Ctrl-C.

    After a Ctrl-C the notes of the last study name what was not done.
    """
    finished, interrupted = collect_until_interrupt(
        studies, lambda study: bool(study.unfinished)
    )
    if interrupted:
        finished[-1] = _note_unfinished(finished[-1], names[len(finished) :])
    return ComparisonOutcome(finished, interrupted)


def write_results(
    outcome: ComparisonOutcome, folder: Path, outputs: OutputOptions,
    print_conclusion: Callable[[Console, Sequence[Study]], None] | None = None,
    forecast: TableForecast | None = None,
) -> int:  # fmt: skip
    """Save the studies, print their tables, and write the page and the figures.

    The sections of a ``forecast`` end the page.

    Returns the exit code: 1 if a bound did not hold, and 130 after a Ctrl-C; what was
    done until then is saved and printed, without a page.
    """
    studies, interrupted = outcome
    if interrupted:
        outputs = outputs._replace(report=False, figures=False)
    # One after the other: an error, or a Ctrl-C, leaves what was finished before.
    saved = [study_files.save_studies(studies, folder)]
    study_files.remove_files(folder, study_files.PAGE)
    if forecast is not None:
        saved += forecast.saved
    if not outputs.json:
        for study in studies:
            print_section(stdout_console(), section_of(study))
        if print_conclusion is not None and not interrupted:
            print_conclusion(stdout_console(), studies)
    sections = [] if forecast is None else forecast.sections(outputs)
    page_files = _write_page(studies, folder, outputs, sections)
    saved += page_files or ()
    content: dict[str, Any] = {
        "studies": [section_of(study).numbers for study in studies]
    }
    if forecast is not None:
        content["forecast"] = forecast.as_json()
    print_outcome(stdout_console(), content, saved, outputs)
    if interrupted or page_files is None:
        _print_unfinished(studies[-1], folder)
        return EXIT_INTERRUPTED
    return _check_bounds(studies)


def _write_page(
    studies: Sequence[Study], folder: Path, outputs: OutputOptions,
    sections: Sequence[Any],
) -> list[Path] | None:  # fmt: skip
    """Write the page and the figures; None if a Ctrl-C came meanwhile."""
    try:
        return study_files.draw_studies(studies, folder, outputs, sections)
    except KeyboardInterrupt:
        study_files.remove_files(folder, study_files.PAGE)  # it may be incomplete
        return None


def _note_unfinished(study: Study, later: Sequence[str]) -> Study:
    """The last study before a Ctrl-C, with a note of what was not done."""
    unfinished = (*study.unfinished, *(f"all of {name}" for name in later))
    if not unfinished:
        return study
    note = f"Stopped by Ctrl-C. Not done: {'; '.join(unfinished)}."
    return replace(study, unfinished=unfinished, notes=(*study.notes, note))


def _print_unfinished(study: Study, folder: Path) -> None:
    missing = f" Not done: {'; '.join(study.unfinished)}." if study.unfinished else ""
    print_sentence(stderr_console(), f"Stopped.{missing} For a page of what was done:")
    command = f"thalweg report {shlex.quote(str(folder / study_files.STUDY))}"
    stderr_console().print(f"  {command}", markup=False, soft_wrap=True)


def _check_bounds(studies: Sequence[Study]) -> int:
    """The exit code: 1 if a measured regret exceeds the bound of theory."""
    broken = [
        regret
        for study in studies
        for regret in study.regrets
        if regret.bound is not None and regret.measured > regret.bound
    ]
    if broken:
        stderr_console().print(f"{len(broken)} bounds did not hold.", style="bold red")
    return 1 if broken else 0
