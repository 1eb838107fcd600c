"""One-hot encoding of text: a feature for each level, and one that later levels share.

Levels get their features in order of first appearance, and the number of features is
fixed before the first row: a model's width never changes.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.rules import Condition, Count
from thalweg.tables.cells import Categorical
from thalweg.types import FloatArray

MIN_CELLS, MAX_REPEAT_SHARE = 50, 0.01
"""A column looks like identifiers if, of so many cells, no larger share repeats."""


class OneHot(NamedTuple):
    """The one-hot features of some cells."""

    features: FloatArray  # (T, categories + 1), NaN where text is missing
    levels: tuple[str, ...]  # with a feature of their own, in the features' order
    is_other: npt.NDArray[np.bool_]  # (T,) whether the level has no feature of its own


def one_hot(
    column: Categorical, levels: Sequence[str], categories: int, adds: bool = True
) -> OneHot:
    """Encode some text, given the levels that have a feature already.

    Levels that appear take the next features, as long as there are some; unless
    ``adds``, each is encoded as if it alone appeared.
    """
    feature_of = {level: feature for feature, level in enumerate(levels)}
    next_feature = min(len(feature_of), categories)
    for level in column.levels:
        if adds and len(feature_of) < categories:
            feature_of.setdefault(level, len(feature_of))
    # The code -1 of missing text finds the last entry.
    unknown = categories if adds else next_feature
    feature = np.array(
        [*(feature_of.get(level, unknown) for level in column.levels), categories]
    )
    features = np.zeros((len(column.codes), categories + 1))
    features[np.arange(len(features)), feature[column.codes]] = 1.0
    features[column.codes < 0] = np.nan
    is_other = (column.codes >= 0) & (feature[column.codes] == categories)
    return OneHot(features, tuple(feature_of), is_other)


FEW_LEVELS = Condition(
    "len(levels) <= recipe.categories", "no more than the recipe's categories"
)


class TextColumn(NamedTuple):
    """The state of the one-hot encoding of one column."""

    name: str
    # With a feature, in order of first appearance.
    levels: Annotated[tuple[str, ...], FEW_LEVELS] = ()
    # Since the first level without a feature of its own, which counts: cells that were
    # known (0 while every level has a feature), and those whose level has a feature.
    cells: Annotated[int, Count("rows")] = 0
    repeats: Annotated[int, Count("cells")] = 0

    def update(self, encoded: OneHot) -> Self:
        """The state after more cells."""
        after = self._replace(levels=encoded.levels)
        if not (self.cells or encoded.is_other.any()):
            return after
        known = ~np.isnan(encoded.features[:, 0])
        if not self.cells:  # Cells before the first level without a feature are out.
            known[: encoded.is_other.argmax()] = False
        cells = int(known.sum())
        repeats = cells - int(encoded.is_other.sum())
        return after._replace(cells=self.cells + cells, repeats=self.repeats + repeats)

    def feature_names(self, categories: int) -> tuple[str, ...]:
        """What each feature of the column stands for."""
        spare = range(len(self.levels), categories)
        return (
            *(f"{self.name}={level}" for level in self.levels),
            *(f"{self.name}=(unused {feature + 1})" for feature in spare),
            f"{self.name}=(other)",
        )

    def unused_features(self, categories: int) -> tuple[str, ...]:
        """The names of those features that were 0 in every row so far."""
        names = self.feature_names(categories)
        return names[len(self.levels) : categories if self.cells else categories + 1]

    def looks_like_identifiers(self) -> bool:
        """Whether levels without a feature hardly ever repeat one that has."""
        is_rare = self.repeats <= MAX_REPEAT_SHARE * self.cells
        return self.cells >= MIN_CELLS and is_rare

    def note(self, categories: int) -> str | None:
        """A sentence for the user if there are more levels than features."""
        if not self.cells:
            return None
        if not self.looks_like_identifiers():
            return (
                f"Column {self.name!r} has more than {categories} levels: the later "
                f"ones share a feature, unless --categories allows for more."
            )
        return (
            f"Column {self.name!r} looks like identifiers, which are of no use as a "
            f"feature: it has more than {categories} levels, and the first "
            f"{categories} hardly come again."
        )
