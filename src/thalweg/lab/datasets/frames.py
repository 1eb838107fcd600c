"""From a data frame to a stream: causal features beside the target they foretell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from thalweg.errors import ThalwegError
from thalweg.types import FloatArray


class MissingDataError(ThalwegError, FileNotFoundError):
    """A package that brings a stream is not installed."""


@dataclass(frozen=True, eq=False)
class Task:
    """A stream: each row's features are known before its target."""

    name: str
    what: str
    x: FloatArray  # (T, n), no constant column
    y: FloatArray  # (T,)
    persistence: FloatArray  # (T,) the better of last value and last season's


def packaged(package: str, file: str) -> Path:
    """The path of a data file inside an installed package, which is not imported."""
    found = find_spec(package)
    folders = list(found.submodule_search_locations or ()) if found else []
    for folder in folders:
        if (path := Path(folder) / file).exists():
            return path
    raise MissingDataError(
        f"The stream needs {file} of the package {package!r}, which is not installed. "
        f"Run: make data"
    )


def task(
    name: str, what: str, target: Any, features: Mapping[str, Any] | None = None,
    lags: Sequence[int] = (), delayed: Sequence[str] = (), season: int = 1,
) -> Task:  # fmt: skip
    """A task from a target, features and lags of the target, gaps filled forwards.

    ``delayed`` names the features of which only the value before is known in time.
    Rows before the longest lag, and columns that never vary, are left out.
    """
    y = pd.Series(np.asarray(target, float)).ffill()
    columns = {}
    for key, values in (features or {}).items():
        column = pd.Series(np.asarray(values, float)).ffill()
        columns[key] = column.shift(1) if key in delayed else column
    columns |= {f"lag {lag}": y.shift(lag) for lag in lags}
    x = pd.DataFrame(columns)
    known = (x.notna().all(axis=1) & y.notna()).to_numpy()
    x = x[known].loc[:, lambda kept: kept.std() > 0]
    naive = [y.shift(lag)[known].to_numpy() for lag in {1, season}]
    truth = y[known].to_numpy()
    errors = [np.nanmean((guess - truth) ** 2) for guess in naive]
    best = np.nan_to_num(naive[int(np.argmin(errors))], nan=float(truth[0]))
    return Task(name, what, x.to_numpy(float), truth, best)


def circle(values: Any, period: float, harmonics: int = 2) -> dict[str, Any]:
    """Sines and cosines of a clock, so that its end meets its beginning."""
    angle = 2 * np.pi * np.asarray(values, float) / period
    return {
        f"{wave.__name__} {k}": wave(k * angle)
        for k in range(1, harmonics + 1)
        for wave in (np.sin, np.cos)
    }


def calendar(times: Any, weekend: bool = True) -> dict[str, Any]:
    """The hour of the day as a circle, and whether it is a weekend."""
    stamps = pd.DatetimeIndex(times)
    features = circle(stamps.hour + stamps.minute / 60, 24)
    if weekend:
        features["weekend"] = (stamps.dayofweek >= 5).astype(float)
    return features
