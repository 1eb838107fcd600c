"""What was measured of one claim: exponents, constants, and why they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.lab.growth_rate import GrowthRate, fit_growth_rate, fit_slope
from thalweg.lab.paper.experiment import Experiment, Measurement
from thalweg.types import FloatArray

STANDARD_ERRORS = 3.0
"""A lower bound on expected regret is broken by a mean this far below it."""


@dataclass(frozen=True)
class ClaimResult:
    """The measurements of one experiment, over horizons and seeds."""

    claim: str
    learner: str
    stream: str
    comparator: str
    tradeoff: float | None  # β, where γ = 1 - T^-β
    is_lower_bound: bool
    horizons: list[int]  # one entry a run, as for the next four
    seeds: list[int]
    regret: list[float]
    bound: list[float]
    rate: list[float]
    fit_from: int  # the exponents below are fitted to horizons from here on
    theory_exponent: float  # the slope of the rate over the same T
    bound_exponent: float  # that of the bound
    expected_exponent: float | None  # that of the expected regret, where it is known
    growth: GrowthRate | None
    constant: float | None  # what regret / rate tends to
    tightness: str  # its formula, or why there is none
    remark: str

    @property
    def unique_horizons(self) -> list[int]:
        return sorted(set(self.horizons))

    def means(self, name: str) -> list[float]:
        """The mean over seeds of ``regret``, ``bound`` or ``rate``, by horizon."""
        values, horizons = np.array(getattr(self, name)), np.array(self.horizons)
        return [float(values[horizons == T].mean()) for T in self.unique_horizons]

    def ratios_to_rate(self) -> list[float]:
        """regret / rate by horizon: it settles where the rate is the true one."""
        return [
            r / rate
            for r, rate in zip(self.means("regret"), self.means("rate"), strict=True)
        ]

    def ratio_to_bound(self) -> float:
        """The largest regret / bound; of a lower bound the least ratio of means."""
        if not self.is_lower_bound:
            return float((np.array(self.regret) / np.array(self.bound)).max())
        return float((np.array(self.means("regret")) / self.means("bound")).min())

    def holds(self) -> bool:
        """Whether the bound holds; one on the mean, up to three standard errors."""
        if not self.is_lower_bound:
            return self.ratio_to_bound() <= 1
        regret, horizons = np.array(self.regret), np.array(self.horizons)
        for T, bound in zip(self.unique_horizons, self.means("bound"), strict=True):
            runs = regret[horizons == T]
            error = runs.std(ddof=1) / np.sqrt(len(runs))
            if runs.mean() < bound - STANDARD_ERRORS * error:
                return False
        return True

    def theory_fits(self) -> bool:
        """Whether the theory's exponent lies in the fitted interval."""
        fit = self.growth
        return fit is not None and fit.low <= self.theory_exponent <= fit.high

    def reason(self) -> str:
        """Why the theory's exponent lies outside the interval; empty if it does not."""
        if self.growth is None or self.theory_fits():
            return ""
        sentences = []
        if self.expected_exponent is not None:
            sentences.append(
                f"The expected regret itself, computed exactly, has slope "
                f"{self.expected_exponent:.2f} over these T."
            )
        sentences.append(self._approach())
        return " ".join([*sentences, *([self.remark] if self.remark else [])])

    def approach_in_short(self) -> str:
        """``reason`` in two numbers: the first T and the last."""
        if self.constant is None:
            first, last = self._local_exponents()
            return f"{first:.2f}, {last:.2f}"
        ratios = self.ratios_to_rate()
        return f"{self.constant / ratios[0]:.0%}, {self.constant / ratios[-1]:.0%}"

    def _approach(self) -> str:
        """How the regret comes near to its limit, or how its exponent changes."""
        if self.constant is None:
            first, last = self._local_exponents()
            return (
                f"From the first T to the next the exponent is {first:.2f}, to the "
                f"last {last:.2f}."
            )
        early, late = self.ratios_to_rate()[0], self.ratios_to_rate()[-1]
        T = self.unique_horizons
        return (
            f"The leading term is {self.constant / early:.0%} of the regret at "
            f"T = {T[0]:,} and {self.constant / late:.0%} at T = {T[-1]:,}."
        )

    def tight_constant(self) -> str:
        """The stated constant beside the measured one, or why there is none."""
        measured = (
            f"{self.ratios_to_rate()[-1]:.3g} at T = {self.unique_horizons[-1]:,}"
        )
        if self.constant is None:
            return f"{self.tightness}; measured {measured}"
        return f"{self.tightness} = {self.constant:.3g}; measured {measured}"

    def _local_exponents(self) -> tuple[float, float]:
        """The exponents between the first two and the last two fitted horizons."""
        pairs = zip(self.unique_horizons, self.means("regret"), strict=True)
        T, regret = np.log([pair for pair in pairs if pair[0] >= self.fit_from]).T
        slopes = np.diff(regret) / np.diff(T)
        return float(slopes[0]), float(slopes[-1])


def claim_result(
    experiment: Experiment,
    runs: Sequence[tuple[int, int]],
    measurements: Sequence[Measurement],
) -> ClaimResult:
    """Fit the exponents of all ``runs``, which are pairs of a horizon and a seed."""
    horizons, seeds = (np.array(column) for column in zip(*runs, strict=True))
    regret, bound, rate = (np.array(c) for c in zip(*measurements, strict=True))
    # Few horizons may be left where a quick run ends before the exponent settles.
    fit_from = experiment.fit_from
    if len(np.unique(horizons[horizons >= fit_from])) < 3:
        fit_from = 0
    late = horizons >= fit_from
    expected = None
    if experiment.mean_regret is not None:
        unique = np.unique(horizons[late])
        values = np.array([experiment.mean_regret(int(T)) for T in unique])
        expected = fit_slope(unique, values)
    return ClaimResult(
        experiment.claim, experiment.learner, experiment.stream, experiment.comparator,
        experiment.tradeoff, experiment.is_lower_bound,
        horizons.tolist(), seeds.tolist(),
        regret.tolist(), bound.tolist(), rate.tolist(), fit_from,
        fit_slope(horizons[late], rate[late]), fit_slope(horizons[late], bound[late]),
        expected,
        _fit(experiment, horizons[late], regret[late], seeds[late]),
        experiment.constant, experiment.tightness, experiment.remark,
    )  # fmt: skip


def _fit(
    experiment: Experiment, horizons: FloatArray, regret: FloatArray, seeds: FloatArray
) -> GrowthRate | None:
    """The exponent; of a lower bound, which is one on the mean, that of the mean."""
    if not experiment.is_lower_bound:
        return fit_growth_rate(horizons, regret, seeds)
    unique = np.unique(horizons)
    means: Any = np.array([regret[horizons == T].mean() for T in unique])
    return fit_growth_rate(unique, means, np.zeros(len(unique)))
