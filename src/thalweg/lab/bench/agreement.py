"""Predictions are compared before anything is timed, and who disagrees is named."""

from collections.abc import Sequence

import numpy as np

from thalweg.lab.bench.contender import Contender
from thalweg.lab.bench.found import Verdict
from thalweg.lab.bench.stream import Stream
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray

ROUNDS = 300
TOLERANCE = 1e-6
"""Of the spread of y. Rounding alone stays below 10⁻⁸ over so few rounds."""


def judge(contender: Contender, stream: Stream) -> Verdict:
    """How far a contender's predictions are from ours, at the same γ and ridge."""
    head, n = stream.head(ROUNDS), stream.x.shape[1]
    settings = contender.discount, contender.ridge
    try:
        theirs = contender.prepare(head, *settings)()
    except Exception as error:  # another library may raise anything
        return Verdict(contender.name, n, np.inf, f"failed: {error}")
    # Without a prior the first n rounds determine nothing.
    since = 0 if contender.ridge else 2 * n
    apart = np.abs(theirs - reference(head, *settings))[since:].max() / head.y.std()
    gap = float(apart) if np.isfinite(apart) else np.inf
    if not contender.same:
        return Verdict(contender.name, n, gap, "another algorithm")
    return Verdict(
        contender.name, n, gap, "agrees" if gap <= TOLERANCE else "disagrees"
    )


def reference(stream: Stream, discount: float, ridge: float) -> FloatArray:
    """Our predictions."""
    learner = RecursiveLeastSquares(discount, ridge)
    start = learner.init(np.zeros(stream.x.shape[1]))
    block = Block(stream.x, stream.y)
    return learner.run(start, SquaredError(), block)[1].prediction


def able(
    contenders: Sequence[Contender], verdicts: Sequence[Verdict]
) -> list[Contender]:
    """Those who did not fail."""
    failed = {one.name for one in verdicts if one.word.startswith("failed")}
    return [one for one in contenders if one.name not in failed]
