"""What was measured of one claim: exponents, constants, and why they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from thalweg.paper.experiment import Experiment, Measurement, Remark
from thalweg.types import FloatArray

CONFIDENCE = 0.95


class GrowthRate(NamedTuple):
    """The exponent e of a fitted power law c·Tᵉ, with its confidence interval."""

    exponent: float
    low: float
    high: float


def fit_growth_rate(
    horizons: FloatArray, values: FloatArray, seeds: FloatArray
) -> GrowthRate | None:
    """Least squares of log value on log T, each seed with a constant c of its own.

    The interval is Student's, at 95 %. None where a value is not positive, or where
    there are too few values to know the uncertainty.
    """
    t, v, s = (np.asarray(part, float) for part in (horizons, values, seeds))
    groups = np.unique(s)
    degrees_of_freedom = len(t) - len(groups) - 1
    if degrees_of_freedom < 1 or not (v > 0).all():
        return None
    constants = (s[:, None] == groups).astype(float)
    design = np.column_stack([np.log(t), constants])
    solution, residual, _, _ = np.linalg.lstsq(design, np.log(v))
    inverse = np.linalg.inv(design.T @ design)
    variance = float(residual[0]) / degrees_of_freedom * float(inverse[0, 0])
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, degrees_of_freedom))
    margin = quantile * float(np.sqrt(variance))
    slope = float(solution[0])
    return GrowthRate(slope, slope - margin, slope + margin)


def fit_slope(horizons: FloatArray, values: FloatArray) -> float:
    """The exponent alone: least squares of log value on log T, for positive values."""
    return float(np.polyfit(np.log(horizons), np.log(values), 1)[0])


FIT_FROM = 16_000
"""Exponents are fitted from here on: terms of lower order are smaller there."""
MIN_HORIZONS = 3
"""All horizons are used where fewer than these are left."""
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
    remark: Remark

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
        return _covers(self.growth, self.theory_exponent)

    def fits_all_horizons(self) -> bool:
        """Whether the exponents are fitted to all T, not only to the longer ones."""
        return self.fit_from == self.unique_horizons[0]

    def theory_fits_all_horizons(self) -> bool:
        """The same where exponents are fitted to all T, not only to the longer ones."""
        horizons, seeds = np.array(self.horizons), np.array(self.seeds)
        regret, rate = np.array(self.regret), np.array(self.rate)
        growth = _fit(self.is_lower_bound, horizons, regret, seeds)
        return _covers(growth, fit_slope(horizons, rate))

    def reason(self) -> str:
        """Why the theory's exponent lies outside the interval; empty if it does not."""
        if self.growth is None or self.theory_fits():
            return ""
        sentences = []
        if self.expected_exponent is not None:
            sentences.append(
                f"The expected regret itself, computed exactly, has slope "
                f"{self.expected_exponent:.2f} over these T{self._outside()}."
            )
        sentences += [self._approach(), self.explanation()]
        return " ".join(filter(None, sentences))

    def explanation(self) -> str:
        """The remark, where it agrees with what was measured; else nothing.

        It is on terms of lower order. So the leading term must come nearer to the whole
        regret as T grows, and the exponent differ in the direction it explains.
        """
        parts = self.leading_parts()
        if self.growth is None or parts is None:
            return ""
        first, last = np.abs(np.log(parts))
        slower = self.growth.exponent < self.theory_exponent
        direction = "slower" if slower else "faster"
        fits = last < first and self.remark.explains in (direction, "either")
        return self.remark.text if fits else ""

    def _outside(self) -> str:
        """What to add where the expected regret's own slope is outside as well.

        In two decimals, as it is printed.
        """
        if self.growth is None or self.expected_exponent is None:
            return ""
        rounded = GrowthRate(*(round(end, 2) for end in self.growth))
        covered = _covers(rounded, round(self.expected_exponent, 2))
        return "" if covered else ", outside the interval too"

    def leading_parts(self) -> tuple[float, float] | None:
        """The leading term as a part of the regret, at the first fitted T and the last.

        None where no leading term is known.
        """
        if self.constant is None:
            return None
        ratios = self.ratios_to_rate()
        first = self.unique_horizons.index(self.fit_from)
        return self.constant / ratios[first], self.constant / ratios[-1]

    def ratio_trend(self) -> str:
        """Where regret / rate is largest, over all T: a sentence."""
        ratios, last = self.ratios_to_rate(), self.unique_horizons[-1]
        numbers = ", ".join(f"{ratio:.3g}" for ratio in ratios)
        largest = self.unique_horizons[int(np.argmax(ratios))]
        start = f"Regret over the rate is {numbers} from T = {self.horizons[0]:,} on"
        if largest == last:
            return f"{start}, and still rises at the longest."
        if largest == self.horizons[0]:
            return f"{start}, largest at the shortest."
        return (
            f"{start}, largest at T = {largest:,}: the exponent depends on the T that "
            "are fitted."
        )

    def _approach(self) -> str:
        """How the regret comes near to its limit, or how it compares with the rate."""
        parts, last = self.leading_parts(), self.unique_horizons[-1]
        if parts is None:
            return self.ratio_trend()
        return (
            f"The leading term is {parts[0]:.0%} of the regret at T = "
            f"{self.fit_from:,} and {parts[1]:.0%} at T = {last:,}."
        )

    def tight_constant(self) -> str:
        """The stated constant beside the measured one, or why there is none."""
        measured = (
            f"{self.ratios_to_rate()[-1]:.3g} at T = {self.unique_horizons[-1]:,}"
        )
        if self.constant is None:
            return f"{self.tightness}; measured {measured}"
        return f"{self.constant:.3g} ({self.tightness}); measured {measured}"


def claim_result(
    experiment: Experiment,
    runs: Sequence[tuple[int, int]],
    measurements: Sequence[Measurement],
) -> ClaimResult:
    """Fit the exponents of all ``runs``, which are pairs of a horizon and a seed."""
    horizons, seeds = (np.array(column) for column in zip(*runs, strict=True))
    regret, bound, rate = (np.array(c) for c in zip(*measurements, strict=True))
    late = horizons >= FIT_FROM
    if len(np.unique(horizons[late])) < MIN_HORIZONS:
        late = np.ones_like(late)
    fit_from = int(horizons[late].min())
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
        _fit(experiment.is_lower_bound, horizons[late], regret[late], seeds[late]),
        experiment.constant, experiment.tightness, experiment.remark,
    )  # fmt: skip


def _fit(
    is_lower_bound: bool, horizons: FloatArray, regret: FloatArray, seeds: FloatArray
) -> GrowthRate | None:
    """The exponent; of a lower bound, which is one on the mean, that of the mean."""
    if not is_lower_bound:
        return fit_growth_rate(horizons, regret, seeds)
    unique = np.unique(horizons)
    means: Any = np.array([regret[horizons == T].mean() for T in unique])
    return fit_growth_rate(unique, means, np.zeros(len(unique)))


def _covers(growth: GrowthRate | None, exponent: float) -> bool:
    return growth is not None and growth.low <= exponent <= growth.high
