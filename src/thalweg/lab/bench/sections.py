"""The timed sections of the bench: who is timed, on how much of the stream."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from thalweg.lab.bench import ours
from thalweg.lab.bench.agreement import able, judge
from thalweg.lab.bench.contender import Contender, Field, Play, Wrap
from thalweg.lab.bench.found import Row, Verdict
from thalweg.lab.bench.plan import Plan
from thalweg.lab.bench.stream import Stream, draw
from thalweg.lab.bench.timing import Timed, fitted, interleaved, repeated
from thalweg.learners import Experts, RecursiveLeastSquares, Tracker

Step = tuple[str, list[Row], list[Verdict]]
"""A word on what was done, and what it found."""
Section = Callable[[Field, Wrap, Plan], Iterator[Step]]

LONGEST, NUMBERS = 200_000, 2_000_000
"""The stream's rounds, and the numbers in it: its features stay below 16 MB."""
FEATURES = 8
"""Of the streams on which something else than n grows."""
EXPERTS = (1, 2, 4, 8, 16, 32, 64)
HORIZONS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
LARGEST_TRACKED = 64
BLOCKED = (64, 128, 256)
ROUNDWISE, BLOCKWISE = "round by round", "blocked"


def call(field: Field, wrap: Wrap, plan: Plan) -> Iterator[Step]:
    """One call a round."""
    contenders = (ours.single(wrap), *field.single)
    for n in plan.sizes:
        yield race("call", contenders, n, plan)


def array(field: Field, wrap: Wrap, plan: Plan) -> Iterator[Step]:
    """One call for the whole stream."""
    contenders = (*ours.whole(wrap), *field.whole)
    for n in plan.sizes:
        yield race("array", contenders, n, plan)


def tracker(field: Field, wrap: Wrap, plan: Plan) -> Iterator[Step]:
    """The Tracker beside one padasip filter."""
    rivals = [one for one in (*field.whole, *field.single) if "padasip" in one.name]
    for n in plan.upto(LARGEST_TRACKED):
        yield race("tracker", (*ours.tracker(wrap), *rivals), n, plan)


def bank(field: Field, wrap: Wrap, plan: Plan) -> Iterator[Step]:
    """N discounts in one mixture."""
    stream = draw(LONGEST // 10, FEATURES)
    timed = {}
    for count in EXPERTS:
        grid = 1 - np.geomspace(1e-3, 0.3, count)
        mixture = Experts(tuple(RecursiveLeastSquares(float(g)) for g in grid))
        few = stream.head(len(stream.y) // count)
        timed[count] = repeated(ours.run(wrap, mixture, few), len(few.y), plan)
    yield "bank", _by_size("bank", "bank of RLS", timed, plan), []


def blocks(field: Field, wrap: Wrap, plan: Plan) -> Iterator[Step]:
    """Blocks of rounds beside single ones."""

    def plain(stream: Stream, discount: float, ridge: float) -> Play:
        return ours.bare(RecursiveLeastSquares(discount, ridge), stream)

    def blocked(stream: Stream, discount: float, ridge: float) -> Play:
        learner = RecursiveLeastSquares(discount, ridge)
        return ours.bare(learner, stream, blocked=True)

    contenders = (Contender(ROUNDWISE, plain), Contender(BLOCKWISE, blocked))
    for n in BLOCKED:
        yield race("blocks", contenders, n, plan)


def rounds(field: Field, wrap: Wrap, plan: Plan) -> Iterator[Step]:
    """More and more rounds: the cost of one must stay what it is."""
    stream = draw(HORIZONS[-1], FEATURES)
    learners = (
        (ours.RUN, RecursiveLeastSquares(), 1),
        (ours.TRACKER_RUN, Tracker(), 50),
    )
    for name, learner, fewer in learners:
        timed = {}
        for horizon in HORIZONS:
            some = stream.head(horizon // fewer)
            play = ours.run(wrap, learner, some)
            timed[len(some.y)] = repeated(play, len(some.y), plan)
        yield f"T rounds: {name}", _by_size("rounds", name, timed, plan), []


def race(section: str, contenders: Sequence[Contender], n: int, plan: Plan) -> Step:
    """Judge all, then time those who can play, on one stream of n features."""
    stream = draw(min(LONGEST, NUMBERS // n), n)
    present = [one for one in contenders if n <= one.largest]
    verdicts = [judge(one, stream) for one in present]
    timed = {one.name: fitted(one, stream, plan) for one in able(present, verdicts)}
    found = interleaved(timed, plan)
    rows = [Row(section, name, n, 0, *spread) for name, spread in found.items()]
    return f"{section}, n = {n}", rows, verdicts


def _by_size(
    section: str, name: str, timed: Mapping[int, Timed], plan: Plan
) -> list[Row]:
    found = interleaved(timed, plan)
    return [Row(section, name, FEATURES, size, *found[size]) for size in timed]
