"""Features that come and go: states that gain coordinates, or lose some.

A feature change adds some or removes some. Also known as: open vocabulary, evolving
feature space, incremental feature learning.
"""

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from thalweg.domains import Domain
from thalweg.errors import InvalidParameterError
from thalweg.kernels.ud_factor import EXTRA_ROWS, GROWTH, prior
from thalweg.kernels.ud_marginal import marginalise
from thalweg.types import FloatArray

Indices = npt.NDArray[np.int64]
S = TypeVar("S")


class FeatureChange(NamedTuple):
    """Which features a state gains or loses, and where all others are afterwards."""

    added: Indices  # of the features after the change
    removed: Indices  # of the features before it; one of both is empty
    sources: Indices  # (m,) the features that stay, by their indices before
    places: Indices  # (m,) their indices after

    @property
    def size(self) -> int:
        """The number of features after the change."""
        return len(self.places) + len(self.added)

    def apply(self, array: FloatArray, axis: int = 0) -> FloatArray:
        """A copy whose ``axis`` has these features; 0 for those that are added.

        What lies behind the features on that axis stays behind them.
        """
        before = len(self.sources) + len(self.removed)
        entries = np.moveaxis(array, axis, 0)
        shape = (self.size + len(entries) - before, *entries.shape[1:])
        changed = np.zeros(shape, array.dtype)
        changed[self.places] = entries[self.sources]
        changed[self.size :] = entries[before:]
        return np.ascontiguousarray(np.moveaxis(changed, 0, axis))

    def apply_to_factor(self, factor: FloatArray, ridge: float) -> FloatArray:
        """The UD factor with these features, ``ridge`` the prior of those added.

        They are not correlated with the others. Those removed are marginalised:
        kernels/ud_marginal.py.
        """
        if len(self.removed):
            factor, work = factor.copy(), np.empty(factor.shape[1], factor.dtype)
            # From the last on: each changes only what lies before it.
            for k in sorted(map(int, self.removed), reverse=True):
                marginalise(factor, k, work)
        before = len(self.sources) + len(self.removed)
        behind = np.arange(factor.shape[1] - before)  # constants behind the features
        sources = np.append(self.sources, before + behind)
        places = np.append(self.places, self.size + behind)
        changed = prior(ridge, np.empty(len(places) + len(self.added), factor.dtype))
        triangle, rows = factor[:-EXTRA_ROWS], factor[-EXTRA_ROWS:]
        changed[np.ix_(places, places)] = triangle[np.ix_(sources, sources)]
        changed[-EXTRA_ROWS:, places] = rows[:, sources]
        changed[GROWTH] = 0
        changed[GROWTH, 0] = factor[GROWTH, 0]
        return changed

    def apply_to_expert(self, expert: Any, state: S) -> S:
        """The state of a mixture's expert with these features."""
        if len(self.added):
            changed: S = expert.add_features(state, self.added)
        else:
            changed = expert.remove_features(state, self.removed)
        return changed

    def apply_to_experts(
        self, experts: Iterable[Any], states: Iterable[Any]
    ) -> tuple[Any, ...]:
        """The states of all experts of a mixture with these features."""
        pairs = zip(experts, states, strict=True)
        return tuple(self.apply_to_expert(expert, own) for expert, own in pairs)


def addition(learner: Any, indices: Any, count: int) -> FeatureChange | None:
    """The change of a state of ``count`` features by which some are added.

    ``indices`` are those that they have after it. None where there are none; raises
    ``InvalidParameterError`` where they are not legal.
    """
    owner = f"{type(learner).__name__}.add_features"
    added = _check_indices(owner, indices)
    if not len(added):
        return None
    size = count + len(added)
    if size > learner.max_features:
        raise InvalidParameterError(
            f"The 'indices' parameter of {owner} must lead to at most "
            f"{learner.max_features} features. Got {size} instead."
        )
    _require_range(owner, added, size)
    _require_any_dimension(learner)
    places = np.delete(np.arange(size), added)
    return FeatureChange(added, added[:0], np.arange(count), places)


def removal(learner: Any, indices: Any, count: int) -> FeatureChange | None:
    """The change of a state of ``count`` features by which some are removed.

    None where there are none; raises ``InvalidParameterError`` where the indices are
    not legal.
    """
    owner = f"{type(learner).__name__}.remove_features"
    removed = _check_indices(owner, indices)
    if not len(removed):
        return None
    _require_range(owner, removed, count)
    if len(removed) == count:
        raise InvalidParameterError(
            f"The 'indices' parameter of {owner} must leave a feature. "
            f"Got all {count} instead."
        )
    _require_any_dimension(learner)
    sources = np.delete(np.arange(count), removed)
    return FeatureChange(removed[:0], removed, sources, np.arange(len(sources)))


def move_into(domain: Domain, point: FloatArray) -> FloatArray:
    """The point, or the nearest one of its domain where a change of features put it
    outside, as it may where zero is not in the domain, or a sum is prescribed.
    """
    return point if domain.contains(point) else domain.project(point)


def _check_indices(owner: str, indices: Any) -> Indices:
    """The indices as an ascending array of distinct integers."""
    try:
        given = list(indices)
        numbers = sorted(operator.index(index) for index in given)
    except TypeError:
        given, numbers = [True], []
    has_flags = any(isinstance(index, bool | np.bool_) for index in given)
    if has_flags or len(set(numbers)) < len(numbers):
        raise InvalidParameterError(
            f"The 'indices' parameter of {owner} must hold distinct integers. "
            f"Got {indices!r:.100} instead."
        )
    # What is too large for an array is out of range as well.
    return np.array([min(max(number, -1), 2**62) for number in numbers], np.int64)


def _require_range(owner: str, indices: Indices, count: int) -> None:
    if len(indices) and not 0 <= indices[0] <= indices[-1] < count:
        raise InvalidParameterError(
            f"The 'indices' parameter of {owner} must be from 0 to {count - 1} here. "
            f"Got {indices.tolist()!r:.100} instead."
        )


def _require_any_dimension(learner: Any) -> None:
    """Raise if the learner's domain is one of a given number of coordinates."""
    dimension = getattr(getattr(learner, "domain", None), "dimension", None)
    if dimension is not None:
        raise InvalidParameterError(
            f"The domain of {type(learner).__name__} has {dimension} coordinates, so "
            "that no feature can be added or removed. Got indices instead of none."
        )
