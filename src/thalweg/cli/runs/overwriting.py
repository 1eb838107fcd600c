"""No file that is written may be the one that is read, nor be written twice."""

import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from thalweg.cli.runs import study_files
from thalweg.errors import InvalidParameterError

ELSEWHERE = "Write elsewhere: --out, --predictions or --model."


def refuse_overwriting(
    read: Mapping[str, str | Path], written: Mapping[str, Path], hint: str = ELSEWHERE
) -> None:
    """Raise if one of the files written is one that is read, or another written.

    Each goes by what it holds; a link is the file it leads to. "-" is standard input.
    """
    pairs = [(a, b) for a in read.items() for b in written.items()]
    for (one, a), (other, b) in [*pairs, *combinations(written.items(), 2)]:
        if _are_one(a, b):
            raise InvalidParameterError(
                f"The {other} ({b}) would replace the {one} ({a}): they are one file. "
                f"{hint}"
            )


def keep_source(source: str, folder: Path) -> None:
    """Raise if the study or the page in the folder would replace the source."""
    written = study_files.written(folder)
    refuse_overwriting({"source": source}, written, "Write elsewhere: --out.")


def _are_one(a: str | Path, b: Path) -> bool:
    if str(a) != "-" and os.path.realpath(a) == os.path.realpath(b):
        return True
    with suppress(OSError, ValueError):  # it is not there yet, or is no real file
        status = os.fstat(sys.stdin.fileno()) if str(a) == "-" else os.stat(a)
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, os.stat(b))
    return False
