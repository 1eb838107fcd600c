"""The base class of domains: convex sets that a learner's points must stay in."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from thalweg.types import FloatArray


class Projection(NamedTuple):
    """The nearest point of a domain, and how far from optimal it can be."""

    point: FloatArray
    gap: float
    """Certified: ½‖point - y‖²_P is at most this above the least; never negative."""


class Domain(ABC):
    """A closed convex set S."""

    dimension: int | None = None
    """The number of coordinates, or None where the set exists in every dimension."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """The paper's D: every point of S has norm at most this. Not a diameter."""

    def in_dimension(self, n: int) -> "Domain":
        """The same set as one of n dimensions, where its radius may depend on n."""
        return self

    @abstractmethod
    def contains(self, point: FloatArray) -> bool:
        """Whether the point lies in S, up to the rounding of its own coordinates."""

    @abstractmethod
    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point of S in the Euclidean norm."""

    @abstractmethod
    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        """The nearest point of S in the norm ‖v‖² = v·Pv, P = ``information``."""

    @abstractmethod
    def support(self, directions: FloatArray) -> FloatArray:
        """max x·θ over S for each row x of ``directions``, shape (T, n) to (T,)."""

    def limits(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """(r, low, high) where S = {‖θ‖ ≤ r, low ≤ θ ≤ high}, for kernels; or None."""
        return None

    def _settings(self) -> tuple[Any, ...]:
        return tuple(getattr(self, entry.name) for entry in fields(self) if entry.init)  # type: ignore[arg-type]

    def _value(self) -> tuple[Any, ...]:
        return tuple(
            (part.shape, part.tobytes()) if isinstance(part, np.ndarray) else part
            for part in self._settings()
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash((type(self), self._value()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is built from its settings, so that its arrays are read-only too.
        return type(self), self._settings()
