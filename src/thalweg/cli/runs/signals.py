"""Ctrl-C and ``kill`` that leave things in order."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StoppedError(Exception):
    """A signal came while nothing but waiting was done."""


class Stop:
    """Notes that a signal came; work goes on to where it can be saved.

    Only inside ``waiting`` does the signal interrupt. A second one is not caught.
    """

    def __init__(self) -> None:
        self.by: int | None = None  # the signal
        self._waiting = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = {one: signal.signal(one, self._note) for one in SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    @property
    def code(self) -> int:
        """What a process that was stopped so exits with."""
        return 0 if self.by is None else 128 + self.by

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Inside, a signal raises StoppedError."""
        self._waiting = True
        try:
            if self.by is not None:
                raise StoppedError
            yield
        finally:
            self._waiting = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """Inside, though it is inside ``waiting``, a signal waits for the end."""
        waiting, self._waiting = self._waiting, False
        yield
        self._waiting = waiting
        if waiting and self.by is not None:
            raise StoppedError

    def _note(self, number: int, frame: object) -> None:
        self.by = number
        for one in SIGNALS:
            signal.signal(one, signal.SIG_DFL)
        if self._waiting:
            raise StoppedError
