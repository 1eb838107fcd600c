"""``thalweg demo``: compare every learner on real data, and write a page."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from thalweg.cli import options
from thalweg.cli.comparisons import (
    compare_with_progress,
    run_comparisons,
    write_results,
)
from thalweg.cli.console import new_table, stderr_console
from thalweg.cli.options import OUTPUT, OutputOptions
from thalweg.cli.runs import study_files
from thalweg.errors import StreamError
from thalweg.evaluation.study import Study
from thalweg.lab.datasets import PublicStream
from thalweg.lab.demo import DEMO_ROUNDS, DemoStream, load_demo_streams


def demo(
    rows: Annotated[
        int | None,
        typer.Option(help="Rows of each stream, the last ones.", metavar="ROWS"),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for all files.", rich_help_panel=OUTPUT, metavar="FOLDER",
        ),
    ] = Path("out/demo"),
    report: options.Report = True,
    figures: options.Figures = False,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Compare every learner on two real streams, and write a page to look at.

    US Treasury yields, 1990 to 2017, and flights from New York in 2013: the data come
    with Python packages that `make data` installs. Takes about a minute.

    Exit codes: 0 done, 1 a bound was broken, 2 the data are not installed.
    """
    outputs = study_files.available_outputs(OutputOptions(report, figures, json))
    streams, missing = load_demo_streams()
    if not streams:
        raise StreamError(missing[0])
    for sentence in missing:
        stderr_console().print(sentence, markup=False, style="yellow")
    stderr_console().print("Runs every learner on real streams: about a minute.")
    studies = _compare_streams(streams, rows or DEMO_ROUNDS)
    outcome = run_comparisons(studies, [stream.title for stream in streams])
    write_results(outcome, out, outputs, _print_key_numbers)


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
