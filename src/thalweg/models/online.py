"""``Online``, the one mutable object: a learner together with its state."""

import copy
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.kernels.call_header import REFUSAL
from thalweg.learners import Learner, Tracker
from thalweg.learners.base import LiveBuffer
from thalweg.learners.finiteness import require_finite_prediction
from thalweg.losses import LinearLoss, SquaredError
from thalweg.models.error_intervals import (
    LearntRounds,
    interval_at,
    require_errors,
    separate_interval,
    stores_errors,
    with_intervals,
)
from thalweg.models.health import Health, measure_health
from thalweg.models.imputed_run import run_with_missing
from thalweg.models.inputs import (
    as_features,
    as_number,
    as_prediction_request,
    as_rounds,
    as_row,
)
from thalweg.models.live_state import LiveState, ModelSettings, ModelSnapshot
from thalweg.models.model_file import ModelFileContents, read_model, write_model
from thalweg.models.model_lock import ModelLock
from thalweg.models.suspension import Suspension
from thalweg.preprocessing.imputer import (
    POLICIES,
    POLICY_RULES,
    Imputer,
    ImputerState,
    MissingPolicy,
)
from thalweg.types import FloatArray, Trace

ARRAY, FLOAT64 = np.ndarray, np.dtype(np.float64)
NUMBERS = frozenset({bool, int, float, *(np.dtype(k).type for k in "?bhilqBHILQefd")})
"""Types that kernels may be given for a number: they would read text as one too."""


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
        missing: MissingPolicy = "refuse",
    ) -> None:
        self.learner = Tracker() if learner is None else learner
        self.loss = SquaredError() if loss is None else loss
        self.intercept = intercept
        checks.require_type(self, "learner", Learner)
        checks.require_choice(self, "intercept", (False, True))
        if not isinstance(self.loss, LinearLoss):
            raise UnsupportedLossError(
                f"Online needs a loss of a linear prediction. Got {loss!r} instead."
            )
        self.learner.check_loss(self.loss)
        self.missing = missing
        checks.require_choice(self, "missing", POLICIES)
        self.refusals = 0
        self._lock = ModelLock()
        accepts = POLICY_RULES[missing].accepts
        self._open(ModelSnapshot(imputer=ImputerState.initial() if accepts else None))

    def __getstate__(self) -> dict[str, Any]:
        with self._suspend() as live:
            settings = {key: vars(self)[key] for key in vars(self) if key[0] != "_"}
            return settings | {"_snapshot": live.snapshot()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        settings, snapshot = pickled.copy(), pickled["_snapshot"]
        del settings["_snapshot"]
        vars(self).update(settings, _lock=ModelLock())
        self._open(snapshot)

    def __repr__(self) -> str:
        settings = f"{self.learner!r}, {self.loss!r}, intercept={self.intercept}"
        return f"Online({settings}, missing={self.missing!r})"

    @property
    def state(self) -> Any:
        """A copy of the learner's state; None before the first round."""
        with self._suspend() as live:
            return live.copy_state()

    @property
    def rounds(self) -> int:
        """How many rounds were learnt, or skipped by policy."""
        return self._live.count_rounds()

    @property
    def imputer(self) -> Imputer | None:
        """What completes rows with missing values; None where they are refused."""
        with self._suspend() as live:
            return live.imputer

    def _live_buffer(self) -> LiveBuffer | None:
        """The raw path: one compiled function and the buffer that it changes.

        Private, for measurements and tests: nobody checks that x is a float64 array of
        one axis and all else a float, and any other may end the process; REFUSAL is to
        be looked for as well (kernels/call_header.py). Weight and time are 1.0 here::

            live = model._live_buffer()
            prediction = live.call(live.buffer, x, 0.0, 1.0, 1.0, False)  # predict
            live.call(live.buffer, x, y, 1.0, 1.0, True)  # learn

        Of k targets y is a float64 array, to which predictions are written.
        None where the learner has none, and before the first round. It is the model's
        own state: other calls see what it has learnt. After a ``run``, or an ``update``
        that took the checked path, ask for it anew: the old one refuses.
        """
        accepts = POLICY_RULES[self.missing].accepts
        return None if accepts else self._live.live_buffer()

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
        tracker, state = self._tracker("memory"), self.state
        return 0.0 if state is None else tracker.memory(state)

    def explain(self) -> str:
        """What the model does now, in words; of a Tracker only."""
        tracker, state = self._tracker("explain"), self.state
        return tracker.explain(tracker.init(np.zeros(1)) if state is None else state)

    def predict(self, x: Any, interval: float | None = None) -> Any:
        """The prediction of y at the features ``x``; 0 before any round.

        It is the expected label: of ``Logistic`` the probability of the label 1, which
        is 0.5 before any round. Of a model that has learnt k targets a round it is a
        new array, (k,).

        With ``interval``, say 0.9, an ``Interval(mean, low, high)`` in which y is
        expected that often, for squared error: that of a Tracker, or made of the
        model's last 512 errors (kernels/error_intervals.py). It is infinite before any
        error is known, and takes some tens of rounds to be trusted.
        """
        if type(x) is not ARRAY:
            x = as_row(x)
        # Spelt out, here and below: a function of its own would cost more than it does.
        if type(x) is ARRAY and x.dtype is FLOAT64 and x.ndim == 1 and interval is None:
            live = self._live
            prediction = live.predict(live.buffer, x, 0.0, 1.0, 1.0, False)
            if prediction == prediction:  # else it is a REFUSAL
                return prediction
            if live.targets and (predictions := live.predict_targets(x)) is not None:
                return predictions
        # Anything unusual, and anything to be refused, takes the checked path.
        with self._suspend() as live:
            state, features = self._as_prediction_request(live, x)
            if interval is not None and isinstance(self.learner, Tracker):
                return self.learner.interval(state, features, interval)
            prediction = self.learner.predict(state, features)
            require_finite_prediction(self.learner, prediction)
            if interval is None:
                return self.loss.mean(prediction)
            require_errors("Online.predict(interval=...)", self.learner, self.loss)
            return interval_at(prediction, live.copy_errors(), interval)

    def update(self, x: Any, y: Any, weight: float = 1.0, elapsed: float = 1.0) -> None:
        """Learn from one round: features ``x``, then the target ``y``, or a row of k.

        With k targets the first round decides how many they are.
        """
        if type(x) is not ARRAY:
            x = as_row(x)
        is_row = type(x) is ARRAY and x.dtype is FLOAT64 and x.ndim == 1
        are_rates = type(weight) in NUMBERS and type(elapsed) in NUMBERS
        is_plain = is_row and are_rates and type(y) in NUMBERS
        if is_plain:
            live = self._live
            try:
                prediction = live.learn(live.buffer, x, y, weight, elapsed, True)
            except (TypeError, OverflowError):  # an int beyond float64
                prediction = REFUSAL
            if prediction == prediction:
                return
        elif is_row and are_rates and self._live.targets:
            if self._live.learn_targets(x, as_row(y), weight, elapsed):
                return
        # Anything unusual, and anything to be refused, takes the checked path.
        y, weight, elapsed = map(as_number, (y, weight, elapsed))
        with self._suspend(to_learn=True) as live:
            is_first = is_plain and live.count_features() is None
            if is_first and self._learn_first_round(live, x, y, weight, elapsed):
                return
            features = as_features(x)
            target = checks.check_numbers("target", y)[None]
            self._run(live, features, target, [weight], [elapsed])

    def run(
        self, x: Any, y: Any, weight: Any = None, elapsed: Any = None,
        record: Sequence[str] = (), blocked: bool = False,
    ) -> Trace:  # fmt: skip
        """Predict, then learn, round by round over (T, n) features and T targets.

        ``record=("interval",)`` puts the low and high ends of 90 % intervals into
        ``trace.extras["interval"]``, (T, 2), or (T, k, 2) of k targets.
        ``blocked`` is for many features, and learners that can: see their ``run``.
        """
        with self._suspend(to_learn=True) as live:
            return self._run(live, x, y, weight, elapsed, record, blocked)

    def _run(
        self, live: LiveState, x: Any, y: Any, weight: Any, elapsed: Any,
        record: Sequence[str] = (), blocked: bool = False,
    ) -> Trace:  # fmt: skip
        given = (x, y, weight, elapsed)
        state, block = as_rounds(self.learner, live, self.intercept, *given)
        imputer, learnable, errors = live.imputer, None, live.copy_errors()
        names, has_interval = separate_interval(self.learner, self.loss, record)
        if imputer is None:
            state, trace = self.learner.run(state, self.loss, block, names, blocked)
        else:
            state, trace, block, imputer, learnable = run_with_missing(
                self.learner, state, self.loss, block, imputer, names, blocked
            )
        if stores_errors(self.learner, self.loss):
            learnt = LearntRounds(block, trace.prediction, learnable)
            trace = with_intervals(trace, learnt, errors) if has_interval else trace
            errors = learnt.errors_after(errors)
        unexcited = live.unexcited_rounds_after(np.asarray(block.x))
        rounds = live.count_rounds() + len(block)
        means = None if imputer is None else imputer.state
        self._open(ModelSnapshot(state, rounds, unexcited, means, errors))
        return replace(trace, prediction=self.loss.mean(trace.prediction))

    def _learn_first_round(
        self, empty: LiveState, x: FloatArray, y: float, weight: float, elapsed: float
    ) -> bool:
        """Learn in a new live state, so that only one is made; False where refused."""
        state = self.learner.init(np.zeros(len(x) + self.intercept))
        snapshot = empty.snapshot()._replace(state=state)
        live = LiveState(self._settings(), snapshot, self._lock)
        prediction = live.learn_alone(live.buffer, x, y, weight, elapsed, True)
        is_learnt = bool(prediction == prediction)  # else it is a REFUSAL
        if is_learnt:
            self._live = live
        return is_learnt

    def health(self) -> Health:
        """What excites the model, what is known of each feature, what was refused."""
        with self._suspend() as live:
            return measure_health(self.learner, live.snapshot(), self.refusals)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; a failed write leaves the old file as it was."""
        write_model(path, self._file_contents())

    def _file_contents(self) -> ModelFileContents:
        with self._suspend() as live:
            return ModelFileContents(self._settings(), live.snapshot(), self.refusals)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Online":
        """The model in a file, which continues to the last bit."""
        return cls._from_file_contents(read_model(path))

    @classmethod
    def _from_file_contents(cls, contents: ModelFileContents) -> "Online":
        settings, snapshot, refusals = contents
        model = cls(*settings)
        model.refusals = refusals
        model._open(snapshot)
        return model

    def clone(self) -> "Online":
        """A copy that goes its own way."""
        return copy.deepcopy(self)

    def _as_prediction_request(self, live: LiveState, x: Any) -> tuple[Any, FloatArray]:
        return as_prediction_request(self.learner, live, self.intercept, x, self.loss)

    def _tracker(self, what: str) -> Tracker:
        if not isinstance(self.learner, Tracker):
            raise InvalidParameterError(
                f"Online.{what} is known of a Tracker. Got {self.learner!r} instead."
            )
        return self.learner

    def _settings(self) -> ModelSettings:
        return ModelSettings(self.learner, self.loss, self.intercept, self.missing)

    def _open(self, snapshot: ModelSnapshot) -> None:
        """Go on from a snapshot; all at once, so that no Ctrl-C falls in between."""
        self._live = LiveState(self._settings(), snapshot, self._lock)

    def _suspend(self, to_learn: bool = False) -> Suspension:
        """``with self._suspend() as live``: the live state, for one thread."""
        return Suspension(self, to_learn)
