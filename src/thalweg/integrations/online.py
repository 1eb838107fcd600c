"""The one mutable object: a learner that keeps its own state."""

import copy
import math
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

import numpy as np

from thalweg import checks, persistence
from thalweg.errors import (
    InvalidParameterError,
    PersistenceError,
    StreamError,
    ThalwegError,
    UnsupportedLossError,
)
from thalweg.integrations.gaps import run_with_gaps
from thalweg.integrations.health import Health, matrix_health
from thalweg.integrations.missing import Filling, Missing, without_gaps
from thalweg.kernels import head
from thalweg.learners import Learner, Tracker
from thalweg.learners.live import Live
from thalweg.losses import LinearLoss, SquaredError
from thalweg.types import Block, FloatArray, Trace

LATE = 100
NO_MEMORY = np.zeros(head.HEAD)
"""Kernels find it closed, and it is never opened."""


NOT_KEPT = {"_lock", "_live", "_memory", "_call", "_learn"}
"""What a copy of a model makes anew."""


def _no_kernel(*given: Any) -> Any:
    raise TypeError("There is no kernel to call.")


def _row(x: Any) -> Any:
    """A list of numbers as the array that kernels take; anything else as it is."""
    if type(x) is list or type(x) is tuple:
        try:
            found = np.array(x)
        except ValueError:  # ragged
            return x
        if found.dtype.kind in "fi":
            return found.astype(np.float64)
    return x


def _unlearnt(filled: Block, skipped: Any, given: Block) -> Block:
    """The rounds with no weight where skipped: a Tracker still sees them pass."""
    weight = np.ones(len(given)) if given.weight is None else given.weight
    return Block(filled.x, filled.y, np.where(skipped, 0.0, weight), given.elapsed)


def _silence(quiet: Any, x: FloatArray) -> FloatArray:
    """Rounds since each feature was last not zero, after the rounds x."""
    # Nearly always all of them were heard of late: no need to look at a whole stream.
    for late in (x[-LATE:], x):
        heard = late != 0
        if heard.any(axis=0).all():
            return np.asarray(heard[::-1].argmax(axis=0), np.float64)
    since = heard[::-1].argmax(axis=0)
    return np.asarray(np.where(heard.any(axis=0), since, quiet + len(x)), np.float64)


