"""``thalweg repair``: set aside the records of a file of models that cannot be read."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from thalweg import keyed
from thalweg.errors import StorageError
from thalweg.report.console import print_sentence, stdout_console


def repair(
    models: Annotated[
        Path,
        typer.Argument(
            help="SQLite file of models, as KeyedModels and thalweg serve write it.",
            metavar="MODELS",
        ),
    ],
) -> None:
    """Set aside what a file of models cannot read.

    Each record is read: the model of each key, and the rows that were learnt since. One
    that cannot be read is moved to a table of its own, in the same file, so that its
    key can begin again; all others stay as they are. What was set aside is listed, also
    what was before.

        thalweg repair models.sqlite

    Exit codes: 0 done, 2 something was wrong with the input.
    """
    if not models.exists():
        raise StorageError(f"{models} does not exist.")
    with warnings.catch_warnings(action="ignore"), keyed.KeyedModels(models) as opened:
        found = opened.repair()
    console = stdout_console()
    for record in found:
        sentence = f"Set aside: {record.kind} {record.name!r}. {record.reason}"
        print_sentence(console, sentence)
    if not found:
        print_sentence(console, f"All of {models} can be read.")
