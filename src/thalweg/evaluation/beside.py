"""All that is run beside the Tracker, as far as there is time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.evaluation.contestants import contestants, names
from thalweg.evaluation.coverage import coverages
from thalweg.evaluation.hindsight import Comparators, frontier, regrets, to_its_expert
from thalweg.evaluation.scores import Player, Scores
from thalweg.evaluation.standardised import Standardised
from thalweg.evaluation.study import Hindsight, Regret
from thalweg.types import Block, FloatArray

TRACKER = Player("Tracker", "tracker")
PERSISTENCE = Player("persistence", "persistence")
REGRET, FRONTIER, COVERAGE = "regret", "the frontier", "coverage of intervals"
DIVERGED = 1e4
"""A forecast so many deviations off: a learner that makes one is left out."""
MEASURED = ("tracker", "fixed", "paper", "persistence")
"""Roles whose regret is measured: of the best player of each."""
Advance = Callable[[str], None]
"""Called before every piece of work with a word on what is to be done."""


def steps() -> list[str]:
    """The pieces of work in ``Beside.run``, in order, but for what all of them need."""
    return [*names(), REGRET, FRONTIER, COVERAGE]


@dataclass
class Beside:
    """Everyone's forecasts, what they lost to hindsight, and what hindsight could.

    Last of all how often intervals held: that takes the Tracker five runs more.
    """

    raw: Block
    stream: Standardised  # the same
    scored: FloatArray  # (T,) labels, NaN where they are not scored
    said: dict[Player, FloatArray]  # by the Tracker and by persistence, to begin with
    largest: float  # error of any expert of the Tracker
    diverged: list[str]
    left: list[str]  # what is still to be done
    regrets: tuple[Regret, ...] = ()
    hindsight: Hindsight | None = None
    coverage: tuple[tuple[float, float], ...] = ()

    def run(self, advance: Advance) -> None:
        """Do all of it, or as much as there is time for until a Ctrl-C."""
        try:
            advance("the best in hindsight")
            comparators = Comparators.of(self.stream.block)
            self._forecasts(comparators, advance)
            advance(REGRET)
            self.regrets = self._regrets(comparators)
            self.left.remove(REGRET)
            advance(FRONTIER)
            self.hindsight = frontier(self.stream.block, self._by_name())
            self.left.remove(FRONTIER)
            advance(COVERAGE)
            self.coverage = coverages(self.raw, self.scored, self.stream.delay)
            self.left.remove(COVERAGE)
        except KeyboardInterrupt:
            return

    def scores(self) -> Scores:
        """The errors of all who have forecasts."""
        scores = Scores(tuple(self.said))
        forecasts = np.column_stack(list(self.said.values()))
        scores.add(self.stream.outside(forecasts), self.scored)
        return scores

    def _forecasts(self, comparators: Comparators, advance: Advance) -> None:
        """Of all contestants, and a word on those that have none to show."""
        block, delay = self.stream.block, self.stream.delay
        for player, forecast in contestants(block, comparators.domain):
            advance(player.name)
            found = forecast(block, delay)
            if np.abs(found).max() <= DIVERGED:  # nor where it is NaN
                self.said[player] = found
            else:
                self.diverged.append(f"{player.name} diverged and is left out.")
            self.left.remove(player.name)

    def _regrets(self, comparators: Comparators) -> tuple[Regret, ...]:
        """Of the best of each role; bounds only where labels come at once."""
        block, late = self.stream.block, self.stream.delay > 0
        named = self._by_name()
        measured = {name: named[name] for name in _best_of_each(self.scores())}
        found = regrets(block, measured, comparators, bounded=not late)
        if late:
            return found
        pair = self.said[TRACKER], self.said[PERSISTENCE]
        return (*found, to_its_expert(*pair, block.y, self.largest))

    def _by_name(self) -> dict[str, FloatArray]:
        return {player.name: forecast for player, forecast in self.said.items()}


def _best_of_each(scores: Scores) -> list[str]:
    entries = sorted(scores.entries(), key=lambda entry: entry.squared)
    best = {entry.role: entry.name for entry in reversed(entries)}
    return [best[role] for role in MEASURED if role in best]
