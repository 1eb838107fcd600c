"""Implementations of least squares that the bench times: thalweg's and its peers'."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from benchmarks.bench.bench_stream import DISCOUNT, RIDGE, BenchStream
from thalweg.learners import Learner, RecursiveLeastSquares, Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray, Trace

Run = Callable[[], FloatArray]
"""Runs a stream from the start with a new model; the predictions, made before each y.

All that is not the work itself, such as making dictionaries, was done before.
"""
PrepareRun = Callable[[BenchStream, float, float], Run]
"""Makes a run from a stream, the discount γ and the ridge ε."""


class TimedModel(Protocol):
    """The calls of thalweg that are timed: those that a user types."""

    def predict(self, x: Any) -> Any:
        """The prediction before y is seen."""

    def update(self, x: Any, y: Any) -> None:
        """Learn from y."""

    def run(self, x: Any, y: Any) -> Trace:
        """Both, round by round over whole arrays."""


ModelFactory = Callable[[Learner[Any]], TimedModel]
"""Makes such a model of a learner; the caller hands it in."""


@dataclass(frozen=True)
class Implementation:
    """One way to run a stream, of thalweg or of another library."""

    name: str
    prepare: PrepareRun
    discount: float = DISCOUNT
    ridge: float = RIDGE
    is_same_algorithm: bool = True  # whether it must predict what thalweg predicts
    max_features: int = 256  # beyond it a run would take minutes or gigabytes


class PeerLibrary(NamedTuple):
    """A library to compare with: our module that adapts to it, and its name."""

    module: str
    package: str


PEER_LIBRARIES = (
    PeerLibrary("numpy_loop", "numpy"),
    PeerLibrary("blas_loop", "scipy"),
    PeerLibrary("plain_loop", "numba"),
    PeerLibrary("padasip_rls", "padasip"),
    PeerLibrary("pyroomacoustics_rls", "pyroomacoustics"),
    PeerLibrary("river_models", "river"),
    PeerLibrary("sklearn_sgd", "scikit-learn"),
    PeerLibrary("bayesianbandits_normal", "bayesianbandits"),
    PeerLibrary("polars_rls", "polars-ols"),
    PeerLibrary("statsmodels_rls", "statsmodels"),
)


class Peers(NamedTuple):
    """The implementations of other libraries."""

    per_round: tuple[Implementation, ...]  # one call a round
    whole_array: tuple[Implementation, ...]  # one call for the whole array
    missing: tuple[str, ...]  # packages that are not installed


def installed_peers(libraries: tuple[PeerLibrary, ...] = PEER_LIBRARIES) -> Peers:
    """Every implementation of a library that is installed."""
    per_round, whole_array = list[Implementation](), list[Implementation]()
    missing = list[str]()
    for module, package in libraries:
        try:
            adapter = import_module(f"benchmarks.bench.peers.{module}")
        except ImportError:
            missing.append(package)
            continue
        per_round += adapter.PER_ROUND
        whole_array += adapter.WHOLE_ARRAY
    return Peers(tuple(per_round), tuple(whole_array), tuple(missing))


RLS_CALLS, RLS_RUN = "thalweg predict + update", "thalweg run"
LEARNER_RUN = "thalweg learner.run"
TRACKER_CALLS, TRACKER_RUN = "Tracker predict + update", "Tracker run"


def rls_per_round(make_model: ModelFactory) -> Implementation:
    """thalweg's recursive least squares, one call a round."""

    def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
        return prepare_calls(make_model, RecursiveLeastSquares(discount, ridge), stream)

    return Implementation(RLS_CALLS, prepare)


def rls_whole_array(make_model: ModelFactory) -> tuple[Implementation, ...]:
    """thalweg's recursive least squares by the model, and by the bare learner."""

    def prepare_by_model(stream: BenchStream, discount: float, ridge: float) -> Run:
        return prepare_run(make_model, RecursiveLeastSquares(discount, ridge), stream)

    def prepare_by_learner(stream: BenchStream, discount: float, ridge: float) -> Run:
        return prepare_learner_run(RecursiveLeastSquares(discount, ridge), stream)

    return (
        Implementation(RLS_RUN, prepare_by_model),
        Implementation(LEARNER_RUN, prepare_by_learner),
    )


def tracker_implementations(make_model: ModelFactory) -> tuple[Implementation, ...]:
    """The Tracker, over whole arrays and one call a round."""

    def whole_array(stream: BenchStream, discount: float, ridge: float) -> Run:
        return prepare_run(make_model, Tracker(), stream)

    def per_round(stream: BenchStream, discount: float, ridge: float) -> Run:
        return prepare_calls(make_model, Tracker(), stream)

    return (
        Implementation(TRACKER_RUN, whole_array, is_same_algorithm=False),
        Implementation(TRACKER_CALLS, per_round, is_same_algorithm=False),
    )


def prepare_calls(
    make_model: ModelFactory, learner: Learner[Any], stream: BenchStream
) -> Run:
    """Calls of ``predict``, then ``update``, in every round."""
    rows, targets = list(stream.x), stream.y.tolist()

    def run() -> FloatArray:
        out, model = np.empty(len(rows)), make_model(learner)
        for t, (row, y) in enumerate(zip(rows, targets, strict=True)):
            out[t] = model.predict(row)
            model.update(row, y)
        return out

    return run


def prepare_run(
    make_model: ModelFactory, learner: Learner[Any], stream: BenchStream
) -> Run:
    """One call of the model's ``run`` for all rounds."""
    return lambda: make_model(learner).run(stream.x, stream.y).prediction


def prepare_learner_run(
    learner: Learner[Any], stream: BenchStream, **options: Any
) -> Run:
    """One call of the learner's ``run``, without a model around it."""
    block, loss = Block(stream.x, stream.y), SquaredError()
    start = learner.init(np.zeros(stream.x.shape[1]))
    return lambda: learner.run(start, loss, block, **options)[1].prediction
