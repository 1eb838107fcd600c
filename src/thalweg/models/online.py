"""``Online``, the one mutable object: a learner together with its state."""

import copy
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg import checks, learners, models
from thalweg.errors import InvalidParameterError, StreamError, UnsupportedLossError
from thalweg.imputer import (
    POLICIES,
    POLICY_RULES,
    Imputer,
    ImputerState,
    MissingPolicy,
)
from thalweg.kernels.call_header import REFUSAL
from thalweg.learners.base import Learner, LiveBuffer
from thalweg.learners.finiteness import require_finite_prediction
from thalweg.losses import LinearLoss, SquaredError
from thalweg.models import late_labels
from thalweg.models.clock import measure_elapsed
from thalweg.models.delayed_labels import DueLabels
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
    NUMBERS,
    as_features,
    as_number,
    as_queries,
    as_query_rows,
    as_rounds,
    as_row,
    initial_state,
)
from thalweg.models.live_state import (
    LiveState,
    ModelSettings,
    ModelSnapshot,
    Suspension,
    copy_mapped_arrays,
)
from thalweg.models.model_features import (
    Features,
    by_name,
    with_features,
    with_names,
    without_features,
)
from thalweg.models.model_lock import ModelLock
from thalweg.models.named_rows import (
    as_targets,
    is_frame,
    like_frame,
    played_index,
    read_chunk,
    target_names,
)
from thalweg.models.waiting_rows import Key, Ticket, TicketCounts
from thalweg.types import FloatArray, Trace

if TYPE_CHECKING:
    from thalweg.learners import Tracker
    from thalweg.models.columns import Columns
    from thalweg.models.model_file import ModelFileContents
    from thalweg.tables import Recipe

MAX_WAITING: int = ModelSettings._field_defaults["max_waiting"]
ARRAY, FLOAT64 = np.ndarray, np.dtype(np.float64)


