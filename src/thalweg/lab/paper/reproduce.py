"""The paper as experiments: every rate measured beside its bound."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from thalweg.lab.growth import Growth, growth
from thalweg.lab.paper.rivals import Contest, contest
from thalweg.lab.paper.theorems import Experiment, Measured, experiments
from thalweg.lab.paper.tradeoff import Tradeoff, tradeoff

Advance = Callable[[str], None]
"""Called after every piece of work with a word on what was done."""


@dataclass(frozen=True)
class Result:
    """What one experiment found, over horizons and seeds."""

    claim: str
    setting: str
    predicted: float
    lower: bool
    tradeoff: float | None
    horizons: list[int]  # one entry a run, as for the next three
    seeds: list[int]
    regret: list[float]
    bound: list[float]
    growth: Growth | None

    @property
    def tightest(self) -> float:
        """Regret over bound where they come nearest; a bound holds if this is ≤ 1.

        For a bound from below it is bound over regret.
        """
        ratio = np.array(self.regret) / np.array(self.bound)
        return float((1 / ratio if self.lower else ratio).max())


@dataclass(frozen=True)
class Reproduction:
    """All results of ``reproduce``."""

    results: list[Result]
    tradeoff: Tradeoff
    contest: Contest

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        return asdict(self)


def reproduce(quick: bool = False, advance: Advance = lambda _: None) -> Reproduction:
    """Run every experiment; minutes on two cores, or under one when ``quick``."""
    results = []
    for experiment in experiments():
        results.append(_run(experiment, quick, advance))
    curve = tradeoff(1000 if quick else 4000, seeds=2 if quick else 4)
    advance("trade-off")
    compared = contest(500 if quick else 2000, seeds=1 if quick else 2, advance=advance)
    return Reproduction(results, curve, compared)


def steps(quick: bool = False) -> int:
    """How many times ``reproduce`` will call ``advance``."""
    runs = sum(1 for one in experiments() for _ in _runs(one, quick))
    return runs + 1 + Contest.KINDS


def _run(experiment: Experiment, quick: bool, advance: Advance) -> Result:
    runs, found = list(_runs(experiment, quick)), list[Measured]()
    for horizon, seed in runs:
        found.append(experiment.measure(horizon, seed))
        advance(f"{experiment.claim} {experiment.setting}")
    regret, bound = (list(column) for column in zip(*found, strict=True))
    horizons, seeds = (list(column) for column in zip(*runs, strict=True))
    fitted = growth(np.array(horizons), np.array(regret), np.array(seeds))
    named = (experiment.claim, experiment.setting, experiment.predicted)
    kind = (experiment.lower, experiment.tradeoff)
    return Result(*named, *kind, horizons, seeds, regret, bound, fitted)


def _runs(experiment: Experiment, quick: bool) -> Iterator[tuple[int, int]]:
    shortest, longest = (250, 1000) if quick else (500, experiment.longest)
    horizon = shortest
    while horizon <= longest:
        for seed in range(2 if quick else 4):
            yield horizon, seed
        horizon *= 2
