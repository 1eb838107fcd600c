"""Comparisons of all learners with progress bar, tables and files."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import NamedTuple

import typer
from rich.console import Console

from thalweg.cli.console import (
    EXIT_INTERRUPTED,
    collect_until_interrupt,
    print_saved_files,
    print_sentence,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.cli.options import OutputOptions
from thalweg.cli.runs import study_files
from thalweg.cli.study_tables import print_study, study_as_json
from thalweg.evaluation.baseline_study import announcement_count, study_with_baselines
from thalweg.evaluation.study import Study
from thalweg.types import FloatArray


class ComparisonOutcome(NamedTuple):
    """The studies that were made until the end, or until a Ctrl-C."""

    studies: list[Study]
    interrupted: bool


def compare_with_progress(
    title: str, target: str, features: Sequence[str], x: FloatArray, y: FloatArray,
    notes: Sequence[str] = (), delay: int = 0,
) -> Study:  # fmt: skip
    """The study of every learner on (x, y), with a bar that names each learner."""
    with progress_bar(title, float(announcement_count())) as bar:
        study = study_with_baselines(
            title, target, features, x, y,
            lambda name: bar.advance(f"{title}: {name}"), delay,
        )  # fmt: skip
    return replace(study, notes=(*notes, *study.notes))


def run_comparisons(
    studies: Iterable[Study], names: Sequence[str]
) -> ComparisonOutcome:
    """Make the studies one after the other, of these names, until a Ctrl-C.

    After a Ctrl-C the notes of the last study name what was not done.
    """
    made, interrupted = collect_until_interrupt(
        studies, lambda one: bool(one.unfinished)
    )
    if interrupted:
        made[-1] = _note_unfinished(made[-1], names[len(made) :])
    return ComparisonOutcome(made, interrupted)


def write_results(
    outcome: ComparisonOutcome, folder: Path, outputs: OutputOptions,
    print_conclusion: Callable[[Console, Sequence[Study]], None] | None = None,
) -> None:  # fmt: skip
    """Save the studies, print their tables, and write the page and the figures.

    Exits with 1 if a bound did not hold, and with 130 after a Ctrl-C; what was done
    until then is saved and printed, without a page.
    """
    studies, interrupted = outcome
    if interrupted:
        outputs = outputs._replace(report=False, figures=False)
    # One after the other: an error, or a Ctrl-C, leaves what was finished before.
    saved = [study_files.save_studies(studies, folder)]
    study_files.remove_files(folder, study_files.PAGE)
    if not outputs.json:
        for study in studies:
            print_study(stdout_console(), study)
        if print_conclusion is not None and not interrupted:
            print_conclusion(stdout_console(), studies)
    drawn = _draw(studies, folder, outputs)
    saved += drawn or ()
    if outputs.json:
        numbers = [study_as_json(study) for study in studies]
        typer.echo(dumps({"studies": numbers, "files": [str(path) for path in saved]}))
    else:
        print_saved_files(stdout_console(), saved)
    if interrupted or drawn is None:
        _print_unfinished(studies[-1], folder)
        raise typer.Exit(EXIT_INTERRUPTED)
    _check_bounds(studies)


def _draw(
    studies: Sequence[Study], folder: Path, outputs: OutputOptions
) -> list[Path] | None:
    """Write the page and the figures; None if a Ctrl-C came meanwhile."""
    try:
        return study_files.draw_studies(studies, folder, outputs)
    except KeyboardInterrupt:
        study_files.remove_files(folder, study_files.PAGE)  # it may be incomplete
        return None


def _note_unfinished(study: Study, later: Sequence[str]) -> Study:
    """The last study before a Ctrl-C, with a note of what was not done."""
    left = (*study.unfinished, *(f"all of {name}" for name in later))
    if not left:
        return study
    note = f"Stopped by Ctrl-C. Not done: {'; '.join(left)}."
    return replace(study, unfinished=left, notes=(*study.notes, note))


def _print_unfinished(study: Study, folder: Path) -> None:
    missing = f" Not done: {'; '.join(study.unfinished)}." if study.unfinished else ""
    print_sentence(stderr_console(), f"Stopped.{missing} For a page of what was done:")
    command = f"thalweg report {shlex.quote(str(folder / study_files.STUDY))}"
    stderr_console().print(f"  {command}", markup=False, soft_wrap=True)


def _check_bounds(studies: Sequence[Study]) -> None:
    """Exit with 1 if a measured regret exceeds the bound of theory."""
    broken = [
        regret
        for study in studies
        for regret in study.regrets
        if regret.bound is not None and regret.measured > regret.bound
    ]
    if broken:
        stderr_console().print(f"{len(broken)} bounds did not hold.", style="bold red")
        raise typer.Exit(1)
