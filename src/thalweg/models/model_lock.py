"""A lock that neither an interrupt nor a fork can leave locked."""

import os
import sys
import threading
import weakref
from collections import deque
from contextlib import suppress
from types import FrameType

RECHECK_SECONDS = 0.05
"""Seconds between two checks of a waiting call whether an interrupt ended the first."""


class ModelLock:
    """Lets one thread at a time call a model; a call may call the model again.

    Also known as: a re-entrant and robust mutex. ``threading.RLock`` is not robust: an
    interrupt (Ctrl-C) between its acquisition and the block that releases it, or in
    that block, leaves it locked for ever; and a process that forks while a thread holds
    it leaves it locked in the child.

    Calls stand in a queue, the first one holds the lock. An entry is the frame of the
    function that calls, and Python knows of a frame whether it is executing
    (``frame.clear``): an entry whose function has ended is dropped by the next call.
    So nothing has to be undone when an interrupt ends a call, at whatever bytecode it
    comes. That ``append``, ``remove`` and ``queue[0]`` are atomic is all that is needed
    of the interpreter. The frame must not be that of a generator.
    """

    __slots__ = ("__weakref__", "_queue", "_wakers")

    def __init__(self) -> None:
        self._queue: deque[FrameType] = deque()
        # Of each call that waits, a lock whose release wakes it.
        self._wakers: dict[FrameType, threading.Lock] = {}
        _LOCKS.add(self)

    def __enter__(self) -> None:
        self.acquire(sys._getframe(1))

    def __exit__(self, *error: object) -> None:
        self.release(sys._getframe(1))

    def acquire(self, frame: FrameType) -> bool:
        """Wait until the function of this frame may go on.

        Returns whether it is called within another call of the same thread, which
        holds the lock: by a signal handler, or by an argument's own methods.
        """
        queue = self._queue
        queue.append(frame)
        return queue[0] is not frame and self._wait(frame)

    def release(self, frame: FrameType) -> None:
        """Let the next one go on."""
        try:
            self._queue.remove(frame)
        except ValueError:  # an interrupt came before it was in the queue
            return
        if self._wakers:
            self._wake_first()

    def drop_other_threads(self) -> None:
        """Drop the calls of all other threads, in a process that has just forked."""
        stack = _stack(sys._getframe())
        for frame in tuple(self._queue):
            if frame not in stack:
                self._queue.remove(frame)
        self._wakers.clear()

    def _wait(self, frame: FrameType) -> bool:
        stack, waker = _stack(frame), threading.Lock()
        waker.acquire()
        self._wakers[frame] = waker
        try:
            while (first := self._first_executing()) is not frame:
                if first in stack:
                    # One that waits itself has not begun: this call comes before it.
                    return first not in self._wakers
                waker.acquire(timeout=RECHECK_SECONDS)
            return False
        finally:
            self._wakers.pop(frame, None)

    def _first_executing(self) -> FrameType:
        """The first call that has not ended; the caller's own is in the queue."""
        while True:
            first = self._queue[0]
            try:
                first.clear()
            except RuntimeError:  # it is executing
                return first
            with suppress(ValueError):  # another thread was faster
                self._queue.remove(first)
            self._wakers.pop(first, None)

    def _wake_first(self) -> None:
        with suppress(IndexError, KeyError, RuntimeError):  # gone, or awake already
            self._wakers[self._queue[0]].release()


_LOCKS: weakref.WeakSet[ModelLock] = weakref.WeakSet()


def _stack(frame: FrameType | None) -> set[FrameType]:
    """The frame with all that have called it."""
    frames = set()
    while frame is not None:
        frames.add(frame)
        frame = frame.f_back
    return frames


def _drop_calls_of_lost_threads() -> None:
    for lock in tuple(_LOCKS):
        lock.drop_other_threads()


os.register_at_fork(after_in_child=_drop_calls_of_lost_threads)
