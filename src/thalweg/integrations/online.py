"""The one mutable object: a learner that keeps its own state."""

import copy
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
from thalweg.learners import Learner, Tracker
from thalweg.losses import LinearLoss, SquaredError
from thalweg.types import Block, FloatArray, Trace

FLOAT64 = np.dtype(np.float64)


def _is_plain(x: Any, row: FloatArray) -> bool:
    """Whether x is what single calls take without a second look."""
    return type(x) is np.ndarray and x.dtype is FLOAT64 and x.shape == row.shape


def _are_floats(weight: Any, elapsed: Any) -> bool:
    return isinstance(weight, float) and isinstance(elapsed, float)


def _silence(quiet: Any, x: FloatArray) -> FloatArray:
    """Rounds since each feature was last not zero, after the rounds x."""
    heard = x != 0
    since = np.argmax(heard[::-1], axis=0)
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
        self.rounds = 0
        self.refusals = 0
        self._quiet: Any = 0.0  # (n,) rounds since each feature was last not zero
        self._lock = threading.RLock()
        self._state: Any = None
        self._live: Any = None  # a Live where the learner has one
        self._row: Any = None  # its x, less the constant feature
        self._one_target = self._quick = False

    def __getstate__(self) -> dict[str, Any]:
        kept = {key: part for key, part in vars(self).items() if key != "_lock"}
        quiet = self._silent_for() + 0.0
        return kept | {
            "_state": self.state,
            "_live": None,
            "_row": None,
            "_quiet": quiet,
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept, _lock=threading.RLock())
        if self._state is not None:
            self._keep(self._state)

    def __repr__(self) -> str:
        settings = f"{self.learner!r}, {self.loss!r}, intercept={self.intercept}"
        return f"Online({settings}, missing={self.missing!r})"

    @property
    def state(self) -> Any:
        """The learner's state now, a checkpoint; None before the first round."""
        with self._lock:
            return self._state if self._live is None else self._live.state

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
        with self._lock:
            live = self._live
            if interval is None and live is not None and _is_plain(x, self._row):
                self._row[:] = x
                if live.predict(live.memory):
                    return live.out[0] if self._one_target else live.out.copy()
            with self._counting():
                state, row = self._question(x)
                if interval is None:
                    return self.learner.predict(state, row)
                return self._tracker("predict(interval=...)").interval(
                    state, row, interval
                )

    def update(self, x: Any, y: Any, weight: float = 1.0, elapsed: float = 1.0) -> None:
        """Learn from one round: features ``x``, then the target ``y``."""
        with self._lock:
            live = self._live
            numbers = isinstance(y, float) and _are_floats(weight, elapsed)
            if self._quick and numbers and _is_plain(x, self._row):
                self._row[:] = x
                live.y[0], live.rates[0], live.rates[1] = y, weight, elapsed
                if live.update(live.memory):
                    self.rounds += 1
                    return
        # Anything unusual, and anything to be refused, goes the long way.
        with self._lock, self._counting():
            features = checks.numbers("features", x)
            target = checks.numbers("target", y)
            self._run(features[None], target[None], [weight], [elapsed], ())

    def run(
        self, x: Any, y: Any, weight: Any = None, elapsed: Any = None,
        record: Sequence[str] = (),
    ) -> Trace:  # fmt: skip
        """Predict, then learn, round by round over (T, n) features and T targets."""
        with self._lock, self._counting():
            return self._run(x, y, weight, elapsed, record)

    def _run(
        self, x: Any, y: Any, weight: Any, elapsed: Any, record: Sequence[str]
    ) -> Trace:
        features = self._features(checks.numbers("features", x))
        targets = checks.numbers("targets", y)
        block = Block(features, targets, weight, elapsed)
        state = self.state
        if state is None:
            state = self._start(features, targets)
        if self.filling is None:
            state, trace = self.learner.run(state, self.loss, block, record)
        else:
            state, trace, block = self._run_filled(state, block, record)
        self._quiet = _silence(self._silent_for(), np.asarray(block.x))
        self._keep(state)
        self.rounds += len(block)
        return trace

    def _run_filled(
        self, state: Any, block: Block, record: Sequence[str]
    ) -> tuple[Any, Trace, Block]:
        checks.playable(without_gaps(block), self.loss, state.theta)
        filling = copy.deepcopy(self.filling)
        assert filling is not None
        filled, skipped = filling.fill(block)
        played = run_with_gaps(self.learner, state, self.loss, filled, skipped, record)
        self.filling = filling
        return *played, filled

    def health(self) -> Health:
        """What excites the model, what is known of each feature, what was refused."""
        with self._lock:
            filling, state = self.filling, self.state
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
        with self._lock:
            extra = {"intercept": self.intercept, "rounds": self.rounds}
            saved = persistence.Saved(self.learner, self.loss, self.state, extra)
        persistence.save(path, saved)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Online":
        """The model in a file, which continues to the last bit."""
        learner, loss, state, extra = persistence.load(path)
        if not isinstance(loss, LinearLoss) or set(extra) != {"intercept", "rounds"}:
            raise PersistenceError(f"{path} holds a learner, but no Online.")
        model = cls(learner, loss, extra["intercept"])
        if state is not None:
            model._keep(state)
        model.rounds = int(extra["rounds"])
        return model

    def clone(self) -> "Online":
        """A copy that goes its own way."""
        return copy.deepcopy(self)

    def _question(self, x: Any) -> tuple[Any, FloatArray]:
        """The state to ask, and the features as it takes them."""
        features = self._features(checks.numbers("features", x)[None])
        state = self.state
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

    def _keep(self, state: Any) -> None:
        self._state, self._live = state, self.learner.live(state, self.loss)
        if self._live is not None:
            self._state, n = None, len(self._live.x)
            self._row = self._live.x[: n - self.intercept]
            self._live.x[n - self.intercept :] = 1.0
            self._live.quiet[:] = self._quiet
            self._one_target = len(self._live.y) == 1
            self._quick = self._one_target and self.filling is None

    def _features(self, x: FloatArray) -> FloatArray:
        if x.ndim != 2:
            raise StreamError(
                f"Online needs one row of features a round. Got shape {x.shape}."
            )
        point = getattr(self._live, "x", getattr(self._state, "theta", None))
        known = None if point is None else len(point) - self.intercept
        if known not in (None, x.shape[1]):
            raise StreamError(
                f"The model has learnt from {known} features a round. "
                f"Got {x.shape[1]} instead."
            )
        if not self.intercept:
            return x
        return np.column_stack([x, np.ones(len(x), x.dtype)])

    def _start(self, x: FloatArray, y: FloatArray) -> Any:
        if y.ndim not in (1, 2):
            raise StreamError(
                f"Online needs one target a round, or a row of them. Got y of shape "
                f"{y.shape}."
            )
        return self.learner.init(np.zeros((x.shape[1], *y.shape[1:])))
