"""The Tracker: no forgetting factor to choose, no ridge, no scale, no horizon."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import tracker
from thalweg.learners.base import Learner, LiveBuffer, RawState
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.tracker import explanation
from thalweg.learners.tracker.feature_axes import change_packed
from thalweg.learners.tracker.gap_intervals import growth_of_rows, widen_intervals
from thalweg.learners.tracker.hinges import (
    draw_for_added,
    draw_for_removed,
    draw_hinges,
)
from thalweg.learners.tracker.several_targets import (
    has_several_targets,
    join_intervals,
    join_targets,
    join_traces,
    play_targets,
    split_targets,
    target_blocks,
)
from thalweg.learners.tracker.stored_state import clear_unused, scatter_entries
from thalweg.learners.tracker.tracker_state import (
    TrackerState,
    check_ranges,
    check_settings,
)
from thalweg.learners.tracker.workspace import (
    EMPTY,
    MAX_ROWS,
    LiveTargets,
    LiveTracker,
    TrackerWorkspace,
)
from thalweg.losses import Loss, Round, SquaredError
from thalweg.types import Block, FloatArray, Interval, Trace

INTERVALS = ("interval", "intervals")
"""Records of the prediction interval's ends, at the Tracker's own ``coverage`` and at
each of the ``INTERVAL_LEVELS`` of its kernel."""
MAX_STATE_BYTES = 2**33
"""Limit of the size of a state: one of some 3,800 features, or a delay of five million
rounds."""


@dataclass(frozen=True)
class Tracker(Learner[TrackerState]):
    r"""A weighted mean of 76 simple experts, weighed by how well they did of late.

    Also known as: prediction with expert advice, expert aggregation, online ensemble or
    mixture of experts, model averaging for drifting streams (concept drift).

    The experts are 75 ridge regressions (kernels/tracker/ridge_experts.py): about a
    discounted mean, shrunk or anchored; of changes since the last round or a season
    ago; with the last three labels as features (autoregressive); with the last features
    and two labels (distributed lag); each with effective memories of 2 rounds (16,
    with distributed lags) to all. The 76th is the last label itself. Seven rules weigh
    them (AdaShare twice, BOA, ML-Poly, softmax twice, Cauchy weights), a committee
    weighs the rules, and AdaShare all eight (kernels/tracker/mixture.py):

    .. math:: \hat y_t = \sum_r v_{t,r} \sum_k w_{t,r,k}\, q_{t,k} + \hat c_t

    All rules but AdaShare weigh an expert also by the confidence in it, which is low
    where the features lie far from what it has learnt (its leverage h is high):
    1/√(1 + h + (h/5)²).

    ĉ is a correction for curvature, what a linear model leaves over: a regression of
    the committee's errors on 80 random hinges max(0, a z_i + b z_j - c) of two
    coordinates each of the features, the last label and its change
    (kernels/tracker/curvature.py). It is applied by as much as has paid off.
    ``curvature=False`` leaves it out. ``seed`` draws the hinges, which are part of the
    state from then on: a run with the same seed is the same to the last bit.

    There is nothing to choose: scale and shift of features and label are learnt, so
    that no intercept or standardisation is needed, nor does a constant feature harm. An
    expert of memory M is active from round M/2 on; the first forecast is 0.

    With ``curvature=False`` the order of the columns, their signs and constant columns
    do not matter, up to rounding. With curvature another order is another draw of
    hinges, as is another seed. On the public streams of benchmarks/accuracy
    (10,000 rows, five orders under each of five seeds) another order changed the
    geometric mean of squared errors by 0.4 % on average and 1.0 % at most (with its
    sign: by -0.1 % on average); another seed by 0.5 %. The error of a single stream may
    change by more: on one by up to 18 % (metro), on the others by up to 4 %.

    Where earlier features or labels were larger than recent ones by orders of
    magnitude, it restarts, except for what the proof below needs
    (kernels/tracker/restart.py): 640 rounds after a last value of 1e12 among ones, the
    state no longer depends on it. After lesser shocks, of 10 times and more, it
    compares its recent losses with those of a fresh Tracker on the last 512 rounds,
    which takes over if it does better (kernels/tracker/replay.py).

    ``information="features"`` restricts it to the experts that see what a recursive
    least squares sees: the present features, and labels only through what was learnt
    from them; so is the correction restricted to the present features. ``coverage`` is
    that of recorded prediction intervals, in (0, 1).

    With a ``delay`` of d rounds every forecast is made without the labels of the d
    rounds before it. Experts are then fitted to look d rounds further back, and weighed
    by the forecasts they made, as are the intervals.

    Where labels are missing, forecasts replace them, and intervals grow with the rounds
    passed since the last label (``interval``), recorded ones too; with a ``delay``,
    where labels are missing for longer than that.

    Features may be added and removed. A new one (``add_features``) counts as zero in
    all rounds before. With ``curvature=False`` the state is then that of a Tracker
    which was fed these zeros, to rounding (as long as both solve for the distributed
    lags in the same rounds, whose interval grows with every 16th feature). A removed
    one (``remove_features``) loses all moments, so that the regressions are those of a
    Tracker that never saw it; anchored coefficients, weights and errors do not change.
    That is a state in which it was always zero, unlike zeros from now on, which would
    be surprising. Hinges stay on their coordinates. A new feature takes over its share
    of them, those that saw a removed one are drawn again, and both learn from then on
    (learners/tracker/hinges.py). The draw is one of ``seed``, the rounds learnt and the
    number of features, and its result is saved with the state.

    Where a feature is itself a forecast of y, made by another method, a state may say
    so (``with_external_forecast``): the Tracker's forecasts are then pooled with it.

    θ is the slope of the coming forecast in x without the correction and the pool, the
    weighted mean of the experts' coefficients at full confidence; the forecast itself
    is no x·θ, so losses are those of predictions.
    The start given to ``init`` only sets the number of features. Of
    shape (n, k) there are k targets, each with experts and weights of its own: what k
    Trackers would forecast, played in threads (learners/tracker/several_targets.py).
    Nothing is learnt from rounds of weight zero. They are stored as passed, so that
    seasons continue, unless they took no time (``elapsed`` 0). ``elapsed`` speeds up
    the forgetting of the experts, not that of the rules; a season is counted in rounds.

    Proven for any labels, if they come at once: over rounds a to b its loss exceeds
    that of any one of its experts that is active from a on by at most
    ``interval_regret(E, a, b)``, which grows as E² ln b, E the largest error of an
    expert or of the corrected committee, without an external forecast. (The sum of two
    bounds of AdaShare, with a prior: docs/derivations/tracker.md.) Not proven: that the
    other rules and the correction help, any rate against the best sequence of θ's, and
    the coverage of intervals, which is measured (benchmarks/accuracy).

    ``update`` runs the definition in plain NumPy (learners/tracker/definition.py);
    ``predict``, ``run`` and ``Online`` run the kernels, which equal it to rounding. A
    state may go from one to the other.
    """

    accepts: ClassVar = (SquaredError,)
    records: ClassVar = ("theta", "weights", "memory", *INTERVALS)
    plays_points: ClassVar[bool] = False
    has_own_intercept: ClassVar[bool] = True
    advances_on_zero_weight: ClassVar[bool] = True
    raw_layout: ClassVar[int | None] = layout.STATE.version
    # With 256, a round takes 60 ms, a state 40 MB and a live buffer three times that.
    max_features: ClassVar[int] = 256
    information: str = "all"
    coverage: float = 0.9
    delay: int = 0
    curvature: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        checks.require_choice(self, "information", ("all", "features"))
        checks.require_interval(self, "coverage", "(0, 1)")
        checks.require_interval(self, "delay", "[0, inf)")
        checks.require_choice(self, "curvature", (True, False))
        checks.require_interval(self, "seed", "[0, inf)")
        if self.delay != int(self.delay):
            raise InvalidParameterError(
                "The 'delay' parameter of Tracker must be a whole number. "
                f"Got {self.delay} instead."
            )

    def init(self, theta: Any) -> TrackerState:
        theta = np.zeros_like(checks.check_start(self, theta))
        if theta.ndim == 2:
            return join_targets([self.init(theta[:, 0])] * theta.shape[1])
        size = layout.state_size(theta.size, int(self.delay), self.curvature)
        if 8 * size > MAX_STATE_BYTES:
            raise InvalidParameterError(
                f"A Tracker of {theta.size:,} coefficients with a delay of "
                f"{int(self.delay):,} has a state of {8 * size:,} bytes, more than "
                f"{MAX_STATE_BYTES:,}. Use fewer features, or a shorter delay."
            )
        packed = np.zeros(size)
        packed[layout.DELAY] = self.delay
        packed[layout.HINGE_COUNT] = layout.HINGES if self.curvature else 0
        packed[layout.GRAM_SCALE] = 1.0
        state = layout.views(packed, theta.size)
        state.counters[layout.SEASON] = 1
        state.counters[layout.STEP_LIMIT] = self.information == "all"
        state.active_from[:] = self._first_active_rounds()
        active = state.active_from <= 1
        state.rules.adashare[:, : layout.PADDED_EXPERTS] = active / active.sum()
        state.rules.boa[0] = 1 / layout.EXPERTS
        state.rules.committee[0] = 1 / layout.BASE_RULES
        state.rules.correction[0] = 1 / layout.CANDIDATES
        state.rules.meta[: layout.RULES] = layout.RULE_PRIOR[: layout.RULES]
        if self.curvature:
            draw_hinges(state.curvature, self._context_size(theta.size), self.seed)
        return TrackerState(theta, packed)

    def with_external_forecast(
        self, state: TrackerState, features: Sequence[int]
    ) -> TrackerState:
        """The state with a feature declared as a forecast of y, from now on.

        ``features`` has its index, one for each target. Past errors determine the
        weights of the Tracker's own forecast, the feature and the mean of both
        (kernels/tracker/external_forecast.py).
        """
        self.check_state(state)
        packed, n = state.packed.copy(), len(state.theta)
        for own, feature in zip(np.atleast_2d(packed), features, strict=True):
            if feature not in range(-1, n):  # -1: no feature is one any more
                raise InvalidParameterError(
                    f"The external forecast of a Tracker must be one of {n} features. "
                    f"Got {feature} instead."
                )
            own[layout.EXTERNAL_FORECAST] = feature + 1
        return TrackerState(state.theta, packed)

    def predict(self, state: TrackerState, x: Any = None) -> Any:
        if has_several_targets(state):
            self.check_state(state)
            return np.array([self.predict(own, x) for own in split_targets(state)])
        forecast = self._records_at(state, x, ())["forecast"][0]
        return state.theta.dtype.type(forecast)

    def _predict_rows(self, state: TrackerState, x: FloatArray) -> FloatArray:
        if has_several_targets(state):
            states = split_targets(state)
            return np.stack([self._predict_rows(own, x) for own in states], axis=1)
        return self._query_rows(state, x)["forecast"].astype(state.theta.dtype)

    def update(self, state: TrackerState, f: Round) -> TrackerState:
        f = self.check_round(state, f)
        if has_several_targets(state):
            rounds = (f._replace(y=y) for y in f.y)
            pairs = zip(split_targets(state), rounds, strict=True)
            return join_targets([self.update(own, one) for own, one in pairs])
        packed, n = state.packed.copy(), len(state.theta)
        s, x = layout.views(packed, n), np.asarray(f.x, np.float64)
        definition = tracker.definition
        definition.observe(s, x, float(f.y), float(f.weight), float(f.elapsed))
        slope = definition.slope(s, definition.forecast_weights(s))
        theta = _as_slope(slope, state.theta.dtype)
        return TrackerState(theta, clear_unused(packed, n))

    def _change_features(
        self, state: TrackerState, change: FeatureChange
    ) -> TrackerState:
        if has_several_targets(state):
            states = split_targets(state)
            return join_targets([self._change_features(own, change) for own in states])
        packed = change_packed(state.packed, len(state.theta), change)
        if self.curvature:
            s = layout.views(packed, change.size)
            coordinates = self._context_size(change.size)
            rng = np.random.default_rng([self.seed, state.rounds, change.size])
            draw_for_added(s, change.added, coordinates, rng)
            draw_for_removed(s, coordinates, rng)
        return self.state_from(change.apply(state.theta), packed)

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return True

    def _play(
        self, state: TrackerState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[TrackerState, Trace]:
        if has_several_targets(state):
            return self._play_targets(state, loss, block, record)
        x, y, weight, elapsed = (
            EMPTY if column is None else np.asarray(column, np.float64)
            for column in (block.x, block.y, block.weight, block.elapsed)
        )
        workspace, records = self._play_rows(
            state.packed, x, y, weight, elapsed, record
        )
        forecasts = records.pop("forecast").astype(state.theta.dtype)
        theta = records.pop("theta", None)
        if theta is not None:
            theta = _as_slope(theta, forecasts.dtype)
        incurred = loss.prediction_loss(forecasts, block.y)
        if block.weight is not None:
            incurred = incurred * block.weight
        trace = Trace(forecasts, incurred, theta, records)
        return self._state_after(workspace, state), trace

    def _play_targets(
        self, state: TrackerState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[TrackerState, Trace]:
        states = split_targets(state)
        blocks = target_blocks(block, len(states))

        def play(target: int) -> tuple[TrackerState, Trace]:
            return self._play(states[target], loss, blocks[target], record)

        played = play_targets(play, len(states), len(block))
        after, traces = zip(*played, strict=True)
        return join_targets(after), join_traces(traces)

    def record(self, state: TrackerState, name: str) -> Any:
        self._check_record(name)
        self.check_state(state)
        if name == "theta":
            return state.theta
        if has_several_targets(state):
            return np.array([self.record(own, name) for own in split_targets(state)])
        return self._records_at(state, np.zeros(len(state.theta)), (name,))[name][0]

    def memory(self, state: TrackerState) -> Any:
        """The effective memory, in rounds: exp Σ w_k ln min(M_k, t).

        M_k is the memory of expert k, 1 for the last label. An array of k targets.
        """
        memory = self.record(state, "memory")
        return memory if has_several_targets(state) else float(memory)

    def weights(self, state: TrackerState) -> dict[str, Any]:
        """The weight of every expert in the coming forecast, by name.

        Of several targets arrays.
        """
        weights = self.record(state, "weights").T.tolist()
        values = map(np.array, weights) if has_several_targets(state) else weights
        return dict(zip(explanation.EXPERT_NAMES, values, strict=True))

    def interval(self, state: TrackerState, x: Any, level: float = 0.9) -> Interval:
        """The forecast at ``x`` with a prediction interval that holds y this often.

        From quantiles of its last 512 errors, in units of their recent size; of late
        labels, of errors that reach back further. It is infinite, from -inf to inf, as
        long as no error is known. Where first errors were far larger than later ones it
        covers less than it says for some hundreds of rounds.

        In a gap, after d ≥ 1 rounds without a label, it is as many times wider as the
        errors of such forecasts were larger of late, which a fresh Tracker measures on
        352 rounds before the gap (learners/tracker/gap_intervals.py). That takes as
        long as some 500 to 1,000 rounds, once for a gap.
        """
        checks.require_argument("a prediction interval", "level", level, "(0, 1)")
        if has_several_targets(state):
            self.check_state(state)
            states = split_targets(state)
            return join_intervals([self.interval(own, x, level) for own in states])
        records = self._records_at(state, x, ("interval",), level)
        low, high = records["interval"][0]
        return Interval(float(records["forecast"][0]), float(low), float(high))

    def interval_rows(
        self, state: TrackerState, x: Any, level: float = 0.9
    ) -> Interval:
        """``interval`` at the rows x (T, n): mean, low and high are (T,) each.

        All rows are asked of one state, and are at the same distance from the last
        label: the one that the next round has.
        """
        checks.require_argument("a prediction interval", "level", level, "(0, 1)")
        self.check_state(state)
        if has_several_targets(state):
            states = split_targets(state)
            return join_intervals([self.interval_rows(own, x, level) for own in states])
        rows = checks.check_feature_rows(x, state.theta)
        records = self._query_rows(state, rows, ("interval",), level)
        low, high = records["interval"].T.copy()
        return Interval(records["forecast"], low, high)

    def explain(self, state: TrackerState) -> str:
        """The composition of the coming forecast, in words."""
        if has_several_targets(state):
            self.check_state(state)
            texts = map(self.explain, split_targets(state))
            numbered = (f"Target {j}. {text}" for j, text in enumerate(texts))
            return "\n".join(numbered)
        weights, memory = self.record(state, "weights"), self.memory(state)
        views = layout.views(state.packed, len(state.theta))
        correction = explanation.correction_share(views)
        return explanation.explain(
            state.rounds, memory, state.season, weights, correction
        )

    def check_state(self, state: TrackerState) -> None:
        """Raise unless the state is one of this Tracker's, with its delay.

        All numbers that kernels use as an index are checked.
        """
        packed = getattr(state, "packed", None)
        if type(packed) is np.ndarray and packed.dtype == np.float64 and packed.size:
            for own in np.atleast_2d(packed):
                check_settings(self, own.ravel()[: layout.COUNTERS].tolist())
        super().check_state(state)
        for own in np.atleast_2d(state.packed):
            check_ranges(self, own, len(state.theta))

    def live_buffer(
        self, state: TrackerState, loss: Loss, constant_features: int
    ) -> LiveBuffer | None:
        self.check_state(state)
        if state.theta.dtype != np.float64:
            return None
        kind = LiveTargets if has_several_targets(state) else LiveTracker
        return kind(self, state, constant_features)

    def state_from(self, theta: FloatArray, packed: FloatArray) -> TrackerState:
        """The state with this packed array; θ gives size and dtype only."""
        n = len(theta)
        slope = TrackerWorkspace(packed, n).slope()
        return TrackerState(_as_slope(slope, theta.dtype), clear_unused(packed, n))

    def state_from_raw(self, raw: RawState) -> TrackerState | None:
        n, k = raw.features, raw.targets
        if raw.errors or len(raw.numbers) % max(k, 1):
            return None
        targets = raw.numbers.reshape(max(k, 1), -1)
        packed = [scatter_entries(own, n) for own in targets]
        if len({len(own) for own in packed}) > 1 or not packed[0].size:
            return None
        if k == 0:
            return TrackerState(np.zeros(n), packed[0])
        return TrackerState(np.zeros((n, k)), np.stack(packed))

    def complete_state(self, state: TrackerState) -> TrackerState:
        if has_several_targets(state):
            targets = map(self.complete_state, split_targets(state))
            return join_targets(list(targets))
        return self.state_from(state.theta, state.packed)

    def _context_size(self, n: int) -> int:
        """The number of coordinates of the context that hinges may use."""
        return n + (layout.CONTEXT_LABELS if self.information == "all" else 0)

    def _first_active_rounds(self) -> FloatArray:
        memory = explanation.MEMORY_OF_EXPERT
        first = np.where(np.isinf(memory), 1.0, np.maximum(memory / 2, 1.0))
        if self.information == "features":
            families = [
                explanation.EXPERT_FAMILIES[family]
                for family in explanation.FAMILY_OF_EXPERT
            ]
            first[[family.needs_labels for family in families]] = np.inf
        return np.append(first, np.full(layout.PADDED_EXPERTS - len(first), np.inf))

    def _state_after(
        self, workspace: TrackerWorkspace, before: TrackerState
    ) -> TrackerState:
        packed = clear_unused(workspace.packed.copy(), len(before.theta))
        return TrackerState(_as_slope(workspace.slope(), before.theta.dtype), packed)

    def _records_at(
        self, state: TrackerState, x: Any, record: Sequence[str], level: float = 0.9
    ) -> dict[str, FloatArray]:
        """The forecast at ``x`` and these records, of one row."""
        self.check_state(state)
        row = checks.check_features(x, state.theta)
        return self._query_rows(state, row[None], record, level)

    def _query_rows(
        self, state: TrackerState, x: FloatArray, record: Sequence[str] = (),
        level: float = 0.9,
    ) -> dict[str, FloatArray]:  # fmt: skip
        """Forecasts at the rows ``x`` (T, n) and these records, all from one state."""
        rows, columns = np.array(x, np.float64), (EMPTY, EMPTY, EMPTY)
        return self._play_rows(state.packed, rows, *columns, record, level)[1]

    def _play_rows(
        self, packed: FloatArray, x: FloatArray, y: FloatArray, weight: FloatArray,
        elapsed: FloatArray, record: Sequence[str] = (), level: float | None = None,
    ) -> tuple[TrackerWorkspace, dict[str, FloatArray]]:  # fmt: skip
        """Play all rows, and learn them where there is y.

        Returns the workspace with the state after them, and the records: forecasts and
        those named.
        """
        level = self.coverage if level is None else level
        shapes = {
            "theta": x.shape[1:],
            "weights": (layout.EXPERTS,),
            "interval": (2,),
            "intervals": (len(layout.INTERVAL_LEVELS), 2),
        }
        records = {
            name: np.empty((len(x), *shapes.get(name, ())))
            for name in ("forecast", *record)
        }
        intervals = [records[name] for name in INTERVALS if name in records]
        rows = min(max(len(x), 1), MAX_ROWS)
        workspace = TrackerWorkspace(packed, x.shape[1], 0, rows, tuple(records), level)
        for first in range(0, len(x), MAX_ROWS):
            here = slice(first, first + MAX_ROWS)
            columns = (y[here], weight[here], elapsed[here])
            learns_interval = len(y) > 0 and intervals
            before = workspace.packed.copy() if learns_interval else packed
            played = workspace.play(x[here], *columns)
            for name, values in records.items():
                values[here] = played[name]
            if intervals:
                growth = growth_of_rows(
                    self, before, workspace.packed, x[here], columns
                )
                forecast = records["forecast"][here]
                for interval in intervals:
                    widen_intervals(interval[here], forecast, growth)
        return workspace, records


def _as_slope(theta: FloatArray, dtype: Any) -> FloatArray:
    """θ in single precision, say, which may be too small for it."""
    largest = np.finfo(dtype).max
    return np.asarray(np.clip(theta, -largest, largest), dtype)
