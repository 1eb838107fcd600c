"""What goes to the terminal, and where: results to one side, remarks to the other."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

NARROW = 80
"""Tables are made for this many columns, whatever the terminal has."""


def results() -> Console:
    """Standard output."""
    return Console(width=_width(), highlight=False)


def remarks() -> Console:
    """Standard error."""
    return Console(stderr=True, width=_width(stderr=True), highlight=False)


def _width(stderr: bool = False) -> int:
    return min(NARROW, Console(stderr=stderr).width)


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


class Harvest(NamedTuple):
    """What was done of some work."""

    done: list[Any]
    stopped: bool  # by Ctrl-C


def harvest(
    work: Iterable[Any], cut: Callable[[Any], bool] = lambda one: False
) -> Harvest:
    """Do all of the work, or as much as there is time for until a Ctrl-C.

    ``cut`` says of a piece that it was cut short by one: it is the last.
    """
    done = []
    try:
        for one in work:
            done.append(one)
            if cut(one):
                return Harvest(done, True)
    except KeyboardInterrupt:
        if not done:
            raise
        return Harvest(done, True)
    return Harvest(done, False)


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
