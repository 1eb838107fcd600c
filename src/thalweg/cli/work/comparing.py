"""Comparisons run with a bar, shown, saved, and held to their bounds."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from json import dumps
from pathlib import Path

import typer
from rich.console import Console

from thalweg.cli.console import harvest, progress, remarks, results
from thalweg.cli.lazy import STOPPED
from thalweg.cli.options import Wanted
from thalweg.cli.runs import study_files
from thalweg.cli.saying import say
from thalweg.cli.work.show import as_json, listed, show
from thalweg.evaluation.compare import compare, steps
from thalweg.evaluation.study import Study
from thalweg.types import FloatArray


def compared(
    title: str, target: str, features: Sequence[str], x: FloatArray, y: FloatArray,
    notes: Sequence[str] = (), delay: int = 0,
) -> Study:  # fmt: skip
    """The study of every learner on (x, y), whose labels may come late."""
    with progress(title, float(steps())) as bar:
        study = compare(
            title, target, features, x, y,
            lambda name: bar.step(f"{title}: {name}"), delay,
        )  # fmt: skip
    return replace(study, notes=(*notes, *study.notes))


def present(
    work: Iterable[Study], names: Sequence[str], folder: Path, wanted: Wanted,
    last: Callable[[Console, Sequence[Study]], None] = lambda console, studies: None,
) -> None:  # fmt: skip
    """Make all studies, of these names, save and print them, and do what comes last.

    Exits with 1 if a bound did not hold, and with 130 if a Ctrl-C came; what was done
    until then is saved and shown, without a page.
    """
    studies, stopped = harvest(work, lambda study: bool(study.left))
    if stopped:
        studies[-1] = _cut_short(studies[-1], names[len(studies) :])
        wanted = wanted._replace(report=False, figures=False)
    # One after the other: what goes wrong, or is stopped, leaves what came before.
    saved = [study_files.save(studies, folder)]
    study_files.clear(folder, study_files.PAGE)
    if not wanted.json:
        for study in studies:
            show(results(), study)
        if not stopped:
            last(results(), studies)
    drawn = _drawn(studies, folder, wanted)
    saved += drawn or ()
    if wanted.json:
        found = [as_json(study) for study in studies]
        typer.echo(dumps({"studies": found, "files": [str(path) for path in saved]}))
    else:
        listed(results(), saved)
    if stopped or drawn is None:
        _say_what_is_missing(studies[-1], folder)
        raise typer.Exit(STOPPED)
    check_bounds(studies)


def _drawn(studies: Sequence[Study], folder: Path, wanted: Wanted) -> list[Path] | None:
    """What was drawn, where wanted; None if a Ctrl-C came meanwhile."""
    try:
        return study_files.drawn(studies, folder, wanted)
    except KeyboardInterrupt:
        study_files.clear(folder, study_files.PAGE)  # a part of one, perhaps
        return None


def _cut_short(study: Study, later: Sequence[str]) -> Study:
    """The last study before a Ctrl-C, which says what was not done, and of others."""
    left = (*study.left, *(f"all of {name}" for name in later))
    if not left:
        return study
    note = f"Stopped by Ctrl-C. Not done: {'; '.join(left)}."
    return replace(study, left=left, notes=(*study.notes, note))


def _say_what_is_missing(study: Study, folder: Path) -> None:
    missing = f" Not done: {'; '.join(study.left)}." if study.left else ""
    say(remarks(), f"Stopped.{missing} For a page of what was done:")
    command = f"thalweg report {shlex.quote(str(folder / study_files.STUDY))}"
    remarks().print(f"  {command}", markup=False, soft_wrap=True)


def check_bounds(studies: Sequence[Study]) -> None:
    """Raise the exit code 1 if a measured regret exceeds what theory allows."""
    broken = [
        one
        for study in studies
        for one in study.regrets
        if one.bound is not None and one.measured > one.bound
    ]
    if broken:
        remarks().print(f"{len(broken)} bounds did not hold.", style="bold red")
        raise typer.Exit(1)
