"""Predictions as lines of CSV, to a file that can be continued, or as Parquet."""

import csv
import io
import os
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.cli.runs.storage import make_folder, writing
from thalweg.errors import InvalidParameterError, StorageError
from thalweg.evaluation.prequential import Forecasts
from thalweg.tables import Timestamps
from thalweg.types import FloatArray

PARQUET = (".parquet", ".pq")


class Said(NamedTuple):
    """What was said of some rows, of each target."""

    rows: npt.NDArray[np.int64]  # (T,) the first row of the stream being 1
    time: Any  # (T,) Timestamps or float64, or None
    forecasts: list[Forecasts]  # one a target
    observed: FloatArray  # (T, k), NaN where not known


class Layout(NamedTuple):
    """The columns of the predictions."""

    targets: tuple[str, ...]
    timed: bool

    @property
    def columns(self) -> list[str]:
        """Their names; the target's goes first where there are several."""
        each = ["prediction", "low", "high", "observed"]
        several = len(self.targets) > 1
        named = [
            f"{t} {name}" if several else name for t in self.targets for name in each
        ]
        return ["row", *(["time"] if self.timed else []), *named]

    def header(self) -> str:
        """The first line."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(self.columns)
        return text.getvalue()

    def lines(self, said: Said) -> str:
        """One line a row. Numbers are as short as they can be without a loss.

        An interval without a width is left empty: no error has been seen yet.
        """
        columns = [said.rows.astype(str).tolist()]
        if self.timed:
            columns.append(times(said.time))
        for k, (prediction, interval) in enumerate(said.forecasts):
            columns.append(_numbers(prediction))
            low, high = interval.T
            for end in (low, high):
                columns.append(_numbers(np.where(low < high, end, np.nan)))
            columns.append(_numbers(said.observed[:, k]))
        return "".join(f"{','.join(row)}\n" for row in zip(*columns, strict=True))


def times(time: Any) -> list[str]:
    """As they were written, with the offset if there is one; numbers as they are."""
    return time.isoformat() if isinstance(time, Timestamps) else _numbers(time)


def _numbers(values: FloatArray) -> list[str]:
    return [repr(value) if value == value else "" for value in values.tolist()]


def check_suffix(path: Path | None) -> None:
    """Raise unless the name says which format is wanted."""
    if path is not None and not is_for_predictions(path):
        raise InvalidParameterError(
            f"--predictions takes a file that ends in .csv or .parquet. Got {path} "
            f"instead."
        )


def is_for_predictions(path: Path) -> bool:
    """Whether the name is one that predictions may go to."""
    return path.suffix.lower() in (".csv", *PARQUET)


def _lines_of(path: Path) -> Path:
    """Where lines are written: Parquet's wait beside it."""
    if path.suffix.lower() in PARQUET:
        return path.with_name(f"{path.name}.part")
    return path


class PredictionFile:
    """A file of predictions. Opened when the first line is written.

    Parquet cannot be continued where it ends, so its lines wait in a ``.part`` beside
    it, and become Parquet at the end.
    """

    def __init__(
        self, path: Path, layout: Layout, size: int = 0, copied: Path | None = None
    ) -> None:
        self.path = path
        self.layout = layout
        self.size = size  # bytes that are to stay
        self._parquet = path.suffix.lower() in PARQUET
        self._lines = _lines_of(path)
        self._copied = None if copied is None else _lines_of(copied)
        self._file: io.FileIO | None = None

    @property
    def written(self) -> dict[str, Path]:
        """The files that are written, by what they hold."""
        lines = {"lines of predictions": self._lines} if self._parquet else {}
        return {"predictions": self.path} | lines

    @property
    def read(self) -> dict[str, Path]:
        """The file that is copied first, if one is."""
        copied = self._copied
        return {} if copied is None else {"predictions of the run before": copied}

    def write(self, lines: str) -> None:
        """Append lines."""
        with writing(self.path):
            if self._file is None:
                self._file = self._opened()
                if not self.size:
                    lines = self.layout.header() + lines
            left = memoryview(lines.encode())
            while left:  # a disk that is nearly full takes a part
                taken = self._file.write(left)
                self.size += taken
                left = left[taken:]

    def sync(self) -> None:
        """See to it that what was written survives a loss of power."""
        if self._file is None and self._copied is not None:
            with writing(self.path):
                self._file = self._opened()
        if self._file is not None and self._lines.is_file():
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write no more; it can be continued."""
        if self._file is not None:
            self._file.close()

    def finish(self) -> None:
        """Lines that wait to become Parquet become Parquet."""
        if self._parquet and self._lines.exists():
            parquet = import_module("thalweg.cli.runs.parquet")
            with writing(self.path):
                parquet.from_lines(self._lines, self.path, self.layout)
                self._lines.unlink()

    def discard(self) -> None:
        """Remove what was written."""
        if self._file is not None:
            self.close()
            self._lines.unlink()

    def _opened(self) -> io.FileIO:
        if not self.size:
            make_folder(self._lines.parent)
            return self._lines.open("wb", buffering=0)
        before = self._copied or self._lines
        there = before.stat().st_size if before.is_file() else 0
        if there < self.size:
            raise StorageError(
                f"{before} has {there:,} bytes, and the run that is resumed had "
                f"written {self.size:,}. Bring it back, or give another --predictions."
            )
        if self._copied is not None:
            make_folder(self._lines.parent)
            shutil.copyfile(self._copied, self._lines)
        file = self._lines.open("r+b", buffering=0)
        file.truncate(self.size)
        file.seek(self.size)
        return file
