"""Comparisons of all learners on the demonstration's streams: ``thalweg demo``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from thalweg.cli.comparisons import (
    compare_with_progress,
    run_comparisons,
    write_results,
)
from thalweg.cli.console import new_table, stderr_console
from thalweg.cli.options import OutputOptions
from thalweg.cli.runs import study_files
from thalweg.errors import StreamError
from thalweg.evaluation.study import Study
from thalweg.lab.datasets import PublicStream
from thalweg.lab.demo import DEMO_ROUNDS, DemoStream, load_demo_streams


def compare_demo_streams(
    max_rows: int | None, folder: Path, outputs: OutputOptions
) -> None:
    """Compare all learners on the demonstration's streams, and write the results.

    This is what ``thalweg demo`` does, on the last ``max_rows`` rows of each stream.
    """
    outputs = study_files.available_outputs(outputs)
    study_files.protect_special_files(folder)
    streams, missing = load_demo_streams()
    if not streams:
        raise StreamError(missing[0])
    for sentence in missing:
        stderr_console().print(sentence, markup=False, style="yellow")
    stderr_console().print("Runs every learner on real streams: about a minute.")
    studies = _compare_streams(streams, max_rows or DEMO_ROUNDS)
    outcome = run_comparisons(studies, [stream.title for stream in streams])
    write_results(outcome, folder, outputs, _print_key_numbers)


def _compare_streams(
    streams: dict[DemoStream, PublicStream], max_rows: int
) -> Iterator[Study]:
    for demo, stream in streams.items():
        x, y = stream.x[-max_rows:], stream.y[-max_rows:]
        note = f"The last {len(y):,} of {len(stream.y):,} rows: {stream.description}."
        yield compare_with_progress(
            demo.title, demo.target, demo.features, x, y, [note]
        )


def _print_key_numbers(console: Console, studies: Sequence[Study]) -> None:
    """Print three numbers to remember, one line per stream."""
    table = new_table("Three numbers that matter")
    table.add_column("the Tracker on")
    headers = (
        "error over\npersistence's",
        "over best\nfixed one's",
        "rows\nthat count",
    )
    for header in headers:
        table.add_column(header, justify="right")
    for study in studies:
        tracker, fixed = study.tracker.name, study.entries_of_role("fixed")[0].name
        ratios = (
            study.ratio(tracker, study.persistence.name),
            study.ratio(tracker, fixed),
        )
        assert study.history is not None
        memory = np.median(study.history.memory.mean)
        table.add_row(study.title, *(f"{r:.3f}" for r in ratios), f"{memory:,.0f}")
    console.print(table)
