"""What is written down of the rounds of one target: scores, curves and alarms."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation import fixed_bank
from thalweg.evaluation.digest import Digest
from thalweg.evaluation.fixed_bank import FixedBank
from thalweg.evaluation.insight import Insight
from thalweg.evaluation.kept import Check, need, numbers, parts, whole
from thalweg.evaluation.scores import Player, Scores
from thalweg.preprocessing.delayed_labels import (
    DelayedLabels,
    DelayedLabelsState,
    DueLabels,
)
from thalweg.types import FloatArray, Trace

RECENT = 200
"""Rounds that are kept one by one: the last ones."""
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


class Played(NamedTuple):
    """Some rounds of the Tracker."""

    x: FloatArray  # (T, n) no gaps are left
    y: FloatArray  # (T,) NaN where not known
    learnable: npt.NDArray[np.bool_]  # (T,) whether the row is to be learnt from
    trace: Trace  # with all of insight.RECORDS


class Books:
    """The errors of the Tracker, of persistence and of fixed settings, and much more.

    What is found does not depend on how the rounds are cut into calls of ``add``.
    """

    def __init__(self, features: int, burn_in: int, delay: int) -> None:
        self.scores = Scores(PLAYERS)
        self.insight = Insight(features, delay)
        self.rounds = 0
        self.first_scored = 0  # the first round of all being 1; 0: none yet
        self.observed, self.forecast = Digest(), Digest()
        self.recent: FloatArray = np.empty((0, 2))  # labels and forecasts
        self._delayed = DelayedLabels(delay, features)
        self._bank = FixedBank(burn_in, features)
        self._last = np.nan  # the newest label known

    def add(self, played: Played) -> None:
        """Write down the next rounds."""
        x, y, learnable, trace = played
        due = self._delayed.push(x, y, learnable.astype(np.float64))
        said = np.column_stack(
            [trace.prediction, self._persistence(due), self._bank.play(x, due)]
        )
        begun = ~np.isnan(said).any(axis=1)
        scored = np.where(begun, y, np.nan)
        self._note_first(scored)
        self.scores.add(said, scored)
        self.insight.add(trace, scored)
        self.observed.add(y)
        self.forecast.add(trace.prediction)
        both = np.column_stack([y, trace.prediction])
        self.recent = np.vstack([self.recent, both])[-RECENT:].copy()
        self.rounds += len(y)

    def _persistence(self, due: DueLabels) -> FloatArray:
        """The newest label known before each question."""
        labels = np.append(self._last, due.y)
        newest = np.where(np.isnan(labels), 0, np.arange(len(labels)))
        filled = labels[np.maximum.accumulate(newest)]
        self._last = float(filled[-1])
        return np.asarray(filled[:-1])

    def _note_first(self, scored: FloatArray) -> None:
        if not self.first_scored and not np.isnan(scored).all():
            first = int(np.flatnonzero(~np.isnan(scored))[0])
            self.first_scored = self.rounds + first + 1

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that it remembers, for a file."""
        counts = (self.rounds, self.first_scored, self._last)
        curves = (self.observed.kept, self.forecast.kept, self.recent)
        found = (self.scores.kept, self.insight.kept)
        return counts, curves, *found, tuple(self._delayed.state), self._bank.kept

    def resume(self, kept: Any, rounds: int, check: Check) -> None:
        """Go on from what was kept of so many rounds."""
        counts, curves, scores, insight, delayed, bank = parts("books", kept, 6)
        own, first, last = parts("books", counts, 3)
        need(own == rounds and type(last) is float, "books")
        self.rounds, self._last = rounds, last
        self.first_scored = whole("books", first, rounds)
        observed, forecast, recent = parts("books", curves, 3)
        self.observed = Digest.resumed(observed, rounds)
        self.forecast = Digest.resumed(forecast, rounds)
        self.recent = numbers("last rounds", recent, (min(rounds, RECENT), 2))
        self.scores.resume(scores, rounds)
        self.insight.resume(insight, rounds)
        self._resume_delayed(delayed, rounds)
        self._bank.resume(bank, check)

    def _resume_delayed(self, kept: Any, rounds: int) -> None:
        waiting = min(rounds, self._delayed.delay)
        self._delayed.state = DelayedLabelsState(
            *(
                numbers("late labels", value, (waiting, *like.shape[1:]))
                for value, like in zip(
                    parts("late labels", kept, 4), self._delayed.state, strict=True
                )
            )
        )


def joined(played: list[Played]) -> Played:
    """One after the other."""
    if len(played) == 1:
        return played[0]
    x, y, learnable, traces = zip(*played, strict=True)
    extras = {
        name: np.concatenate([trace.extras[name] for trace in traces])
        for name in traces[0].extras
    }
    prediction, loss, theta = (
        np.concatenate([getattr(trace, name) for trace in traces])
        for name in ("prediction", "loss", "theta")
    )
    return Played(
        np.concatenate(x), np.concatenate(y), np.concatenate(learnable),
        Trace(prediction, loss, theta, extras),
    )  # fmt: skip
