"""The work of ``thalweg demo``: the files of ``demo_data``, compared and forecast.

They are copied to the folder of the results, where every other command can read them.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from thalweg.evaluation.study import Study
from thalweg.report.console import print_sentence, stderr_console
from thalweg.report.number_text import format_count, format_ratio
from thalweg.report.section import Column, ResultTable, Section
from thalweg.report.terminal import print_section
from thalweg.runs import study_files
from thalweg.runs.compare_command import (
    read_last_rows,
    run_comparisons,
    table_studies,
    write_results,
)
from thalweg.runs.forecast_command import forecast_file
from thalweg.runs.session import Session
from thalweg.runs.settings import OutputOptions
from thalweg.runs.source import Source, new_recipe
from thalweg.runs.storage import make_folder, storage_errors

DATA = Path(__file__).parent / "demo_data"
"""Files in the public domain; SOURCES.md says where they come from."""


class DemoStream(NamedTuple):
    """A file in which every learner predicts a column from others of the same row."""

    file: str
    title: str
    target: str
    features: tuple[str, ...]


STREAMS = (
    DemoStream(
        "treasury.csv.gz", "10-year US Treasury yields, daily", "10 years",
        ("3 months", "1 year", "2 years", "5 years"),
    ),
    DemoStream(
        "flights.csv.gz", "Flights from New York, as they land", "arrival delay",
        ("departure delay", "scheduled hour", "distance", "carrier", "origin"),
    ),
)  # fmt: skip
FORECAST_FILE, FORECAST_TITLE = "co2.csv.gz", "Carbon dioxide at Mauna Loa, weekly"
FORECAST_TARGET, WEEKS = "co2", 52
"""The column whose next values are forecast, and number of weeks ahead."""


def show_demo(max_rows: int, folder: Path, outputs: OutputOptions) -> int:
    """Forecast one file, compare all learners on the last rows of others, and report.

    Returns the exit code.
    """
    outputs = study_files.available_outputs(outputs)
    study_files.protect_special_files(folder)
    _copy_data(folder)
    print_sentence(
        stderr_console(),
        "A forecast of carbon dioxide, then every learner on bond yields and on "
        "flights: under a minute once kernels are compiled.",
    )
    path = str(folder / FORECAST_FILE)
    source = Source(path, {}, title=FORECAST_TITLE)
    forecast = forecast_file(source, FORECAST_TARGET, WEEKS, folder)
    if not outputs.json:
        forecast.show_with_notes()
    studies = (_study(stream, folder, max_rows) for stream in STREAMS)
    outcome = run_comparisons(studies, [stream.title for stream in STREAMS])
    return write_results(outcome, folder, outputs, _print_key_numbers, forecast)


def _copy_data(folder: Path) -> None:
    make_folder(folder)
    for path in DATA.iterdir():
        if path.suffix in (".gz", ".md"):
            with storage_errors(folder / path.name):
                shutil.copyfile(path, folder / path.name)


def _study(stream: DemoStream, folder: Path, max_rows: int) -> Study:
    recipe: dict[str, Any] = {
        "targets": (stream.target,), "features": stream.features, "lags": (),
        "calendar": None,
    }  # fmt: skip
    session = Session(new_recipe(recipe), "regress")
    with Source(str(folder / stream.file), {}).open() as table:
        rows = read_last_rows(table, session, max_rows)
    (study,) = table_studies(stream.title, session, rows)
    return study


def _print_key_numbers(console: Console, studies: Sequence[Study]) -> None:
    """Print three numbers to remember, one line per stream."""
    table = ResultTable(
        "Three numbers that matter",
        (
            Column("the Tracker on"),
            Column("error over persistence's", format_ratio),
            Column("over best fixed one's", format_ratio),
            Column("rows that count", format_count),
        ),
        tuple(map(_key_numbers, studies)),
    )
    print_section(console, Section("", "", tables=(table,)))


def _key_numbers(study: Study) -> tuple[str, float, float, int]:
    tracker, fixed = study.tracker.name, study.entries_of_role("fixed")[0].name
    assert study.history is not None
    memory = round(float(np.median(study.history.memory.mean)))
    over_persistence = study.ratio(tracker, study.persistence.name)
    return study.title, over_persistence, study.ratio(tracker, fixed), memory
