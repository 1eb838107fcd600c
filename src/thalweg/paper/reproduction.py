"""``reproduce`` runs every experiment of the paper, and measures rates and bounds."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from thalweg.paper.appendix_claims import appendix_experiments
from thalweg.paper.claim_result import ClaimResult, GrowthRate, claim_result
from thalweg.paper.experiment import Experiment, Remark
from thalweg.paper.lower_bound_claims import lower_bound_experiments
from thalweg.paper.newton_claims import mixture_experiments, newton_experiments
from thalweg.paper.path_length_claims import path_length_experiments
from thalweg.paper.rival_regrets import STREAM_KINDS, RivalRegrets, compare_rivals
from thalweg.paper.tradeoff_claims import (
    TradeoffCurve,
    measure_tradeoff,
    tradeoff_experiments,
)

Advance = Callable[[str], None]
"""Called after every run with a few words on what was run."""


@dataclass(frozen=True)
class Reproduction:
    """All results of ``reproduce``."""

    results: list[ClaimResult]
    tradeoff: list[TradeoffCurve]
    rivals: RivalRegrets

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, numbers: Mapping[str, Any]) -> "Reproduction":
        """The results that ``as_dict`` made plain."""
        results = []
        for row in numbers["results"]:
            growth = row["growth"] and GrowthRate(*row["growth"])
            remark = Remark(*row["remark"])
            results.append(ClaimResult(**{**row, "growth": growth, "remark": remark}))
        curves = [TradeoffCurve(**curve) for curve in numbers["tradeoff"]]
        return cls(results, curves, RivalRegrets(**numbers["rivals"]))


def experiments() -> list[Experiment]:
    """Every claim of the paper, in its order, then what others did after or before."""
    every = [
        *newton_experiments(),
        *tradeoff_experiments(),
        *path_length_experiments(),
        *mixture_experiments(),
        *lower_bound_experiments(),
        *appendix_experiments(),
    ]
    return sorted(every, key=lambda experiment: CLAIMS.index(experiment.claim))


CLAIMS = (
    "Thm. 1(1)",
    "Thm. 1(2)",
    "Cor. 1",
    "Cor. 2",
    "Thm. 2",
    "Thm. 3",
    "Thm. 4",
    "Thm. 5",
    "Thm. 6",
    "Cor. 3",
    "Lemma 3",
    "Thm. 7",
    "Thm. 8",
    "Prop. 1",
    "Thm. 9",
    "Thm. 10",
    "FLH",
    "minimax",
    "Mokhtari",
)
"""The claims in the paper's order, Theorem 1 by case: Corollary 1 is its third.

After them following the leading history, the minimax rate (Baby & Wang), and gradient
descent with a constant step (Mokhtari et al.).
"""


def reproduce(quick: bool = False, advance: Advance = lambda _: None) -> Reproduction:
    """Run every experiment; minutes, or about one when ``quick``."""
    results = [_run(experiment, quick, advance) for experiment in experiments()]
    curves = measure_tradeoff(4000 if quick else 64_000, seeds=2 if quick else 4)
    advance("trade-off")
    horizon, seeds = (500, 1) if quick else (2000, 2)
    return Reproduction(results, curves, compare_rivals(horizon, seeds, advance))


def count_steps(quick: bool = False) -> int:
    """How many times ``reproduce`` will call ``advance``."""
    runs = sum(len(_runs(experiment, quick)) for experiment in experiments())
    return runs + 1 + len(STREAM_KINDS)


def _run(experiment: Experiment, quick: bool, advance: Advance) -> ClaimResult:
    runs, measurements = _runs(experiment, quick), []
    for horizon, seed in runs:
        measurements.append(experiment.measure(horizon, seed))
        advance(f"{experiment.claim}, T = {horizon:,}")
    return claim_result(experiment, runs, measurements)


def _runs(experiment: Experiment, quick: bool) -> list[tuple[int, int]]:
    """Pairs of a horizon and a seed."""
    seeds = range(experiment.seed_count(quick))
    return [(T, seed) for T in experiment.horizons(quick) for seed in seeds]
