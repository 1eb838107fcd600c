"""The data types that all packages share: a block of rounds in, a trace out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, Protocol, get_args, get_origin

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]


class LearnerState(Protocol):
    """The state of a learner between rounds: a NamedTuple of arrays and numbers."""

    @property
    def theta(self) -> FloatArray:
        """The point that will be played next."""


class Scorer(Protocol):
    """A loss that can be computed from predictions alone."""

    def score(self, prediction: FloatArray, block: "Block") -> FloatArray:
        """The weighted loss of each prediction, shape (T,)."""


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rounds of one stream, oldest first.

    ``x`` has the shape its loss declares: (T, n) features, (T, m, n) matrices for
    ``LinearMap``, nothing for ``Tracking``. ``y`` is (T,), or (T, k) for k targets.
    A ``weight`` multiplies its round's loss. ``elapsed`` is the time since the round
    before: the discount is raised to that power. Both are 1 where they are not given.
    """

    x: Any
    y: Any
    weight: Any = None
    elapsed: Any = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rounds: slice) -> "Block":
        columns = (self.x, self.y, self.weight, self.elapsed)
        return Block(*(None if c is None else c[rounds] for c in columns))

    @property
    def weights(self) -> FloatArray:
        """The weight of each round, shape (T,)."""
        if self.weight is None:
            return np.ones(len(self))
        return np.asarray(self.weight, np.float64)

    def rounds(self) -> Iterator[tuple[Any, Any, float, float]]:
        """(x, y, weight, elapsed) of each round."""
        for t in range(len(self)):
            yield (
                None if self.x is None else self.x[t],
                self.y[t],
                1.0 if self.weight is None else float(self.weight[t]),
                1.0 if self.elapsed is None else float(self.elapsed[t]),
            )


@dataclass(frozen=True, eq=False)
class Trace:
    """Prediction and loss of each round of a block, and the points played."""

    # x·θ, of a model the expected label (``LinearLoss.mean``): (T,), or (T, k) where y
    # has k columns
    prediction: FloatArray
    loss: FloatArray  # (T,) the loss of each round, times its weight
    theta: FloatArray | None = None  # (T, ...) the points played, where recorded
    extras: Mapping[str, FloatArray] = field(default_factory=dict)
    targets: tuple[str, ...] = ()  # the names of k targets, where they have names
    index: Any = None  # of the rows of a pandas frame that were played, (T,)

    def columns(self) -> dict[str, FloatArray]:
        """Prediction, loss and all that was recorded, as columns of T numbers.

        What has several numbers a round becomes several columns: ``theta_0`` and so on;
        of targets with names ``prediction_<name>``, ``low_<name>``, ``high_<name>``.
        """
        records = {"prediction": self.prediction, "loss": self.loss, **self.extras}
        if self.theta is not None:
            records["theta"] = self.theta
        interval = records.pop("interval", None)
        if interval is not None:
            records |= {"low": interval[..., 0], "high": interval[..., 1]}
        columns: dict[str, FloatArray] = {}
        for name, values in records.items():
            if values.ndim == 1:
                columns[name] = values
                continue
            flat = values.reshape(len(values), -1).T
            is_by_target = name in ("prediction", "low", "high")
            suffixes = (is_by_target and self.targets) or range(len(flat))
            pairs = zip(suffixes, flat, strict=True)
            columns |= {f"{name}_{suffix}": part for suffix, part in pairs}
        return columns

    def to_pandas(self) -> Any:
        """``columns`` as a data frame of pandas.

        With the index of the frame that was played, so that both can be joined.
        """
        return import_module("pandas").DataFrame(self.columns(), index=self.index)

    def to_polars(self) -> Any:
        """``columns`` as a data frame of polars."""
        columns = {name: np.ascontiguousarray(v) for name, v in self.columns().items()}
        return import_module("polars").DataFrame(columns)

    @classmethod
    def from_predictions(cls, prediction: Any, block: Block, loss: Scorer) -> "Trace":
        """A trace of forecasts made by any other model, scored in the same way."""
        forecast = np.asarray(prediction, np.float64)
        return cls(forecast, loss.score(forecast, block))


class Interval(NamedTuple):
    """A forecast with a prediction interval, in which the label is expected to lie.

    All three are numbers, or arrays: (k,) of k targets, (T,) or (T, k) of several rows.
    """

    mean: Any
    low: Any
    high: Any


def array_entry(annotation: Any) -> Any:
    """The type of an array's entries where one is annotated so, else None."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is np.ndarray:
        return get_args(inner[1])[0]
    # NumPy 2.5 made NDArray an alias of its own, which does not resolve to ndarray.
    return inner[0] if origin is npt.NDArray else None
