"""A stream predicted and learnt, row by row."""

from typing import Any

from thalweg import tables
from thalweg.cli.options import Wanted, Where
from thalweg.cli.runs import study_files
from thalweg.cli.runs.file_locks import Claims
from thalweg.cli.runs.finish import Ending
from thalweg.cli.runs.output_paths import Places, begun, continued
from thalweg.cli.runs.predictions import check_suffix
from thalweg.cli.runs.run_loop import Running

CHUNK = 8192
"""Rows at a time: a Ctrl-C waits for the rest of them, a second at most."""


def run_stream(
    source: str, recipe: dict[str, Any], format: Any, where: Where,
    next: bool | None, wanted: Wanted,
) -> None:  # fmt: skip
    """Run the Tracker over ``source``; options as the command takes them."""
    check_suffix(where.predictions)
    wanted = study_files.possible(wanted)
    with (
        tables.read_table(source, format=format, chunk_rows=CHUNK) as table,
        Claims() as own,
    ):
        if where.in_place is not None:  # before it is read: it may be written just now
            own.take(where.in_place)
        session, kept = begun(where.resume, recipe, table.is_live)
        session.asking = table.is_live
        continued(session, kept, table, next)
        places = Places.of(table, session, kept, where)
        places.check(source)
        echo = table.is_live and not wanted.json
        Ending(Running(table, session, places, own, echo), source, wanted).reach()
