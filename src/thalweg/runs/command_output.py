"""What commands print around their results: notes, files, JSON, how to go on."""

import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from thalweg.report.console import print_saved_files, print_sentence, stderr_console
from thalweg.runs.settings import OutputOptions


def print_notes(notes: Iterable[str], outputs: OutputOptions | None = None) -> None:
    """Print sentences on standard error, unless only JSON is wanted."""
    if outputs is None or not outputs.json:
        for note in notes:
            print_sentence(stderr_console(), note)


def print_outcome(
    console: Console, content: dict[str, Any], saved: Sequence[Path],
    outputs: OutputOptions, replaced: Path | None = None,
) -> None:  # fmt: skip
    """End the output of a command: the list of its files, or all as a JSON object.

    ``replaced`` is the file that stood in the place of one of these.
    """
    if outputs.json:
        files = [str(path) for path in saved]
        print(json.dumps(content | {"files": files}, allow_nan=False))
    else:
        print_saved_files(console, saved, replaced)


def print_resume_command(command: str, source: str, model: Path, rows: int) -> None:
    """Print how a command that was stopped goes on."""
    print_sentence(stderr_console(), f"Stopped after row {rows:,}. Go on with:")
    line = f"thalweg {command} {shlex.quote(source)} --resume {shlex.quote(str(model))}"
    stderr_console().print(f"  {line}", markup=False, soft_wrap=True)
