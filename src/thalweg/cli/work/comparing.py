"""Comparisons run with a bar, shown, saved, and held to their bounds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from json import dumps
from pathlib import Path

import typer
from rich.console import Console

from thalweg.cli.console import harvest, progress, remarks, results
from thalweg.cli.lazy import STOPPED
from thalweg.cli.options import Wanted
from thalweg.cli.work import outputs
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
    work: Iterable[Study], folder: Path, wanted: Wanted,
    last: Callable[[Console, Sequence[Study]], None] = lambda console, studies: None,
) -> None:  # fmt: skip
    """Make all studies, save and print them, and do what comes last.

    Exits with 1 if a bound did not hold, and with 130 if a Ctrl-C came; what was done
    until then is saved and shown, without a page.
    """
    studies, stopped = harvest(work, lambda study: bool(study.left))
    if stopped:
        wanted = wanted._replace(report=False, figures=False)
    outputs.clear(folder)
    saved = outputs.save(studies, folder, wanted)
    if wanted.json:
        found = [as_json(study) for study in studies]
        typer.echo(dumps({"studies": found, "files": [str(path) for path in saved]}))
    else:
        console = results()
        for study in studies:
            show(console, study)
        if not stopped:
            last(console, studies)
        listed(console, saved)
    if stopped:
        _say_what_is_missing(studies[-1], folder)
        raise typer.Exit(STOPPED)
    check_bounds(studies)


def _say_what_is_missing(study: Study, folder: Path) -> None:
    missing = f"Not done: {'; '.join(study.left)}. " if study.left else ""
    page = f"For a page of what was done: thalweg report {folder / outputs.STUDY}"
    remarks().print(f"Stopped. {missing}{page}", markup=False, soft_wrap=True)


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
