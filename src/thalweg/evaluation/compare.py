"""Comparison of any learners on the same rounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.errors import InvalidParameterError
from thalweg.evaluation.error_ratio import error_ratio
from thalweg.evaluation.prequential import (
    BaselineErrors,
    PrequentialResult,
    prequential,
)
from thalweg.losses import LinearLoss
from thalweg.preprocessing.imputer import MissingPolicy
from thalweg.types import Block


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """The errors of several learners in the same rounds, the least error first.

    As text it is a table, with the simple baselines below the learners.
    """

    results: tuple[PrequentialResult, ...]

    @property
    def best(self) -> PrequentialResult:
        """The learner with the least mean squared error."""
        return self.results[0]

    def __getitem__(self, name: str) -> PrequentialResult:
        for result in self.results:
            if result.name == name:
                return result
        known = ", ".join(repr(result.name) for result in self.results)
        raise InvalidParameterError(f"The learners are {known}. Got {name!r} instead.")

    def __str__(self) -> str:
        first = self.best
        best, naive = first.best_baseline.squared, first.persistence_squared
        everyone: list[PrequentialResult | BaselineErrors] = [*self.results]
        everyone += first.baselines
        rows = [
            (
                one.name,
                *(f"{error_ratio(one.squared, other):.3f}" for other in (best, naive)),
                f"{one.squared:.5g}",
                f"{one.absolute:.5g}",
            )
            for one in everyone
        ]
        ratios = ("over best baseline", "over persistence")
        table = [("learner", *ratios, "mean squared", "mean absolute"), *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)]
            )
            for row in table
        ]
        return "\n".join([*lines, f"{first.scored_rounds:,} rounds scored"])


def compare(
    learners: Mapping[str, Any], block: Block, *, delay: int = 0,
    missing: MissingPolicy = "refuse", burn_in: int = 0, loss: LinearLoss | None = None,
) -> ComparisonResult:  # fmt: skip
    """Evaluate every learner by ``prequential`` on the same block.

    >>> import numpy as np
    >>> import thalweg as tw
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(400, 2))
    >>> slope = np.where(np.arange(400) < 200, 1.0, -1.0)  # an abrupt change
    >>> y = slope * x[:, 0] + 0.1 * rng.normal(size=400)
    >>> learners = {
    ...     "forgets": tw.RecursiveLeastSquares(discount=0.95),
    ...     "remembers": tw.RecursiveLeastSquares(discount=1.0),
    ... }
    >>> tw.evaluation.compare(learners, tw.Block(x, y)).best.name
    'forgets'

    Args:
        learners: by the names that the result gives them, whatever ``prequential``
            takes. All other arguments are those of ``prequential``.
    """
    if not isinstance(learners, Mapping) or not learners:
        raise InvalidParameterError(
            "The 'learners' parameter of compare must be a dict of at least one "
            f"learner by its name. Got {learners!r} instead."
        )
    results = [
        prequential(
            learner, block, delay=delay, missing=missing, burn_in=burn_in, loss=loss,
            name=name,
        )
        for name, learner in learners.items()
    ]  # fmt: skip
    return ComparisonResult(tuple(sorted(results, key=_error)))


def _error(result: PrequentialResult) -> float:
    """To sort by: a learner whose error is not a number comes last."""
    return float("inf") if np.isnan(result.squared) else result.squared