class Online:
    """A model to call round by round, or on whole arrays: the result is the same.

    >>> model = Online()
    >>> model.update([1.0, 2.0], 3.0)
    >>> float(model.predict([1.0, 2.0]))  # doctest: +SKIP

    ``learner`` is any learner, by default the Tracker, which has nothing to choose;
    ``loss`` any loss of a linear prediction that it takes. ``intercept`` appends a
    constant feature 1; None does so unless the learner has a level of its own, as
    Trackers have. The number of features is that of the first round learnt. θ starts at
    zero, or at ``start``, the intercept last. A round that is refused leaves the model
    as it was.

    Rows are arrays, dicts, Series or data frames (pandas, polars, pyarrow, DuckDB). A
    model that was given names knows its features by them (``feature_names``): columns
    may come in any order, and those missing or unknown are named. Text becomes one-hot;
    a recipe in ``run`` adds lags and a calendar.

    ``missing`` says what a NaN means, such as ``"refuse"`` it; ``"skip"``: predict with
    the feature's mean so far, and learn nothing from the round; ``"impute"``: learn
    from the mean as well (all are in ``imputer.POLICY_RULES``). Rounds without a target
    are predicted and not learnt from. Threads may share a model: calls wait for each
    other.

    Where labels come late, ``ask`` and ``tell`` take the place of ``predict`` and
    ``update``; at most ``max_waiting`` rows wait.
    """

    max_waiting = MAX_WAITING  # of models that were pickled without it

    def __init__(
        self,
        learner: Learner[Any] | None = None,
        loss: LinearLoss | None = None,
        intercept: bool | None = None,
        missing: MissingPolicy = "refuse",
        start: Any = None,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self.learner = learners.Tracker() if learner is None else learner
        self.loss = SquaredError() if loss is None else loss
        checks.require_type(self, "learner", Learner)
        has_level = self.learner.has_own_intercept
        self.intercept = not has_level if intercept is None else intercept
        checks.require_choice(self, "intercept", (False, True))
        if not isinstance(self.loss, LinearLoss):
            raise UnsupportedLossError(
                f"Online needs a loss of a linear prediction. Got {loss!r} instead."
            )
        self.learner.check_loss(self.loss)
        self.missing = missing
        checks.require_choice(self, "missing", POLICIES)
        self.start = None if start is None else self._as_start(start)
        self.max_waiting = max_waiting
        checks.require_type(self, "max_waiting", int)
        checks.require_interval(self, "max_waiting", "[1, inf)")
        self.refusals = 0
        self._lock = ModelLock()
        accepts = POLICY_RULES[missing].accepts
        self._open(ModelSnapshot(imputer=ImputerState.initial() if accepts else None))

    def __getstate__(self) -> dict[str, Any]:
        with self._suspend() as live:
            settings = {key: vars(self)[key] for key in vars(self) if key[0] != "_"}
            return settings | {"_snapshot": live.frozen_snapshot()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        settings, snapshot = pickled.copy(), pickled["_snapshot"]
        del settings["_snapshot"]
        vars(self).update(settings, _lock=ModelLock())
        self._open(copy_mapped_arrays(snapshot))

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
        """The number of rounds learnt, or skipped by policy."""
        return self._live.count_rounds()

    @property
    def imputer(self) -> Imputer | None:
        """The imputer, which completes rows; None where missing values are refused."""
        with self._suspend() as live:
            return live.imputer

    def _live_buffer(self) -> LiveBuffer | None:
        """The raw path: one compiled function and the buffer that it changes.

        Private, for measurements and tests: x must be a float64 array of one axis and
        all else a float, which is not checked, and other types may end the process. The
        caller has to test for REFUSAL (kernels/call_header.py). Weight and time are 1.0
        here::

            live = model._live_buffer()
            prediction = live.call(live.buffer, x, 0.0, 1.0, 1.0, False)  # predict
            live.call(live.buffer, x, y, 1.0, 1.0, True)  # learn

        Of k targets y is a float64 array, to which predictions are written.
        None where the learner has none, and before the first round. It is the model's
        own state: other calls see what it has learnt. After a ``run``, or an ``update``
        that took the checked path, get it again: the old one refuses.
        """
        accepts = POLICY_RULES[self.missing].accepts
        return None if accepts else self._live.live_buffer()

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The name of each feature, without a constant one; None: they have no names.

        May be set, for a model that has learnt from arrays.
        """
        columns = self._live.columns
        return None if columns is None else columns.names

    @feature_names.setter
    def feature_names(self, names: Sequence[str]) -> None:
        with self._suspend() as live:
            self._open(with_names(self._settings(), live.snapshot(), names))

    @property
    def coefficients(self) -> Any:
        """θ, the intercept last; None before the first round or where there is no θ.

        A dict by name where the model knows its features' names ("(intercept)" where
        a feature is called "intercept"). Of a Tracker it is the slope of its forecast.
        """
        with self._suspend() as live:
            state, columns = live.copy_state(), live.columns
        pointless = not (
            self.learner.plays_points or isinstance(self.learner, learners.Tracker)
        )
        if state is None or pointless:
            return None
        theta = self.learner.play(state).copy()
        return theta if columns is None else by_name(columns, theta)

    @property
    def memory(self) -> Any:
        """The number of past rounds that count now; only of a Tracker, 0 at first.

        Of several targets an array.
        """
        tracker, state = self._tracker("memory"), self.state
        return 0.0 if state is None else tracker.memory(state)

    def explain(self) -> str:
        """A description of the model's present state in words; of a Tracker only."""
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
        error is known, and too narrow while few are: of 2, 4, 6, 8 rows of noise one of
        90 % held 22, 58, 70 and 82 %, from 15 rows on 88 %. Where first errors were far
        larger than later ones, as with a large offset, it covers less than it says for
        some hundreds of rounds. That of a Tracker grows with the rounds passed since
        the last label; rows asked together are all at the distance of the next round.

        Of rows (T, n) or a data frame it predicts each from the model as it is, as T
        calls would: (T,) or a Series of the same library; with ``interval``, arrays in
        an ``Interval`` or a data frame.
        """
        if type(x) is not ARRAY:
            x = as_row(x, self._live.columns)
        # Spelt out, here and below: a function of its own would cost more than it does.
        if type(x) is ARRAY and x.dtype is FLOAT64 and x.ndim == 1 and interval is None:
            live = self._live
            prediction = live.predict(live.buffer, x, 0.0, 1.0, 1.0, False)
            if prediction == prediction:  # else it is a REFUSAL
                return prediction
            if live.targets and (predictions := live.predict_targets(x)) is not None:
                return predictions
        # Anything unusual, and anything to be refused, takes the checked path.
        chunk = read_chunk(x)
        with self._suspend() as live:
            if chunk is None:
                rows = as_query_rows(x)
                has_rows = np.ndim(x) == 2
            else:
                rows = models.named_rounds.encode_queries(live, self.missing, chunk)
                has_rows = is_frame(x)
            state, features = as_queries(self._settings(), live, rows)
            if not has_rows:
                return self._predict(live, state, features[0], interval)
            predictions = self._predict(live, state, features, interval)
            if chunk is None:
                return predictions
            return like_frame(x, predictions, target_names(live.columns))

    def _predict(
        self, live: LiveState, state: Any, x: FloatArray, interval: float | None
    ) -> Any:
        """The prediction at x (n,), or those at x (T, n)."""
        learner, has_rows = self.learner, x.ndim == 2
        if interval is not None:
            checks.require_argument("a prediction", "interval", interval, "(0, 1)")
        if interval is not None and isinstance(learner, learners.Tracker):
            find_interval = learner.interval_rows if has_rows else learner.interval
            return find_interval(state, x, interval)
        predict = learner.predict_rows if has_rows else learner.predict
        prediction = require_finite_prediction(learner, predict(state, x))
        if interval is None:
            return self.loss.mean(prediction)
        require_errors("Online.predict(interval=...)", learner, self.loss)
        return interval_at(prediction, live.copy_errors(), interval)

    def update(self, x: Any, y: Any, weight: float = 1.0, elapsed: float = 1.0) -> None:
        """Learn from one round: features ``x``, then the target ``y``, or a row of k.

        With k targets the first round decides how many they are. ``elapsed`` is the
        time since the round before, in rounds; a ``timedelta`` or a time stamp counts
        in units of the first time between two rounds.
        """
        if type(x) is not ARRAY:
            x = as_row(x, self._live.columns)
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
        chunk = read_chunk(x)
        with self._suspend(to_learn=True) as live:
            if live.waiting.line:
                late_labels.require_no_waiting(live, "Online.update")
            is_first = is_plain and live.count_features() is None
            if is_first and self._learn_first_round(live, x, y, weight, elapsed):
                return
            target, columns = checks.check_numbers("target", y)[None], live.columns
            if chunk is None:
                features = as_features(x)
            else:
                rounds = models.named_rounds.encode_rounds(
                    live, self.missing, chunk, target, None, None, self.learner
                )
                columns, features, target = rounds
                if len(chunk) > 1:
                    raise StreamError(
                        f"Online.update learns one row, Online.run several. Got "
                        f"{len(chunk)} rows."
                    )
                if not len(features):  # lags lack a past
                    self._open(live.snapshot()._replace(columns=columns))
                    return
            self._run(live, columns, features, target, [weight], [elapsed])

    def run(
        self, x: Any, y: Any = None, weight: Any = None, elapsed: Any = None,
        record: Sequence[str] = (), blocked: bool = False, *, target: Any = None,
        recipe: "Recipe | None" = None,
    ) -> Trace:  # fmt: skip
        """Predict, then learn, round by round over (T, n) features and T targets.

        Of a data frame, ``target`` names the column of targets (or several); ``recipe``
        says the rest: lags, a calendar, which columns. It means what it means for
        ``thalweg run`` on a file, and rows without the past that lags need are dropped.
        ``record=("interval",)`` puts the low and high ends of 90 % intervals into
        ``trace.extras["interval"]``, (T, 2), or (T, k, 2) of k targets.
        ``elapsed`` may be the name of a column, of times or numbers.
        ``blocked`` is for many features, and learners that can: see their ``run``.
        """
        chunk, frame = read_chunk(x), x
        if chunk is None and (target is not None or recipe is not None or y is None):
            raise StreamError(
                "Online.run needs targets y, or a data frame with columns to take them "
                f"from. Got x of type {type(x).__name__} and y={y!r:.80}."
            )
        with self._suspend(to_learn=True) as live:
            if live.waiting.line:
                late_labels.require_no_waiting(live, "Online.run")
            if chunk is None:
                rounds: Any = (live.columns, x, as_targets(y))
            else:
                rounds = models.named_rounds.encode_rounds(
                    live, self.missing, chunk, y, target, recipe, self.learner
                )
            columns, x, y = rounds
            if chunk is not None and isinstance(elapsed, str):
                times = models.named_rounds.time_column(chunk, elapsed)
                elapsed = times[len(chunk) - len(x) :]
            trace = self._run(live, columns, x, y, weight, elapsed, record, blocked)
        if chunk is None or not is_frame(frame):
            return trace
        return replace(trace, index=played_index(frame, len(trace.loss)))

    def _run(
        self, live: LiveState, columns: "Columns | None", x: Any, y: Any, weight: Any,
        elapsed: Any, record: Sequence[str] = (), blocked: bool = False,
    ) -> Trace:  # fmt: skip
        settings = self._settings()
        elapsed, clock = measure_elapsed(live.clock, elapsed)
        state, block = as_rounds(settings, live, columns, x, y, weight, elapsed)
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
        self._open(
            ModelSnapshot(
                state, rounds, unexcited, means, errors, columns, clock, live.waiting
            )
        )
        mean, targets = self.loss.mean(trace.prediction), target_names(columns)
        return replace(trace, prediction=mean, targets=targets)

    def _run_delayed(self, x: FloatArray, due: DueLabels, y: FloatArray) -> FloatArray:
        """``run`` of a ``LogisticTracker`` where labels come late: predictions at x.

        After each row the one that is ``due`` is learnt, with the label y (T,).
        """
        learner: Any = self.learner
        with self._suspend(to_learn=True) as live:
            snapshot, learnable = live.snapshot(), due.learnable
            state, log_odds = learner.run_delayed(
                snapshot.state, x, due.x, y, learnable, due.elapsed
            )
            rounds = snapshot.rounds + int(learnable.sum())
            self._open(snapshot._replace(state=state, rounds=rounds))
            return np.asarray(self.loss.mean(log_odds))

    def ask(self, x: Any, key: Any = None, interval: float | None = None) -> Ticket:
        """The prediction at ``x``, whose label comes later: ``tell``.

        The ticket holds the ``prediction`` (with ``interval``, the ``Interval`` too)
        and the ``key`` by which to tell the label: a string or an integer, or None for
        the number of rows asked for so far. Rows that wait are saved with the model.
        Where ``max_waiting`` wait (and as many more as the delay of a Tracker), the
        oldest is given up; ``ticket_counts`` counts those.
        """
        return late_labels.ask(self, x, key, interval)

    def tell(self, y: Any, key: Any = None, weight: float = 1.0) -> None:
        """Bring the label ``y`` of the oldest row that waits, or of that of ``key``.

        None says that it will never come: nothing is learnt, but time passes.

        A label is learnt when it comes, as ``update`` would, in the order in which
        labels come. A Tracker with a delay of d learns in the order of rows: each
        label when d more rows were asked for, so that labels which come in time, in
        whatever order, give its ``run``, to the last bit. One that comes later is
        waited for until a later row's is due and known: then the row is given up.
        """
        late_labels.tell(self, y, key, weight)

    @property
    def waiting(self) -> tuple[Key, ...]:
        """The keys of the rows that wait for their labels, oldest first."""
        with self._suspend() as live:
            return tuple(live.settled_waiting().rows)

    @property
    def ticket_counts(self) -> TicketCounts:
        """The numbers of rows asked for, answered, given up, and waiting."""
        with self._suspend() as live:
            return live.settled_waiting().counts()

    def add_features(self, features: Features) -> None:
        """Make room for features that come later; their coefficients begin at 0.

        ``features`` are names; of a model without names, the positions that they will
        have. See ``add_features`` of the learner for what that means exactly.
        """
        with self._suspend(to_learn=True) as live:
            self._open(with_features(self._settings(), live.snapshot(), features))

    def remove_features(self, features: Features) -> None:
        """Drop features, by name or position: as if they were 0 from now on."""
        with self._suspend(to_learn=True) as live:
            self._open(without_features(self._settings(), live.snapshot(), features))

    def _learn_first_round(
        self, empty: LiveState, x: FloatArray, y: float, weight: float, elapsed: float
    ) -> bool:
        """Learn in a new live state, so that only one is made; False where refused."""
        row = np.zeros((1, len(x) + self.intercept))
        state = initial_state(self._settings(), row, np.zeros(1))
        snapshot = empty.snapshot()._replace(state=state)
        live = LiveState(self._settings(), snapshot, self._lock)
        prediction = live.learn_alone(live.buffer, x, y, weight, elapsed, True)
        is_learnt = bool(prediction == prediction)  # else it is a REFUSAL
        if is_learnt:
            self._live = live
        return is_learnt

    def health(self) -> Health:
        """Excitation of the model, information on each feature, and refusals."""
        with self._suspend() as live:
            return measure_health(self.learner, live.snapshot(), self.refusals)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; a failed write leaves the old file as it was."""
        models.model_file.write_model(path, self._file_contents())

    def _file_contents(self) -> "ModelFileContents":
        with self._suspend() as live:
            snapshot = live.frozen_snapshot()
            return models.model_file.ModelFileContents(
                self._settings(), snapshot, self.refusals
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Online":
        """The model in a file, which continues to the last bit."""
        return cls._from_file_contents(models.model_file.read_model(path))

    @classmethod
    def _from_file_contents(cls, contents: "ModelFileContents") -> "Online":
        settings, snapshot, refusals = contents
        model = cls(*settings)
        model.refusals = refusals
        model._open(snapshot)
        return model

    def clone(self) -> "Online":
        """An independent copy."""
        return copy.deepcopy(self)

    def _as_start(self, start: Any) -> FloatArray:
        """``start``, where the learner begins with a point."""
        if not self.learner.plays_points:
            raise InvalidParameterError(
                f"The 'start' parameter of Online is a point θ, with which "
                f"{type(self.learner).__name__} does not begin."
            )
        return checks.check_start(self, start)

    def _tracker(self, what: str) -> "Tracker":
        if not isinstance(self.learner, learners.Tracker):
            raise InvalidParameterError(
                f"Online.{what} is known of a Tracker. Got {self.learner!r} instead."
            )
        return self.learner

    def _settings(self) -> ModelSettings:
        return ModelSettings(
            self.learner, self.loss, self.intercept, self.missing, self.start,
            self.max_waiting,
        )  # fmt: skip

    def _open(self, snapshot: ModelSnapshot) -> None:
        """Go on from a snapshot; all at once, so that no Ctrl-C falls in between."""
        self._live = LiveState(self._settings(), snapshot, self._lock)

    def _suspend(self, to_learn: bool = False) -> Suspension:
        """``with self._suspend() as live``: the live state, for one thread."""
        return Suspension(self, to_learn)
