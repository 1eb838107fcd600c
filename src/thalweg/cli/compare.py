"""``thalweg compare``: every learner on a table, against the best in hindsight."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from thalweg import tables
from thalweg.cli import options
from thalweg.cli.comparisons import (
    compare_with_progress,
    run_comparisons,
    write_results,
)
from thalweg.cli.console import progress_bar, stderr_console
from thalweg.cli.options import OUTPUT, OutputOptions
from thalweg.cli.runs import study_files
from thalweg.cli.runs.output_paths import source_stem
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.evaluation.study import Study
from thalweg.evaluation.summary import PAST_LABELS
from thalweg.preprocessing.imputer import Imputer
from thalweg.tables import Encoder, Recipe, Table
from thalweg.types import FloatArray

MAX_ROWS = 20_000


def compare(
    source: options.Source,
    target: options.Target = None,
    features: options.Features = None,
    text: options.Text = None,
    time: options.Time = None,
    calendar: options.Calendar = None,
    lags: options.Lags = None,
    delay: options.Delay = None,
    missing: options.Missing = None,
    categories: options.Categories = None,
    format: options.Format = None,
    rows: Annotated[
        int,
        typer.Option(
            help="Most rows to compare on, the last ones: all of them are in memory.",
            metavar="ROWS",
        ),
    ] = MAX_ROWS,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for all files; out/NAME-compared, if not given.",
            rich_help_panel=OUTPUT, metavar="FOLDER",
        ),
    ] = None,
    report: options.Report = True,
    figures: options.Figures = False,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Run every learner on a table, and measure how far each was from hindsight.

    The learners are the Tracker, least squares at fixed discounts, the paper's mixture,
    rivals from the literature, River's regressions where River is installed, and
    persistence. Regret, the loss beyond that of hindsight, is measured against the best
    fixed point, the best moving path and on the worst interval, with the bounds that
    theory has for targets that are known at once. With --delay every learner gets a
    target so many rows late, persistence included; rows that lack a number are left
    out before, and do not count.

        thalweg compare stream.csv --target y
        thalweg compare power.parquet -t load --lags 1,24 --rows 5000
        thalweg compare stream.csv --target y --delay 12

    Ctrl-C prints the learners that are done. Exit codes: 0 done, 1 a bound was broken,
    2 something was wrong with the input, 130 stopped by Ctrl-C.
    """
    recipe = options.recipe_settings(
        target, features, text, lags, time=time, calendar=calendar, delay=delay,
        missing=missing, categories=categories,
    )  # fmt: skip
    outputs = OutputOptions(report, figures, json)
    _compare_table(source, recipe, options.table_format(format), rows, out, outputs)


class StreamRows(NamedTuple):
    """The last complete rows of a table."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T, k)
    complete: int  # complete rows in the whole table
    left_out: int  # rows that lack a target or, under "skip", a feature


def _compare_table(
    source: str, recipe: dict[str, Any], format: Any, max_rows: int,
    out: Path | None, outputs: OutputOptions,
) -> None:  # fmt: skip
    """Read the table, compare all learners on every target, write the results."""
    if "targets" not in recipe:
        raise InvalidParameterError("Say which column to predict: --target NAME.")
    outputs, encoder = study_files.available_outputs(outputs), Encoder(Recipe(**recipe))
    with tables.read_table(source, format=format) as table:
        folder = out or Path("out", f"{source_stem(table)}-compared")
        study_files.protect_source(source, folder)
        stream = _read_last_rows(table, encoder, max_rows)
    if not outputs.json:
        for note in encoder.notes():
            stderr_console().print(note, markup=False)
    studies = _compare_targets(table.name, encoder, stream)
    outcome = run_comparisons(studies, encoder.recipe.targets)
    write_results(outcome, folder, outputs)


def _read_last_rows(table: Table, encoder: Encoder, max_rows: int) -> StreamRows:
    """Read the whole table, and keep the last rows that have all targets."""
    imputer = Imputer(encoder.recipe.missing)
    x, y, complete, left_out = [], [], 0, 0
    total = None if table.is_live else 1.0
    with progress_bar(f"reading {table.name}", total) as bar:
        for chunk in table.chunks():
            features, targets, _, _ = encoder.encode(chunk)
            features, known = imputer.impute(features, targets)
            x.append(features[known])
            y.append(targets[known])
            complete += int(known.sum())
            left_out += int((~known).sum())
            while sum(map(len, y[1:])) >= max_rows:  # the oldest chunk is not needed
                x, y = x[1:], y[1:]
            bar.update(table.fraction(), complete)
    encoder.check_targets()
    if not complete:
        raise StreamError(f"No row of {table.name} has all its features and targets.")
    last_x, last_y = np.vstack(x)[-max_rows:], np.vstack(y)[-max_rows:]
    return StreamRows(last_x, last_y, complete, left_out)


def _compare_targets(
    name: str, encoder: Encoder, stream: StreamRows
) -> Iterator[Study]:
    """Compare all learners on each target by itself."""
    targets, notes = encoder.recipe.targets, _notes(encoder, stream)
    for k, target in enumerate(targets):
        study = compare_with_progress(
            f"{name}, {target}" if len(targets) > 1 else name, target,
            encoder.feature_names(), stream.x, stream.y[:, k], notes,
            encoder.recipe.delay,
        )  # fmt: skip
        yield replace(study, features=encoder.used_feature_names())


def _notes(encoder: Encoder, stream: StreamRows) -> list[str]:
    """What a reader should know about the rows that were compared."""
    notes = list(encoder.notes())
    if not encoder.recipe.lags:
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
