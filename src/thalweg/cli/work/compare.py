"""Every learner on one stream of a table."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg import tables
from thalweg.cli.console import progress, remarks
from thalweg.cli.options import Wanted
from thalweg.cli.runs import study_files
from thalweg.cli.runs.output_paths import stem
from thalweg.cli.runs.overwriting import keep_source
from thalweg.cli.work.comparing import compared, present
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.evaluation.study import Study
from thalweg.evaluation.summary import PAST_LABELS
from thalweg.preprocessing.imputer import MeanImputer
from thalweg.tables import Encoder, Recipe, Table
from thalweg.types import FloatArray


class Rounds(NamedTuple):
    """The last rounds of a stream, those without a target left out."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T, k)
    seen: int  # rounds with all targets in the whole stream
    left_out: int  # rounds that lack a target or, under "skip", a feature


def compare_learners(
    source: str, recipe: dict[str, Any], format: Any, rounds: int,
    out: Path | None, wanted: Wanted,
) -> None:  # fmt: skip
    """Compare on the last ``rounds`` of ``source``, every target by itself."""
    if "targets" not in recipe:
        raise InvalidParameterError("Say which column to predict: --target NAME.")
    wanted, encoder = study_files.possible(wanted), Encoder(Recipe(**recipe))
    with tables.read_table(source, format=format) as table:
        folder = out or Path("out", f"{stem(table)}-compared")
        keep_source(source, folder)
        found = _last_rounds(table, encoder, rounds)
    for note in () if wanted.json else encoder.notes():
        remarks().print(note, markup=False)
    studies = _studies(table, encoder, found)
    present(studies, encoder.recipe.targets, folder, wanted)


def _studies(table: Table, encoder: Encoder, found: Rounds) -> Iterator[Study]:
    targets, notes = encoder.recipe.targets, list(encoder.notes())
    if not encoder.recipe.lags:
        notes.append(PAST_LABELS)
    if found.left_out:
        notes.append(
            f"{found.left_out:,} rows that lack a number were left out; seasons are "
            f"counted without them."
        )
    if found.seen > len(found.y):
        notes.append(
            f"The last {len(found.y):,} of {found.seen:,} rounds were compared."
        )
    for k, target in enumerate(targets):
        title = f"{table.name}, {target}" if len(targets) > 1 else table.name
        study = compared(
            title, target, encoder.feature_names(), found.x, found.y[:, k], notes,
            encoder.recipe.delay,
        )  # fmt: skip
        yield replace(study, features=encoder.used_feature_names())


def _last_rounds(table: Table, encoder: Encoder, most: int) -> Rounds:
    """Read everything, and keep the last rounds that have all targets."""
    imputer = MeanImputer(encoder.recipe.missing)
    x, y, seen, left_out = [], [], 0, 0
    total = None if table.is_live else 1.0
    with progress(f"reading {table.name}", total) as bar:
        for chunk in table.chunks():
            features, targets, _, _ = encoder.encode(chunk)
            features, known = imputer.impute(features, targets)
            x.append(features[known])
            y.append(targets[known])
            seen += int(known.sum())
            left_out += int((~known).sum())
            while sum(map(len, y[1:])) >= most:  # the oldest is not needed any more
                x, y = x[1:], y[1:]
            bar.at(table.fraction(), seen)
    encoder.check_targets()
    if not seen:
        raise StreamError(f"No round of {table.name} has all its features and targets.")
    return Rounds(np.vstack(x)[-most:], np.vstack(y)[-most:], seen, left_out)
