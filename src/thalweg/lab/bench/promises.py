"""What we promise of speed, beside what this run has measured."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from thalweg.lab.bench import ours, roofline, sections
from thalweg.lab.bench.found import Found


class Promise(NamedTuple):
    """A ratio and its limit; ``measured`` is None where this run did not look."""

    what: str
    sign: str  # "≥" or "≤"
    target: float
    measured: float | None

    @property
    def holds(self) -> bool | None:
        """Whether it does; None where that is not known."""
        if self.measured is None:
            return None
        if self.sign == "≥":
            return self.measured >= self.target
        return self.measured <= self.target


N = 8
PADASIP_CALL, PADASIP_RUN = "padasip predict + adapt", "padasip run"
BLAS, PLAIN = "SciPy dsymv + dsyr", "plain numba loop"
CONSTANT = 1.1
"""Peak memory may grow by this from 10⁵ rounds to all: file pages come in clumps."""


def promises(found: Found) -> list[Promise]:
    """All of them, in the order of the sections."""
    return [
        Promise(what, sign, target, measure(found))
        for what, sign, target, measure in _stated()
    ]


Stated = tuple[str, str, float, Callable[[Found], float | None]]


def _stated() -> Iterator[Stated]:
    yield from _calls()
    yield from _arrays()
    for name, word, most in (
        (ours.TRACKER_RUN, "run", 0.6),
        (ours.TRACKER_CALL, "predict + update", 1.0),
    ):
        what = f"Tracker {word} / padasip RLS run, n = {N}"
        yield what, "≤", most, _over("tracker", name, PADASIP_RUN, N)
    for n in (128, 256):
        what = f"round by round / blocked, n = {n}"
        yield what, "≥", 3, _over("blocks", sections.ROUNDWISE, sections.BLOCKWISE, n)
    for n, most in ((16, 10.0), (64, 6.0)):
        yield f"FMA ceiling / RLS kernel, n = {n}", "≤", most, _below_ceiling(n)
    yield "peak memory, last round / first 10⁵", "≤", CONSTANT, _memory_growth


def _calls() -> Iterator[Stated]:
    for name, least in (
        (PADASIP_CALL, 6.0),
        ("River Bayesian regression", 10.0),
        ("River LinearRegression SGD", 2.0),
    ):
        yield (
            f"one call: {name} / ours, n = {N}",
            "≥", least, _over("call", name, ours.CALL, N),
        )  # fmt: skip


def _arrays() -> Iterator[Stated]:
    what = f"array: padasip run / ours, n = {N}"
    yield what, "≥", 100, _over("array", PADASIP_RUN, ours.RUN, N)
    for n, most in ((4, 2.0), (8, 2.0), (16, 1.7), (32, 1.7), (64, 1.7)):
        what = f"array: ours / plain numba loop, n = {n}"
        yield what, "≤", most, _over("array", ours.RUN, PLAIN, n)
    yield "array: BLAS / ours, least over n ≤ 64", "≥", 1.0, _least_over_blas


def _over(
    section: str, name: str, other: str, n: int
) -> Callable[[Found], float | None]:
    def ratio(found: Found) -> float | None:
        above, below = (found.row(section, one, n) for one in (name, other))
        return above.ns / below.ns if above and below else None

    return ratio


def _least_over_blas(found: Found) -> float | None:
    sizes = {row.n for row in found.of("array") if row.n <= 64}
    ratios = [_over("array", BLAS, ours.RUN, n)(found) for n in sorted(sizes)]
    known = [ratio for ratio in ratios if ratio is not None]
    return min(known, default=None)


def _below_ceiling(n: int) -> Callable[[Found], float | None]:
    def ratio(found: Found) -> float | None:
        row = found.row("roofline", roofline.ROUND, n)
        if row is None:
            return None
        return roofline.tops(found)["fused"] * row.ns / roofline.flops(n)

    return ratio


def _memory_growth(found: Found) -> float | None:
    if len(found.memory) < 2:
        return None
    return found.memory[-1].peak / found.memory[0].peak
