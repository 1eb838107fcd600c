"""The start and the end of the process ``thalweg``.

At the end the process leaves without unloading its libraries: threads of theirs
(pyarrow's, and those of linear algebra) may still run then, and now and again one of
them called abort, so that an error had the exit code 134 instead of 2.
"""

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import Any, NoReturn

from thalweg.cli.main import app


def main() -> NoReturn:
    """Run the program, and end the process with its exit code."""
    try:
        app(prog_name="thalweg")
        code: Any = 0
    except SystemExit as stop:
        code = stop.code
    end_process(code)


def end_process(code: Any) -> NoReturn:
    """End the process as ``sys.exit`` does, but for the libraries' own ends.

    Threads of Python end first, then what was registered with ``atexit`` runs, then
    streams are flushed.
    """
    if isinstance(code, str):
        print(code, file=sys.stderr)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # it is closed, or None
            stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
