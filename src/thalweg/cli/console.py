"""Output to the terminal: results to standard output, remarks to standard error."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

MAX_WIDTH = 80
"""Columns of the terminal that tables and sentences use at most."""
EXIT_INTERRUPTED = 130
"""The exit code of a process that Ctrl-C has ended."""


def results() -> Console:
    """Standard output."""
    return Console(width=_width(), highlight=False)


def remarks() -> Console:
    """Standard error."""
    return Console(stderr=True, width=_width(stderr=True), highlight=False)


def _width(stderr: bool = False) -> int:
    return min(MAX_WIDTH, Console(stderr=stderr).width)


class Rate(ProgressColumn):
    """Rows a second."""

    def render(self, task: Task) -> Text:
        """As text, once there is a rate."""
        rate = task.fields.get("rate", 0.0)
        return Text(f"{rate:,.0f} rows/s" if rate else "")


@contextmanager
def progress(what: str, total: float | None) -> Iterator["Bar"]:
    """A bar on standard error while something goes on; nothing if that is no terminal.

    ``total`` None: there is no end in sight, and no bar.
    """
    console = remarks()
    columns = (
        TextColumn("{task.description}"), BarColumn(), Rate(), TimeRemainingColumn(),
    )  # fmt: skip
    quiet = total is None or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as shown:
        yield Bar(shown, what, total)


class PartialResults(NamedTuple):
    """The results until the end, or until a Ctrl-C."""

    results: list[Any]
    interrupted: bool  # by Ctrl-C


def collect_until_interrupt(
    results: Iterable[Any], is_unfinished: Callable[[Any], bool] = lambda result: False
) -> PartialResults:
    """Collect all results, or as many as there are when a Ctrl-C comes.

    A result that ``is_unfinished`` was itself cut short by a Ctrl-C, and is the last.
    """
    collected = []
    try:
        for result in results:
            collected.append(result)
            if is_unfinished(result):
                return PartialResults(collected, True)
    except KeyboardInterrupt:
        if not collected:
            raise
        return PartialResults(collected, True)
    return PartialResults(collected, False)


def new_table(title: str) -> Table:
    """An empty table in the style of all our tables."""
    return Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )


def print_saved_files(
    console: Console, saved: Sequence[Path], replaced: Path | None = None
) -> None:
    """Print the paths of saved files, one per line, and which of them was replaced."""
    console.print("Saved:")
    for path in saved:
        note = " (replaces the one of an earlier run)" if path == replaced else ""
        console.print(f"  {path}{note}", markup=False, soft_wrap=True)


class Bar:
    """How far one thing is."""

    def __init__(self, shown: Progress, what: str, total: float | None) -> None:
        self._shown = shown
        self._task = shown.add_task(what, total=total)
        self._first: tuple[int, float] | None = None  # rows, and when

    def at(self, done: float | None, rows: int = 0) -> None:
        """So much of the total is done."""
        rate = self._rate(rows)
        self._shown.update(self._task, completed=done or 0.0, rate=rate)

    def _rate(self, rows: int) -> float:
        """Rows a second since the first ones, for which kernels may be compiled."""
        now = time.perf_counter()
        if self._first is None:
            self._first = (rows, now)
            return 0.0
        before, at = self._first
        return (rows - before) / max(now - at, 1e-9)

    def step(self, what: str) -> None:
        """One more step is begun; the word says which."""
        self._shown.update(self._task, advance=1, description=what)
