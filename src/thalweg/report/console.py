"""Output to the terminal: results to standard output, remarks to standard error."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
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
UNBROKEN = re.compile(r"pip install \S+|make \w+|iconv(?: -\w \S+)+|--[a-z]+ \S+|\d %")
"""What no line ends in: a program and its arguments, an option and its value, which a
reader may copy, and a percentage."""
_UNBREAKABLE_SPACE = "\ue000"
"""A private character that stands for a space at which no line may end."""


def stdout_console(max_width: int = MAX_WIDTH) -> Console:
    """The console for results, on standard output."""
    return Console(width=min(max_width, Console().width), highlight=False)


def stderr_console() -> Console:
    """The console for remarks, on standard error."""
    width = min(MAX_WIDTH, Console(stderr=True).width)
    return Console(stderr=True, width=width, highlight=False)


def print_sentence(
    console: Console, sentence: str, first: str = "", **style: Any
) -> None:
    """Print a sentence after ``first``, with no line break in ``UNBROKEN``."""
    unbreakable = UNBROKEN.sub(
        lambda match: match[0].replace(" ", _UNBREAKABLE_SPACE), sentence
    )
    text = fill(
        unbreakable,
        console.width,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    ).replace(_UNBREAKABLE_SPACE, " ")
    console.print(text, markup=False, highlight=False, soft_wrap=True, **style)


class RateColumn(ProgressColumn):
    """The column of rows per second."""

    def render(self, task: Task) -> Text:
        """The rate as text, once it is known."""
        rate = task.fields.get("rate", 0.0)
        return Text(f"{rate:,.0f} rows/s" if rate else "")


@contextmanager
def progress_bar(description: str, total: float | None) -> Iterator["ProgressBar"]:
    """A progress bar on standard error, if that is a terminal.

    With ``total`` None the end is not known, and there is no bar.
    """
    console = stderr_console()
    columns = (
        TextColumn("{task.description}"), BarColumn(), RateColumn(),
        TimeRemainingColumn(),
    )  # fmt: skip
    hidden = total is None or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as display:
        yield ProgressBar(display, description, total)


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
    # Text, as brackets in names, of units say, would count as markup.
    return Table(
        title=Text(title, "table.title"), title_justify="left", box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )  # fmt: skip


def print_saved_files(
    console: Console, saved: Sequence[Path], replaced: Path | None = None
) -> None:
    """Print the paths of saved files, one per line, and which of them was replaced."""
    console.print("Saved:")
    for path in saved:
        note = " (replaces the one of an earlier run)" if path == replaced else ""
        console.print(f"  {path}{note}", markup=False, soft_wrap=True)


class ProgressBar:
    """The state of one progress bar."""

    def __init__(
        self, display: Progress, description: str, total: float | None
    ) -> None:
        self._display = display
        self._task = display.add_task(description, total=total)
        self._first: tuple[int, float] | None = None  # rows, and the time then

    def update(self, completed: float | None, rows: int = 0) -> None:
        """Show how much of the total is completed, and the rate of rows."""
        rate = self._rate(rows)
        self._display.update(self._task, completed=completed or 0.0, rate=rate)

    def _rate(self, rows: int) -> float:
        """Rows per second after the first ones, for which kernels may be compiled."""
        now = time.perf_counter()
        if self._first is None:
            self._first = (rows, now)
            return 0.0
        first_rows, first_time = self._first
        return (rows - first_rows) / max(now - first_time, 1e-9)

    def advance(self, description: str) -> None:
        """Start the next step, which the description names."""
        self._display.update(self._task, advance=1, description=description)
