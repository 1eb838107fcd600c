"""One target of a stream: predicted, then learnt, beside what a learner must beat."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.evaluation.books import Books, Played, joined
from thalweg.evaluation.insight import RECORDS
from thalweg.evaluation.kept import Check, amount, finite, numbers, parts, whole
from thalweg.evaluation.study import Recent, Study
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.losses import SquaredError
from thalweg.preprocessing.imputer import ImputerState, MeanImputer, MissingPolicy
from thalweg.types import Block, FloatArray, Trace

SHORTEST_BURN_IN = 40
PIECE = 4096
"""Rounds played at a time: what is recorded of them, 71 weights each, is then 3 MB."""
AT_ONCE = 256
"""Rounds that are written down together: alone, each costs 30 times as much."""
LOSS = SquaredError()


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
        self, features: int, delay: int = 0, missing: MissingPolicy = "refuse"
    ) -> None:
        self.features = n = features
        self.delay = delay  # how many rounds late the labels come
        self.burn_in = burn_in(n)
        self._books = Books(n, self.burn_in, delay)
        self.tracker = self._books.insight.tracker
        self.state: TrackerState = self.tracker.init(np.zeros(n))
        self.rounds = 0
        self.seconds = 0.0  # that the Tracker took
        self.imputer = MeanImputer(missing, ImputerState(np.zeros(n), np.zeros(n)))
        self._waiting: list[Played] = []  # what is not in the books yet
        warm = Block(np.zeros((1, n)), np.zeros(1), np.ones(1), np.ones(1))
        self.tracker.run(self.state, LOSS, warm, RECORDS)  # compiled by now

    def play(self, x: FloatArray, y: FloatArray, asking: bool = False) -> Forecasts:
        """Predict and learn the next rows: features (T, n), labels (T,) or NaN.

        A row without a label is a round whose label never came; if ``asking``, it is a
        question, and the round is still to come.
        """
        if 0 < len(y) <= PIECE:
            return self._piece(x, y, asking)
        parts = [Forecasts(np.empty(0), np.empty((0, 2)))]
        for start in range(0, len(y), PIECE):
            rows = slice(start, start + PIECE)
            parts.append(self._piece(x[rows], y[rows], asking))
        return Forecasts(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _piece(self, x: FloatArray, y: FloatArray, asking: bool) -> Forecasts:
        x, learnable = self.imputer.impute(x, y)
        trace = self._track(x, y, learnable, asking)
        self._waiting.append(Played(x, y, learnable, trace))
        self.rounds += len(y)
        if self.rounds - self._books.rounds >= AT_ONCE:
            self._write_down()
        return Forecasts(trace.prediction, trace.extras["interval"])

    def _track(
        self, x: FloatArray, y: FloatArray, learnable: npt.NDArray[np.bool_],
        asking: bool,
    ) -> Trace:  # fmt: skip
        """The Tracker's rounds: it keeps its own queue of late labels."""
        known = ~np.isnan(y)
        passed = np.where(known | (not asking), 1.0, 0.0)
        block = Block(x, np.where(known, y, 0.0), learnable.astype(np.float64), passed)
        began = time.perf_counter()
        self.state, trace = self.tracker.run(self.state, LOSS, block, RECORDS)
        self.seconds += time.perf_counter() - began
        return trace

    @property
    def books(self) -> Books:
        """What was found so far. Whoever waits for a forecast need not wait for it."""
        self._write_down()
        return self._books

    def _write_down(self) -> None:
        if self._waiting:
            self._books.add(joined(self._waiting))
            self._waiting = []

    def study(
        self, title: str, target: str, features: Sequence[str],
        notes: Sequence[str] = (), start: str | None = None, end: str | None = None,
    ) -> Study:  # fmt: skip
        """What was found so far; ``features`` are the names of the columns of x."""
        books = self.books
        return Study(
            title=title,
            target=target,
            rounds=self.rounds,
            scored=books.scores.scored,
            first_scored=books.first_scored,
            features=tuple(features),
            seconds=self.seconds,
            entries=books.scores.entries(),
            observed=books.observed.curve(),
            forecast=books.forecast.curve(),
            inside=books.insight.inside(self.state, features),
            notes=tuple(notes),
            start=start,
            end=end,
            recent=Recent(self.rounds, *books.recent.T.copy()),
        )

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that changes, for a file: numbers, arrays, states and tuples of these."""
        counts = (self.rounds, self.seconds)
        return counts, self.state, tuple(self.imputer.state), self.books.kept

    @classmethod
    def resumed(
        cls, kept: Any, check: Check,
        features: int, delay: int = 0, missing: MissingPolicy = "refuse",
    ) -> Self:  # fmt: skip
        """The run that was kept; its states must be found right by ``check``.

        The state first: then there is no more to make than the file already holds.
        """
        counts, state, imputer, books = parts("players", kept, 4)
        check(Tracker(delay=delay), state)
        numbers("Tracker", state.theta, (features,))
        rounds, seconds = parts("players", counts, 2)
        run = cls(features, delay, missing)
        run.state, run.seconds = state, amount("seconds", seconds)
        run.rounds = whole("rounds", rounds)
        run._resume_imputer(imputer)
        run._books.resume(books, run.rounds, check)
        return run

    def _resume_imputer(self, kept: Any) -> None:
        sums, counts, imputed, skipped, waited = parts("imputer", kept, 5)
        self.imputer.state = ImputerState(
            finite("means", sums, (self.features,)),
            finite("means", counts, (self.features,)),
            whole("imputer", imputed),
            whole("imputer", skipped, self.rounds),
            amount("imputer", waited),
        )
