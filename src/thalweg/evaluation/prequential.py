"""One target of a stream: predicted, then learnt, beside what a learner must beat."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation import fixed_bank
from thalweg.evaluation.digest import Digest
from thalweg.evaluation.fixed_bank import FixedBank
from thalweg.evaluation.gaps import Gaps, Missing
from thalweg.evaluation.insight import RECORDS, Insight
from thalweg.evaluation.lessons import Due, Lessons
from thalweg.evaluation.scores import Player, Scores
from thalweg.evaluation.study import Recent, Study
from thalweg.learners.tracker import TrackerState
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray, Trace

SHORTEST_BURN_IN = 40
PIECE = 4096
"""Rounds played at a time: what is recorded of them, 71 weights each, is then 3 MB."""
RECENT = 200
"""Rounds that are kept one by one: the last ones."""
LOSS = SquaredError()
PLAYERS = (
    Player("Tracker", "tracker"),
    Player("persistence", "persistence"),
    *(
        Player(name, "fixed", discount)
        for name, discount in zip(
            fixed_bank.NAMES, fixed_bank.DISCOUNTS, strict=True
        )
    ),
)  # fmt: skip


def burn_in(features: int) -> int:
    """How many rounds are not scored: 40, or twice the coefficients if that is more."""
    return max(SHORTEST_BURN_IN, 2 * (features + 1))


class Forecasts(NamedTuple):
    """What the Tracker said of some rounds, before it saw their labels."""

    prediction: FloatArray  # (T,)
    interval: FloatArray  # (T, 2) low and high


class Prequential:
    """The Tracker on one target, and on the same rounds persistence and fixed settings.

    Every row is predicted from what was learnt before it. With a ``delay`` d the label
    of a row is learnt d rounds later, and persistence is the last label known by then.
    Rows whose label is NaN are predicted, and neither scored nor learnt. ``missing``
    says what a NaN among the features means, as it does for ``Online``.

    However a stream is cut into calls of ``play``, and whether or not it is kept and
    resumed between them, the result is the same to the last bit, in memory that does
    not grow with the rounds.
    """

    def __init__(
        self, features: int, delay: int = 0, missing: Missing = "refuse"
    ) -> None:
        self.features = n = features
        self.burn_in = burn_in(n)
        self.insight = Insight(n, delay)
        self.tracker = self.insight.tracker
        self.state: TrackerState = self.tracker.init(np.zeros(n))
        self.rounds = 0
        self.seconds = 0.0  # that the Tracker took
        self.scores = Scores(PLAYERS)
        self._first_scored = 0  # 0: none yet
        self.gaps = Gaps(missing, n)
        self._lessons = Lessons(delay, n)
        self._bank = FixedBank(self.burn_in, n)
        self._last = np.nan  # the newest label known
        self._observed, self._forecast = Digest(), Digest()
        self._recent: FloatArray = np.empty((0, 2))  # labels and forecasts
        warm = Block(np.zeros((1, n)), np.zeros(1), np.ones(1), np.ones(1))
        self.tracker.run(self.state, LOSS, warm, RECORDS)  # compiled by now

    @property
    def delay(self) -> int:
        """How many rounds late the labels come."""
        return self._lessons.delay

    def play(self, x: FloatArray, y: FloatArray, asking: bool = False) -> Forecasts:
        """Predict and learn the next rows: features (T, n), labels (T,) or NaN.

        A row without a label is a round whose label never came; if ``asking``, it is a
        question, and the round is still to come.
        """
        parts = [Forecasts(np.empty(0), np.empty((0, 2)))]
        for start in range(0, len(y), PIECE):
            rows = slice(start, start + PIECE)
            parts.append(self._piece(x[rows], y[rows], asking))
        return Forecasts(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _piece(self, x: FloatArray, y: FloatArray, asking: bool) -> Forecasts:
        x, teaches = self.gaps.fill(x)
        due = self._lessons.due(x, y, teaches)
        trace = self._track(x, y, teaches, asking)
        said = np.column_stack(
            [trace.prediction, self._persistence(due), self._bank.play(x, due)]
        )
        begun = ~np.isnan(said).any(axis=1)
        scored = np.where(begun, y, np.nan)
        self._note_first(scored)
        self.scores.add(said, scored)
        self.insight.add(trace, scored)
        self._observed.add(y)
        self._forecast.add(trace.prediction)
        both = np.column_stack([y, trace.prediction])
        self._recent = np.vstack([self._recent, both])[-RECENT:].copy()
        self.rounds += len(y)
        return Forecasts(trace.prediction, trace.extras["interval"])

    def _track(
        self, x: FloatArray, y: FloatArray, teaches: npt.NDArray[np.bool_],
        asking: bool,
    ) -> Trace:  # fmt: skip
        """The Tracker's rounds: it keeps its own queue of late labels."""
        taught = (teaches & ~np.isnan(y)).astype(np.float64)
        passed = np.where(np.isnan(y) & asking, 0.0, 1.0)
        block = Block(x, np.nan_to_num(y), taught, passed)
        began = time.perf_counter()
        self.state, trace = self.tracker.run(self.state, LOSS, block, RECORDS)
        self.seconds += time.perf_counter() - began
        return trace

    def _persistence(self, due: Due) -> FloatArray:
        """The newest label known before each question."""
        labels = np.append(self._last, due.y)
        newest = np.where(np.isnan(labels), 0, np.arange(len(labels)))
        filled = labels[np.maximum.accumulate(newest)]
        self._last = float(filled[-1])
        return np.asarray(filled[:-1])

    def _note_first(self, scored: FloatArray) -> None:
        if not self._first_scored and not np.isnan(scored).all():
            first = int(np.flatnonzero(~np.isnan(scored))[0])
            self._first_scored = self.rounds + first + 1

    def study(
        self, title: str, target: str, features: Sequence[str],
        notes: Sequence[str] = (), start: str | None = None, end: str | None = None,
    ) -> Study:  # fmt: skip
        """What was found so far; ``features`` are the names of the columns of x."""
        return Study(
            title=title,
            target=target,
            rounds=self.rounds,
            scored=self.scores.scored,
            first_scored=self._first_scored,
            features=tuple(features),
            seconds=self.seconds,
            entries=self.scores.entries(),
            observed=self._observed.curve(),
            forecast=self._forecast.curve(),
            inside=self.insight.inside(self.state, features),
            notes=tuple(notes),
            start=start,
            end=end,
            recent=Recent(self.rounds, *self._recent.T.copy()),
        )

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that changes, for a file: numbers, arrays, states and tuples of these."""
        numbers = (self.rounds, self.seconds, self._first_scored, self._last)
        curves = (self._observed.kept, self._forecast.kept, self._recent)
        found = (self.scores.kept, self.insight.kept)
        learnt = (self.gaps.kept, self._lessons.kept, self._bank.kept)
        return numbers, self.state, curves, *found, *learnt

    def resume(self, kept: tuple[Any, ...]) -> None:
        """Go on from what was kept."""
        numbers, self.state, curves, *parts = kept
        self.rounds, self.seconds, self._first_scored, self._last = numbers
        *curves, self._recent = curves
        self._observed, self._forecast = (Digest.resumed(one) for one in curves)
        self.scores.resume(parts[0])
        self.insight.resume(parts[1])
        self.gaps.resume(parts[2])
        self._lessons.resume(parts[3])
        self._bank.resume(parts[4])
