"""A line where a first use makes a person wait."""

import contextlib
import sys
from typing import Any

from numba.core import event

LINE = "thalweg compiles its kernels, once for this machine: up to half a minute."


class _Announcer(event.Listener):  # type: ignore[misc]
    """Prints the line before the first of our kernels that is not on disk yet."""

    said = False

    def on_start(self, happened: Any) -> None:
        kernel = happened.data["dispatcher"].py_func
        ours = (kernel.__module__ or "").startswith("thalweg.")
        if ours and not self.said:
            self.said = True
            with contextlib.suppress(OSError, ValueError):  # nobody there any more
                print(LINE, file=sys.stderr, flush=True)

    def on_end(self, happened: Any) -> None:
        pass


def announce() -> None:
    """Have it printed, on a terminal; elsewhere there is nobody to read it."""
    if sys.stderr is not None and sys.stderr.isatty():
        event.register("numba:compile", _Announcer())
