"""Forecasts of rivals, saved: fitting their models takes minutes.

A file is of the very numbers of a series and of its origins: where they differ, it is
another file. It says which version of which library made the forecasts.
"""

from hashlib import sha256
from pathlib import Path

import numpy as np

from benchmarks.accuracy.forecast_origins import IntArray
from benchmarks.public_series import PublicSeries
from thalweg.types import FloatArray

VERSION = 1
"""To be raised with every change of what a rival gets or of how it is fitted."""


class SavedForecasts:
    """A folder of forecasts, with a file for each series, horizon and rival."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(
        self, series: PublicSeries, origins: IntArray, horizon: int
    ) -> dict[str, FloatArray]:
        """Forecasts (m, horizon) of every rival that is saved, by its name."""
        forecasts, prefix = dict[str, FloatArray](), _prefix(series, origins, horizon)
        for path in sorted(self.folder.glob(f"{prefix}*.npz")):
            with np.load(path) as file:
                forecasts[path.stem.removeprefix(prefix)] = file["forecasts"]
        return forecasts

    def holds(
        self, series: PublicSeries, origins: IntArray, horizon: int,
        rival: str, library: str,
    ) -> bool:  # fmt: skip
        """Whether a rival's forecasts by this version of its library are saved."""
        path = self._path(series, origins, horizon, rival)
        if not path.exists():
            return False
        with np.load(path) as file:
            return str(file["library"]) == library

    def save(
        self, series: PublicSeries, origins: IntArray, forecasts: FloatArray,
        rival: str, library: str,
    ) -> None:  # fmt: skip
        """Write a rival's forecasts (m, horizon), made by this version of a library."""
        path = self._path(series, origins, forecasts.shape[1], rival)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            np.savez(file, forecasts=forecasts, library=library)
        unfinished.replace(path)

    def _path(
        self, series: PublicSeries, origins: IntArray, horizon: int, rival: str
    ) -> Path:
        return self.folder / f"{_prefix(series, origins, horizon)}{rival}.npz"


def _prefix(series: PublicSeries, origins: IntArray, horizon: int) -> str:
    """The start of a file's name, with a digest of all that the rivals get."""
    settings = (
        series.season, series.long_season or 0, series.history, series.refit_every,
        VERSION,
    )  # fmt: skip
    numbers = (
        series.y, series.times.astype(np.int64), origins, np.array(settings, np.int64),
    )  # fmt: skip
    joined = b"".join(np.ascontiguousarray(array).tobytes() for array in numbers)
    return f"{series.name}-{horizon}-{sha256(joined).hexdigest()[:12]}-"
