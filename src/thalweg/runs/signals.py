"""Signals: a Ctrl-C or a ``kill`` ends a run only where it can be saved."""

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

T = TypeVar("T")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StoppedError(Exception):
    """A signal came while the process was only waiting."""


class StopSignal:
    """Records that a signal came; work goes on to where it can be saved.

    The signal interrupts only inside ``allow_interrupt``. A second one is not caught.
    """

    def __init__(self) -> None:
        self.number: int | None = None  # of the signal that came
        self._waiting = False
        self._handlers: dict[int, Any] = {}  # those before

    def __enter__(self) -> Self:
        self._handlers = {one: signal.signal(one, self._handle) for one in SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for one, handler in self._handlers.items():
            signal.signal(one, handler)

    @property
    def exit_code(self) -> int:
        """The exit code of a process that was stopped so."""
        return 0 if self.number is None else 128 + self.number

    @contextmanager
    def allow_interrupt(self) -> Iterator[None]:
        """A signal raises StoppedError inside."""
        self._waiting = True
        try:
            if self.number is not None:
                raise StoppedError
            yield
        finally:
            self._waiting = False

    def interruptible(self, items: Iterable[T]) -> Iterator[T]:
        """The items; a signal raises StoppedError while one is awaited."""
        iterator, end = iter(items), object()
        while True:
            with self.allow_interrupt():
                item: Any = next(iterator, end)
            if item is end:
                return
            yield item

    @contextmanager
    def defer_interrupt(self) -> Iterator[None]:
        """A signal takes effect at the end, also inside ``allow_interrupt``."""
        was_waiting, self._waiting = self._waiting, False
        yield
        self._waiting = was_waiting
        if was_waiting and self.number is not None:
            raise StoppedError

    def _handle(self, number: int, frame: object) -> None:
        self.number = number
        for one in SIGNALS:
            signal.signal(one, signal.SIG_DFL)
        if self._waiting:
            raise StoppedError
