"""``reproduce`` runs every experiment of the paper, and measures rates and bounds."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from thalweg.lab.growth_rate import GrowthRate, fit_growth_rate
from thalweg.lab.paper.rivals import STREAM_KINDS, RivalRegrets, compare_rivals
from thalweg.lab.paper.theorems import (
    RegretMeasurement,
    TheoremExperiment,
    experiments,
    measure_newton,
)

Advance = Callable[[str], None]
"""Called after every run with a few words on what was run."""


@dataclass(frozen=True)
class TheoremResult:
    """The measurements of one experiment, over horizons and seeds."""

    claim: str
    setting: str
    predicted: float
    is_lower_bound: bool
    tradeoff: float | None
    horizons: list[int]  # one entry a run, as for the next three
    seeds: list[int]
    regret: list[float]
    bound: list[float]
    growth: GrowthRate | None

    def max_ratio(self) -> float:
        """The largest regret over its bound; the bound holds if this is at most 1.

        For a lower bound it is the largest bound over regret.
        """
        ratio = np.array(self.regret) / np.array(self.bound)
        return float((1 / ratio if self.is_lower_bound else ratio).max())


@dataclass(frozen=True)
class TradeoffCurve:
    """Corollary 1's trade-off: what a memory of T^β costs with and without drift.

    Regret of Newton steps with γ = 1 - T^-β, averaged over seeds.
    """

    horizon: int
    beta: list[float]
    static: list[float]  # on a stationary stream with noise
    static_bound: list[float]
    dynamic: list[float]  # on a stream that jumps, without noise
    dynamic_bound: list[float]


@dataclass(frozen=True)
class Reproduction:
    """All results of ``reproduce``."""

    results: list[TheoremResult]
    tradeoff: TradeoffCurve
    rivals: RivalRegrets

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        return asdict(self)


def reproduce(quick: bool = False, advance: Advance = lambda _: None) -> Reproduction:
    """Run every experiment; minutes on two cores, or under one when ``quick``."""
    results = []
    for experiment in experiments():
        results.append(_run_experiment(experiment, quick, advance))
    curve = measure_tradeoff(1000 if quick else 4000, seeds=2 if quick else 4)
    advance("trade-off")
    horizon, seeds = (500, 1) if quick else (2000, 2)
    return Reproduction(results, curve, compare_rivals(horizon, seeds, advance))


def count_steps(quick: bool = False) -> int:
    """How many times ``reproduce`` will call ``advance``."""
    runs = sum(
        1
        for experiment in experiments()
        for _ in _horizons_and_seeds(experiment, quick)
    )
    return runs + 1 + len(STREAM_KINDS)


def _run_experiment(
    experiment: TheoremExperiment, quick: bool, advance: Advance
) -> TheoremResult:
    runs = list(_horizons_and_seeds(experiment, quick))
    measurements = list[RegretMeasurement]()
    for horizon, seed in runs:
        measurements.append(experiment.measure(horizon, seed))
        advance(f"{experiment.claim} {experiment.setting}")
    regret, bound = (list(column) for column in zip(*measurements, strict=True))
    horizons, seeds = (list(column) for column in zip(*runs, strict=True))
    growth = fit_growth_rate(np.array(horizons), np.array(regret), np.array(seeds))
    return TheoremResult(
        experiment.claim, experiment.setting, experiment.predicted,
        experiment.is_lower_bound, experiment.tradeoff,
        horizons, seeds, regret, bound, growth,
    )  # fmt: skip


def _horizons_and_seeds(
    experiment: TheoremExperiment, quick: bool
) -> Iterator[tuple[int, int]]:
    horizon, longest = (250, 1000) if quick else (500, experiment.max_horizon)
    while horizon <= longest:
        for seed in range(2 if quick else 4):
            yield horizon, seed
        horizon *= 2


def measure_tradeoff(horizon: int, seeds: int) -> TradeoffCurve:
    """The curve over β from 0.1 to 0.9."""
    betas = [round(beta, 2) for beta in np.arange(0.1, 0.91, 0.05).tolist()]
    columns = []
    for beta in betas:
        static = [measure_newton(beta, False, horizon, seed) for seed in range(seeds)]
        dynamic = [measure_newton(beta, True, horizon, seed) for seed in range(seeds)]
        columns.append((*_mean(static), *_mean(dynamic)))
    return TradeoffCurve(horizon, betas, *(list(c) for c in zip(*columns, strict=True)))


def _mean(measurements: list[RegretMeasurement]) -> tuple[float, float]:
    regret, bound = np.mean(measurements, axis=0)
    return float(regret), float(bound)