class Online:
    """A model to call round by round, or on whole arrays: the result is the same.

    >>> model = Online()
    >>> model.update([1.0, 2.0], 3.0)
    >>> float(model.predict([1.0, 2.0]))  # doctest: +SKIP

    ``learner`` is any learner, by default the Tracker, which has nothing to choose;
    ``loss`` any loss of a linear prediction that it takes. ``intercept`` appends a
    constant feature 1. The number of features is that of the first round learnt, and θ
    starts at zero. A round that is refused leaves the model as it was.

    ``missing`` says what a NaN means: ``"refuse"`` it; ``"skip"``: predict with the
    feature's mean so far, and learn nothing from the round; ``"impute"``: learn from
    the mean as well. Rounds without a target are predicted and not learnt from.
    Threads may share a model: calls wait for each other.
    """

    def __init__(
        self,
        learner: Learner[Any] | None = None,
        loss: LinearLoss | None = None,
        intercept: bool = True,
        missing: Missing = "refuse",
    ) -> None:
        self.learner = Tracker() if learner is None else learner
        self.loss = SquaredError() if loss is None else loss
        self.intercept = intercept
        checks.instance(self, "learner", Learner)
        checks.one_of(self, "intercept", (False, True))
        if not isinstance(self.loss, LinearLoss):
            raise UnsupportedLossError(
                f"Online needs a loss of a linear prediction. Got {loss!r} instead."
            )
        self.learner.check_loss(self.loss)
        self.missing = missing
        checks.one_of(self, "missing", get_args(Missing))
        self.filling = None if missing == "refuse" else Filling(missing)
        self.refusals = 0
        self._lock = threading.RLock()
        self._open(None, 0, 0.0)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock, self._closed():
            kept = vars(self) | {
                "_state": self._now(),
                "_rounds": self.rounds,
                "_quiet": self._silent_for() + 0.0,
            }
        return {key: kept[key] for key in kept if key not in NOT_KEPT}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept, _lock=threading.RLock())
        self._open(kept["_state"], kept["_rounds"], kept["_quiet"])

    def __repr__(self) -> str:
        settings = f"{self.learner!r}, {self.loss!r}, intercept={self.intercept}"
        return f"Online({settings}, missing={self.missing!r})"

    @property
    def state(self) -> Any:
        """The learner's state now, a checkpoint; None before the first round."""
        with self._lock, self._closed():
            return self._now()

    @property
    def rounds(self) -> int:
        """How many rounds were learnt."""
        live = self._live
        return self._rounds + (0 if live is None else int(live.memory[head.COUNT]))

    @property
    def live(self) -> Live | None:
        """The raw path: one compiled function and the array that it changes.

        For those who check by themselves that x is a float64 array of one row, and the
        answer is not NaN, which is a refusal. Weight and elapsed time are 1.0 here::

            call, memory = model.live.call, model.live.memory
            yhat = call(memory, x, 0.0, 1.0, 1.0, False)  # predict
            call(memory, x, y, 1.0, 1.0, True)  # learn; returns the same forecast

        None where the learner has none, and before the first round. It is the model's
        own state: other calls see what it has learnt. After a ``run``, or an ``update``
        with anything but an array, ask for it anew: the old one refuses.
        """
        return self._live if self.filling is None else None

    @property
    def coefficients(self) -> FloatArray | None:
        """θ, the intercept last; None before the first round or where there is no θ.

        Of a Tracker it is the slope of its forecast, which has no one intercept: 0.
        """
        state = self.state
        pointless = not (self.learner.plays_points or isinstance(self.learner, Tracker))
        if state is None or pointless:
            return None
        return self.learner.play(state).copy()

    @property
    def memory(self) -> float:
        """How many past rounds count now; of a Tracker only, 0 before any round."""
        state = self.state
        return 0.0 if state is None else self._tracker("memory").memory(state)

    def explain(self) -> str:
        """What the model does now, in words; of a Tracker only."""
        tracker, state = self._tracker("explain"), self.state
        return tracker.explain(tracker.init(np.zeros(1)) if state is None else state)

    def predict(self, x: Any, interval: float | None = None) -> Any:
        """What the model says of y at the features ``x``; 0 before any round.

        With ``interval``, say 0.9, an ``Interval(mean, low, high)`` in which y is
        expected that often; of a Tracker only.
        """
        x = _row(x)
        if interval is None and type(x) is np.ndarray:
            try:
                said = self._call(self._memory, x, 0.0, 1.0, 1.0, False)
            except TypeError:  # not float64, or not one row
                said = math.nan
            if said == said:
                return said
        # Anything unusual, and anything to be refused, goes the long way.
        with self._lock, self._counting(), self._closed():
            state, row = self._question(x)
            if interval is None:
                return self.learner.predict(state, row)
            tracker = self._tracker("predict(interval=...)")
            return tracker.interval(state, row, interval)

    def update(self, x: Any, y: Any, weight: float = 1.0, elapsed: float = 1.0) -> None:
        """Learn from one round: features ``x``, then the target ``y``."""
        x = _row(x)
        if type(x) is np.ndarray:
            try:
                said = self._learn(self._memory, x, y, weight, elapsed, True)
            except (TypeError, OverflowError):  # not float64, not one row, no number
                said = math.nan
            if said == said:
                return
        # Anything unusual, and anything to be refused, goes the long way.
        with self._lock, self._counting(), self._closed():
            features = checks.numbers("features", x)
            target = checks.numbers("target", y)
            self._run(features[None], target[None], [weight], [elapsed], ())

    def run(
        self, x: Any, y: Any, weight: Any = None, elapsed: Any = None,
        record: Sequence[str] = (), blocked: bool = False,
    ) -> Trace:  # fmt: skip
        """Predict, then learn, round by round over (T, n) features and T targets.

        ``blocked`` is for many features, and learners that can: see their ``run``.
        """
        with self._lock, self._counting(), self._closed():
            return self._run(x, y, weight, elapsed, record, blocked)

    def _run(
        self, x: Any, y: Any, weight: Any, elapsed: Any, record: Sequence[str],
        blocked: bool = False,
    ) -> Trace:  # fmt: skip
        features = self._features(checks.numbers("features", x))
        targets = checks.numbers("targets", y)
        block = Block(features, targets, weight, elapsed)
        state = self._now()
        if state is None:
            state = self._start(features, targets)
        if self.filling is None:
            state, trace = self.learner.run(state, self.loss, block, record, blocked)
        elif blocked:
            raise InvalidParameterError(
                f"The 'blocked' parameter must be False where missing is "
                f"{self.missing!r}. Got True instead."
            )
        else:
            state, trace, block = self._run_filled(state, block, record)
        quiet = _silence(self._silent_for(), np.asarray(block.x))
        self._open(state, self.rounds + len(block), quiet)
        return trace

    def _run_filled(
        self, state: Any, block: Block, record: Sequence[str]
    ) -> tuple[Any, Trace, Block]:
        checks.playable(without_gaps(block), self.loss, state.theta)
        filling = copy.deepcopy(self.filling)
        assert filling is not None
        filled, skipped = filling.fill(block)
        if isinstance(self.learner, Tracker):
            filled = _unlearnt(filled, skipped, block)
            played = self.learner.run(state, self.loss, filled, record)
        else:
            played = run_with_gaps(
                self.learner, state, self.loss, filled, skipped, record
            )
        self.filling = filling
        return *played, filled

    def health(self) -> Health:
        """What excites the model, what is known of each feature, what was refused."""
        with self._lock, self._closed():
            filling, state = self.filling, self._now()
            counts = (filling.skipped, filling.imputed) if filling else (0, 0)
            quiet = None if state is None else self._silent_for() + 0.0
            inside = matrix_health(state)
            return Health(self.rounds, self.refusals, *counts, quiet, *inside)

    def _silent_for(self) -> Any:
        return self._quiet if self._live is None else self._live.quiet

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; a failed write leaves the old file as it was."""
        if self.filling is not None:
            raise PersistenceError(
                f"A model with missing={self.missing!r} keeps means that no file holds "
                f"yet. Pickle it, or use missing='refuse'."
            )
        with self._lock, self._closed():
            extra = {"intercept": self.intercept, "rounds": self.rounds}
            saved = persistence.Saved(self.learner, self.loss, self._now(), extra)
        persistence.save(path, saved)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Online":
        """The model in a file, which continues to the last bit."""
        learner, loss, state, extra = persistence.load(path)
        if not isinstance(loss, LinearLoss) or not {"intercept", "rounds"} <= set(
            extra
        ):
            raise PersistenceError(f"{path} holds a learner, but no Online.")
        model = cls(learner, loss, extra["intercept"])
        model._open(state, int(extra["rounds"]), 0.0)
        return model

    def clone(self) -> "Online":
        """A copy that goes its own way."""
        return copy.deepcopy(self)

    def _question(self, x: Any) -> tuple[Any, FloatArray]:
        """The state to ask, and the features as it takes them."""
        features = self._features(checks.numbers("features", x)[None])
        state = self._now()
        if state is None:
            state = self._start(features, np.zeros(1))
        block = Block(features, np.zeros((1, *state.theta.shape[1:])))
        if self.filling is not None:
            checks.playable(without_gaps(block), self.loss, state.theta)
            block = Block(self.filling.question(features), block.y)
        return state, checks.playable(block, self.loss, state.theta).x[0]

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Count what is refused inside."""
        try:
            yield
        except ThalwegError:
            self.refusals += 1
            raise

    def _tracker(self, what: str) -> Tracker:
        if not isinstance(self.learner, Tracker):
            raise InvalidParameterError(
                f"Online.{what} is known of a Tracker. Got {self.learner!r} instead."
            )
        return self.learner

    def _open(self, state: Any, rounds: int, quiet: Any) -> None:
        """Go on from this state, in the form that single calls change in place."""
        live: Live | None = None
        if state is not None:  # first of all, since it may fail
            live = self.learner.live(state, self.loss, int(self.intercept))
        self._rounds = rounds  # learnt before those that ``_live`` counts
        self._quiet: Any = quiet  # (n,) rounds since each feature was last not zero
        self._live: Live | None = live
        self._state: Any = state
        self._memory: FloatArray = NO_MEMORY
        self._call: Any = _no_kernel
        self._learn: Any = _no_kernel
        if self._live is not None:
            self._state = None
            self._live.quiet[:] = quiet
            self._memory, self._call = self._live.memory, self._live.call
            if self.filling is None:
                self._learn = self._live.call

    def _now(self) -> Any:
        """The state, which does not change meanwhile: to be called when ``_closed``."""
        return self._state if self._live is None else self._live.state

    @contextmanager
    def _closed(self) -> Iterator[None]:
        """Single calls of other threads take the long way meanwhile, and wait there."""
        memory = self._memory
        memory[head.OPEN] = 0
        try:
            yield
        finally:
            # After a run there is another, open from the start; the old stays closed.
            if memory is self._memory and memory is not NO_MEMORY:
                memory[head.OPEN] = 1

    def _features(self, x: FloatArray) -> FloatArray:
        if x.ndim != 2:
            raise StreamError(
                f"Online needs one row of features a round. Got shape {x.shape}."
            )
        known = self._width()
        if known not in (None, x.shape[1]):
            raise StreamError(
                f"The model has learnt from {known} features a round. "
                f"Got {x.shape[1]} instead."
            )
        if not self.intercept:
            return x
        return np.column_stack([x, np.ones(len(x), x.dtype)])

    def _width(self) -> int | None:
        """How many features are given a round; None if not known yet."""
        if self._live is not None:
            return int(self._live.memory[head.GIVEN])
        return None if self._state is None else len(self._state.theta) - self.intercept

    def _start(self, x: FloatArray, y: FloatArray) -> Any:
        if y.ndim not in (1, 2):
            raise StreamError(
                f"Online needs one target a round, or a row of them. Got y of shape "
                f"{y.shape}."
            )
        return self.learner.init(np.zeros((x.shape[1], *y.shape[1:])))
