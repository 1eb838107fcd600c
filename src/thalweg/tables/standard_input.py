"""Standard input as a file: a forecast reads its rows more than once."""

import atexit
import shutil
import sys
import tempfile
from pathlib import Path

from thalweg.errors import StreamError


def spool_standard_input(suffix: str) -> str:
    """The path of a file with all of standard input, which goes at the end."""
    if sys.stdin is None:
        raise StreamError("Standard input is closed: there is nothing to read.")
    folder = tempfile.mkdtemp(prefix="thalweg-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, f"stdin.{suffix}")
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)
