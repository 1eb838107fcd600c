"""Who takes part, and those who could not be found."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from thalweg.lab.bench.stream import DISCOUNT, RIDGE, Stream
from thalweg.learners import Learner
from thalweg.types import FloatArray, Trace

Play = Callable[[], FloatArray]
"""Plays a stream from the start with a new model; the predictions, made before each y.

All that is not the work itself, such as making dictionaries, was done before.
"""
Prepare = Callable[[Stream, float, float], Play]
"""From a stream, the discount γ and the ridge ε."""


class Model(Protocol):
    """What is timed as thalweg's: the calls that a person types."""

    def predict(self, x: Any) -> Any:
        """Before y is seen."""

    def update(self, x: Any, y: Any) -> None:
        """After."""

    def run(self, x: Any, y: Any) -> Trace:
        """Both, round by round over whole arrays."""


Wrap = Callable[[Learner[Any]], Model]
"""Makes such a model of a learner; the room above hands it in."""


@dataclass(frozen=True)
class Contender:
    """One way to play a stream. ``same``: it shall predict what we predict."""

    name: str
    prepare: Prepare
    discount: float = DISCOUNT
    ridge: float = RIDGE
    same: bool = True
    largest: int = 256  # features; beyond it a run would take minutes or gigabytes


class Peer(NamedTuple):
    """A library to compare with: the file here that adapts to it, and its name."""

    module: str
    package: str


PEERS = (
    Peer("numpy_loop", "numpy"),
    Peer("blas_loop", "scipy"),
    Peer("plain_loop", "benchmarks/plain_rls.py"),
    Peer("padasip_rls", "padasip"),
    Peer("room_rls", "pyroomacoustics"),
    Peer("river_models", "river"),
    Peer("sklearn_sgd", "scikit-learn"),
    Peer("bandits_normal", "bayesianbandits"),
    Peer("polars_rls", "polars-ols"),
    Peer("statsmodels_rls", "statsmodels"),
)


class Field(NamedTuple):
    """All who take part."""

    single: tuple[Contender, ...]  # one call a round
    whole: tuple[Contender, ...]  # one call for the whole array
    missing: tuple[str, ...]  # packages that are not installed


def assemble(peers: tuple[Peer, ...] = PEERS) -> Field:
    """Everyone who is installed here."""
    single, whole, missing = list[Contender](), list[Contender](), list[str]()
    for module, package in peers:
        try:
            adapter = import_module(f"thalweg.lab.bench.peers.{module}")
        except ImportError:
            missing.append(package)
            continue
        single += adapter.SINGLE
        whole += adapter.WHOLE
    return Field(tuple(single), tuple(whole), tuple(missing))
