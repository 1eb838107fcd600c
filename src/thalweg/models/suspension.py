"""One call of ``Online`` at a time has the live state for itself."""

import sys
from typing import Any

from thalweg.errors import ThalwegError
from thalweg.models.live_state import LiveState


class Suspension:
    """One call that has a model's live state for itself; it counts refusals meanwhile.

    An interrupt may end it anywhere, in ``__enter__`` and ``__exit__`` too, and needs
    no undoing: the lock is then free (``ModelLock``), and a live state that was left
    suspended refuses single calls until the next of them, on its checked path, has
    suspended and resumed it.
    """

    __slots__ = ("_is_nested", "_live", "_model", "_to_learn")
    _live: LiveState

    def __init__(self, model: Any, to_learn: bool) -> None:
        self._model, self._to_learn = model, to_learn

    def __enter__(self) -> LiveState:
        model, frame = self._model, sys._getframe(1)
        self._is_nested = model._lock.acquire(frame)
        if self._is_nested and self._to_learn:
            model.refusals += 1
            model._lock.release(frame)
            raise ThalwegError(
                "Online cannot learn a round while it is in the middle of another "
                "call: a signal handler or an argument has called it."
            )
        self._live = model._live
        self._live.suspend()
        return self._live

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        model = self._model
        if kind is not None and issubclass(kind, ThalwegError):
            model.refusals += 1
        # A run has replaced the live state; an outer call still needs it suspended.
        if self._live is model._live and not self._is_nested:
            self._live.resume()
        model._lock.release(sys._getframe(1))
