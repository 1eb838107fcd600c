"""A line where a first use makes a person wait."""

import sys
from typing import Any

from numba.core import event

LINE = "thalweg compiles its kernels, once for this machine: some seconds."


class _Announcer(event.Listener):  # type: ignore[misc]
    """Prints the line before the first of our kernels that is not on disk yet."""

    def on_start(self, happened: Any) -> None:
        kernel = happened.data["dispatcher"].py_func
        if kernel.__module__.startswith("thalweg."):
            event.unregister("numba:compile", self)
            print(LINE, file=sys.stderr, flush=True)

    def on_end(self, happened: Any) -> None:
        pass


def announce() -> None:
    """Have it printed, on a terminal; elsewhere there is nobody to read it."""
    if sys.stderr is not None and sys.stderr.isatty():
        event.register("numba:compile", _Announcer())
