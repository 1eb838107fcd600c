"""The Tracker: no forgetting factor to choose, no ridge, no scale, no horizon."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.kernels.tracker import layout
from thalweg.learners.base import Learner
from thalweg.learners.live import Live
from thalweg.learners.tracker import definition, explain, names
from thalweg.learners.tracker.desk import NOTHING, ROUNDS, Desk
from thalweg.learners.tracker.live import LiveTracker
from thalweg.losses import Loss, Round, SquaredError
from thalweg.types import Block, FloatArray, Interval, Trace


class TrackerState(NamedTuple):
    """What the Tracker remembers."""

    theta: FloatArray  # (n,) how the coming forecast moves with x
    packed: FloatArray  # float64, the rest: kernels/tracker/layout.py

    @property
    def rounds(self) -> int:
        """How many rounds were learnt."""
        return int(self.packed[layout.ROUNDS])

    @property
    def season(self) -> int:
        """The lag at which labels are most alike; 1 where there is no season."""
        return int(self.packed[layout.SEASON])


@dataclass(frozen=True)
class Tracker(Learner[TrackerState]):
    r"""Listens to 71 simple experts, and to each as much as it has lately deserved.

    The experts are ridge regressions about a discounted mean, leaky and not,
    with the last label as a feature, of changes since the last round or a season ago
    (kernels/tracker/kinds), each with memories of 2 rounds to all; and the last label
    itself. Six rules weigh them (kernels/tracker/rules), a committee the rules, and
    AdaShare all seven:

    .. math:: \hat y_t = \sum_r v_{t,r} \sum_k w_{t,r,k}\, q_{t,k}

    Nothing is to be chosen: scale and shift of features and label are learnt, so that
    no intercept or standardisation is needed, nor does a constant feature harm. An
    expert of memory M votes from round M/2 on; the first forecast is 0.

    Where features or labels of late are out of all proportion to earlier ones, it
    starts anew but for what the proof below needs (kernels/tracker/restart.py): 640
    rounds after the last of 1e12 among ones, it is gone.

    ``information="features"`` keeps to the experts that see what a recursive least
    squares sees: features now, and labels only through what was learnt from them.
    ``coverage`` is that of recorded intervals, in (0, 1).

    With a ``delay`` of d rounds every forecast is made without the labels of the d
    rounds before it. Experts are then fitted to look d rounds further back, and weighed
    by the forecasts they made, as are the intervals.

    θ is the slope of the coming forecast in x, the weighted mean of the experts'
    coefficients; the forecast itself is no x·θ, so losses are those of predictions.
    The start given to ``init`` says how many features there are, and is not used.
    Rounds of weight zero teach nothing; that they passed is remembered, so that seasons
    go on, unless they took no time (``elapsed`` 0). ``elapsed`` speeds up the experts'
    forgetting, not that of the rules; a season is counted in rounds.

    Proven, whatever labels come, if at once: over rounds a to b its loss exceeds that
    of any one of its experts that votes from a on by at most ``interval_regret(E, a,
    b)``, which grows as E² ln b, E the largest error of an expert. (The sum of two
    bounds of AdaShare: docs/derivations/tracker.md.) Not proven: that the other rules
    help, any rate against the best sequence of θ's, and the coverage of intervals,
    which is measured (benchmarks/tracker_accuracy.py).
    """

    accepts: ClassVar = (SquaredError,)
    records: ClassVar = ("theta", "weights", "memory", "interval")
    plays_points: ClassVar[bool] = False
    counts_gaps: ClassVar[bool] = True
    information: str = "all"
    coverage: float = 0.9
    delay: int = 0

    def __post_init__(self) -> None:
        checks.require_choice(self, "information", ("all", "features"))
        checks.require_interval(self, "coverage", "(0, 1)")
        checks.require_interval(self, "delay", "[0, inf)")
        if self.delay != int(self.delay):
            raise InvalidParameterError(
                "The 'delay' parameter of Tracker must be a whole number. "
                f"Got {self.delay} instead."
            )

    def init(self, theta: Any) -> TrackerState:
        theta = np.zeros_like(checks.check_start(self, theta, ndim=(1,)))
        packed = np.zeros(layout.state_size(theta.size, int(self.delay)))
        packed[layout.DELAY] = self.delay
        state = layout.views(packed, theta.size)
        state.counters[layout.SEASON] = 1
        state.counters[layout.STEP_LIMIT] = self.information == "all"
        state.active_from[:] = self._births()
        voters = state.active_from <= 1
        state.rules.adashare[:, : layout.PADDED_EXPERTS] = voters / voters.sum()
        state.rules.boa[0] = 1 / layout.EXPERTS
        state.rules.committee[0] = 1 / layout.BASE_RULES
        state.rules.meta[: layout.RULES] = 1 / layout.RULES
        return TrackerState(theta, packed)

    def predict(self, state: TrackerState, x: Any = None) -> Any:
        return state.theta.dtype.type(self._ask(state, x, ())["forecast"][0])

    def update(self, state: TrackerState, f: Round) -> TrackerState:
        packed, n = state.packed.copy(), len(state.theta)
        s, x = layout.views(packed, n), np.asarray(f.x, np.float64)
        definition.observe(s, x, float(f.y), float(f.weight), float(f.elapsed))
        weights = definition.predict(s, np.zeros(n)).forecast_weights
        theta = definition.slope(s, weights).astype(state.theta.dtype)
        return TrackerState(theta, packed)

    def _play(
        self, state: TrackerState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[TrackerState, Trace]:
        x, y, weight, elapsed = (
            NOTHING if part is None else np.asarray(part, np.float64)
            for part in (block.x, block.y, block.weight, block.elapsed)
        )
        packed, kept = self._rounds(state.packed, x, y, weight, elapsed, record)
        out = kept.pop("forecast").astype(state.theta.dtype)
        theta = kept.pop("theta", None)
        if theta is not None:
            theta = theta.astype(out.dtype)
        incurred = loss.at_prediction(out, block.y)
        if block.weight is not None:
            incurred = incurred * block.weight
        return self.resumed(state.theta, packed), Trace(out, incurred, theta, kept)

    def record(self, state: TrackerState, name: str) -> Any:
        if name == "theta":
            return state.theta
        return self._ask(state, np.zeros(len(state.theta)), (name,))[name][0]

    def memory(self, state: TrackerState) -> float:
        """How many rounds count now: exp Σ w_k ln min(M_k, t); 1 for the last label."""
        return float(self.record(state, "memory"))

    def weights(self, state: TrackerState) -> dict[str, float]:
        """The part of every expert in the coming forecast, by name."""
        found = self.record(state, "weights")
        return dict(zip(names.NAMES, map(float, found), strict=True))

    def interval(self, state: TrackerState, x: Any, level: float = 0.9) -> Interval:
        """The forecast at ``x`` with the range in which y lies with this frequency.

        From quantiles of its last 512 errors, in units of their size of late. It has no
        width as long as no error is known.
        """
        checks.require_argument("interval", "level", level, "(0, 1)")
        found = self._ask(state, x, ("interval",), level)
        low, high = found["interval"][0]
        return Interval(float(found["forecast"][0]), float(low), float(high))

    def explain(self, state: TrackerState) -> str:
        """What it does now, in words."""
        weights = self.record(state, "weights")
        memory = self.memory(state)
        return explain.explain(state.rounds, memory, state.season, weights)

    def check_state(self, state: TrackerState) -> None:
        """Raise unless what kernels take for an index is one; for states from files."""
        rounds, lag = state.packed[layout.ROUNDS], state.packed[layout.SEASON]
        scored = state.packed[layout.ERROR_COUNT]
        counts = 0 <= rounds < 2**53 and 0 <= scored < 2**53
        whole = counts and 1 <= lag <= layout.MAX_SEASON
        waiting, oldest = (
            state.packed[layout.PENDING_COUNT],
            state.packed[layout.OLDEST_PENDING],
        )
        queue = 0 <= waiting <= self.delay and 0 <= oldest <= self.delay
        passed = 0 <= state.packed[layout.PASSED_ROUNDS] < 2**53
        late = state.packed[layout.DELAY] == self.delay
        if not (whole and queue and passed and late):
            raise InvalidParameterError(
                f"A Tracker's state has counts and a season. Got {rounds}, {scored} "
                f"and {lag} instead."
            )

    def live(self, state: TrackerState, loss: Loss, ones: int) -> Live | None:
        single = state.theta.dtype == np.float64
        return LiveTracker(self, state, ones) if single else None

    def _births(self) -> FloatArray:
        memory = names.MEMORY_OF
        active_from = np.where(np.isinf(memory), 1.0, np.maximum(memory / 2, 1.0))
        if self.information == "features":
            active_from[[names.KINDS[kind].needs_labels for kind in names.KIND_OF]] = (
                np.inf
            )
        return np.append(
            active_from, np.full(layout.PADDED_EXPERTS - layout.EXPERTS, np.inf)
        )

    def resumed(self, theta: FloatArray, packed: FloatArray) -> TrackerState:
        """The state with these memories; θ gives size and dtype and is made anew."""
        now = TrackerState(theta, packed)
        found = self._ask(now, np.zeros(len(theta)), ("theta",))
        return TrackerState(found["theta"][0].astype(theta.dtype), packed)

    def _ask(
        self, state: TrackerState, x: Any, record: Sequence[str], level: float = 0.9
    ) -> dict[str, FloatArray]:
        checks.require_argument_type("Tracker", "state", state, TrackerState)
        row = np.array(checks.check_features(x, state.theta), np.float64)[None]
        nothing = (NOTHING, NOTHING, NOTHING)
        return self._rounds(state.packed, row, *nothing, record, level)[1]

    def _rounds(
        self, packed: FloatArray, x: FloatArray, y: FloatArray, weight: FloatArray,
        elapsed: FloatArray, record: Sequence[str] = (), level: float | None = None,
    ) -> tuple[FloatArray, dict[str, FloatArray]]:  # fmt: skip
        """What is remembered then, having learnt where there is y, and what was said:
        forecasts and ``record``.
        """
        level = self.coverage if level is None else level
        width = {"theta": x.shape[1:], "weights": (layout.EXPERTS,), "interval": (2,)}
        kept = {
            name: np.empty((len(x), *width.get(name, ())))
            for name in ("forecast", *record)
        }
        rows = min(len(x), ROUNDS)
        desk = Desk(packed, x.shape[1], rows=rows, record=tuple(kept), level=level)
        for first in range(0, len(x), ROUNDS):
            here = slice(first, first + ROUNDS)
            found = desk.play(x[here], y[here], weight[here], elapsed[here])
            for name, part in kept.items():
                part[here] = found[name]
        return desk.packed.copy(), kept
