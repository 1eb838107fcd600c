"""Regressors for River: a model, and the keys of its features."""

from typing import Any

import numpy as np
from river.base import MiniBatchRegressor
from river.utils import dataframe

from thalweg import discounts
from thalweg.domains import Ball
from thalweg.integrations.river.feature_rows import (
    UNREADABLE,
    FeatureRows,
    read_frame,
    with_places,
)
from thalweg.integrations.river.memory_usage import MemoryUsage
from thalweg.kernels.call_header import REFUSAL
from thalweg.learners import (
    DiscountedGradient,
    DiscountedNewton,
    Learner,
    RecursiveLeastSquares,
    Tracker,
)
from thalweg.models.inputs import NUMBERS
from thalweg.models.online import Online
from thalweg.types import Interval


class OnlineRegressor(MemoryUsage, MiniBatchRegressor):
    """What all regressors have in common: an ``Online`` model whose features come and
    go. A key that was never seen is added, a key that a row lacks counts as 0.
    """

    # Replaced as one, so that no Ctrl-C falls in between: a model has as many features
    # as its rows have places. (``vars(self).update`` would do that too, but from then
    # on every attribute takes twice as long to read.)
    _state: tuple[FeatureRows, Online]

    def _start(self, learner: Learner[Any], intercept: bool | None = None) -> None:
        """Start with a model that has learnt nothing."""
        online = Online(learner, intercept=intercept)
        # A learner that has an intercept of its own needs a feature besides.
        self._state = FeatureRows(least_width=int(not online.intercept)), online

    @property
    def model(self) -> Online:
        """The model, with positions for keys: ``health()``, ``save``, ``explain()``."""
        return self._state[1]

    @property
    def weights(self) -> dict[Any, float]:
        """The coefficient of each feature; of a Tracker the slope of its forecast."""
        rows, online = self._state
        theta, keys = online.coefficients, rows.keys
        if theta is None:
            return {}
        return dict(zip(keys, theta[: len(keys)].tolist(), strict=True))

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one row ``x`` with the target ``y`` and the weight ``w``."""
        rows, online = self._state
        # Spelt out, here and below: a call of ``rows.read`` would cost more, and so
        # would calls of attributes that are not bound to a name before.
        is_plain = type(x) is dict and type(y) in NUMBERS and type(w) in NUMBERS
        if is_plain and len(x) == rows.size:
            live, pack, get = online._live, rows.pack, rows.get
            learn = live.learn
            try:
                pack(*get(x))
                prediction = learn(live.buffer, rows.row, y, w, 1.0, True)
            except UNREADABLE:
                prediction = REFUSAL
            if prediction == prediction:
                return
        # Anything unusual, and anything to be refused, takes the checked path.
        rows, online = with_places(rows, online, x)
        online.update(rows.complete(x), y, w)
        self._state = rows, online

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The prediction at ``x``; 0.0 before any row. New keys are left out."""
        rows, online = self._state
        if type(x) is dict and len(x) == rows.size:
            live, pack, get = online._live, rows.pack, rows.get
            predict = live.predict
            try:
                pack(*get(x))
                prediction: float = predict(live.buffer, rows.row, 0.0, 1.0, 1.0, False)
            except UNREADABLE:
                prediction = REFUSAL
            if prediction == prediction:
                return prediction
        return float(online.predict(rows.complete(x)))

    def predict_interval_one(self, x: dict[Any, Any], level: float = 0.9) -> Interval:
        """An ``Interval(mean, low, high)`` in which y is expected as often as ``level``
        says; infinite before any error is known.
        """
        rows, online = self._state
        interval = online.predict(rows.complete(x), interval=level)
        return Interval(*map(float, interval))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn from the rows of a data frame, as ``learn_one`` of each would.

        ``y`` is a Series, ``w`` a weight for all rows or one for each. A row that is
        refused leaves the model as it was before all of them.
        """
        frame = dataframe.into_frame(X)
        if not len(frame):
            return
        keys, values = read_frame(frame)
        rows, online = with_places(*self._state, keys)
        weight = np.broadcast_to(np.asarray(w, np.float64), len(values))
        online.run(rows.arrange(keys, values), y, weight)
        self._state = rows, online

    def predict_many(self, X: Any) -> Any:
        """The predictions at the rows of a data frame: a Series of the same library."""
        frame = dataframe.into_frame(X)
        keys, values = read_frame(frame)
        rows, online = self._state
        x = rows.arrange(keys, values)
        predictions = online.predict(x) if len(x) else np.zeros(0)
        return dataframe.to_native_series(predictions, name="prediction", like=frame)


class TrackerRegressor(OnlineRegressor):
    """The Tracker for River: no step size, forgetting factor or scale to choose.

    A weighted mean of 76 experts that forget at different rates, weighed by how well
    they did of late (``thalweg.learners.Tracker``). Rows need no scaler before it.
    There can be 256 features, or as many as the first row has.

    Parameters
    ----------
    information
        ``"all"``, or ``"features"``: without earlier targets as features.
    curvature
        Whether to correct for what a linear model leaves over.
    seed
        Draws the random hinges of that correction.

    """

    def __init__(
        self, information: str = "all", curvature: bool = True, seed: int = 0
    ) -> None:
        self.information = information
        self.curvature = curvature
        self.seed = seed
        self._start(Tracker(information, curvature=curvature, seed=seed))

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {}
        yield {"curvature": False}


class RLSRegressor(OnlineRegressor):
    """Recursive least squares with a forgetting factor, for River.

    It stays finite where a feature is constant for long (covariance windup):
    ``thalweg.learners.RecursiveLeastSquares``. There can be 4,096 features, or as many
    as the first row has. A new one has a fresh prior.

    Parameters
    ----------
    discount
        The forgetting factor in (0, 1]: a row that is k rows old weighs discount**k.
    ridge
        How strongly coefficients are held to 0 at first. It is forgotten like the rest.
    floor
        A ridge that is not forgotten.
    leaky
        Whether the floor shrinks coefficients towards 0.
    half_life
        Instead of a discount: the age in rows at which a row weighs half.
    window
        Instead of a discount: 1 / (1 - discount), in rows.
    intercept
        Whether there is a constant feature.

    """

    def __init__(
        self, discount: float | None = discounts.DEFAULT, ridge: float = 1.0,
        floor: float | None = None, leaky: bool = False,
        half_life: float | None = None, window: float | None = None,
        intercept: bool = True,
    ) -> None:  # fmt: skip
        self.discount, self.half_life = discount, half_life
        self.window, self.ridge = window, ridge
        self.floor, self.leaky = floor, leaky
        self.intercept = intercept
        self._start(least_squares(self), intercept)


class NewtonRegressor(OnlineRegressor):
    """Newton steps on a discounted curvature, in a ball, for River.

    Algorithm 1 of Yuan & Lamperski (2020): ``thalweg.learners.DiscountedNewton``. With
    ``curvature="hessian"`` it is least squares whose coefficients stay in a ball. There
    can be 4,096 features, or as many as the first row has.

    Parameters
    ----------
    discount
        The forgetting factor in (0, 1].
    newton_step
        The size of a step.
    ridge
        The curvature before the first row, which is forgotten like the rest.
    curvature
        ``"hessian"`` for full Newton steps; ``"gradient"`` for quasi-Newton steps,
        which are the smaller the larger the errors are: scale targets before it.
    radius
        The largest norm of all coefficients together.
    intercept
        Whether there is a constant feature.

    """

    def __init__(
        self, discount: float = 0.99, newton_step: float = 1.0, ridge: float = 1.0,
        curvature: str = "hessian", radius: float = 1000.0, intercept: bool = True,
    ) -> None:  # fmt: skip
        self.discount, self.newton_step = discount, newton_step
        self.ridge, self.curvature = ridge, curvature
        self.radius, self.intercept = radius, intercept
        kind: Any = curvature
        learner = DiscountedNewton(discount, newton_step, ridge, kind, Ball(radius))
        self._start(learner, intercept)


class GradientRegressor(OnlineRegressor):
    """Gradient steps whose size does not fall to zero, in a ball, for River.

    Sections 3 to 5 of Yuan & Lamperski (2020): ``thalweg.learners.DiscountedGradient``.
    Rows need a scaler before it, as for every gradient method. There can be a million
    features.

    Parameters
    ----------
    discount
        The forgetting factor in (0, 1].
    rule
        How large steps are: ``"strongly_convex"``, ``"smooth"`` or ``"tracking"``.
    strong_convexity, smoothness
        The least and the largest curvature that the rule assumes.
    radius
        The largest norm of all coefficients together.
    intercept
        Whether there is a constant feature.

    """

    def __init__(
        self, discount: float = 0.99, rule: str = "strongly_convex",
        strong_convexity: float = 1.0, smoothness: float = 1.0, radius: float = 1000.0,
        intercept: bool = True,
    ) -> None:  # fmt: skip
        self.discount, self.rule = discount, rule
        self.strong_convexity, self.smoothness = strong_convexity, smoothness
        self.radius, self.intercept = radius, intercept
        kind: Any = rule
        learner = DiscountedGradient(
            discount, kind, strong_convexity, smoothness, Ball(radius)
        )
        self._start(learner, intercept)


def least_squares(settings: Any) -> RecursiveLeastSquares:
    """The learner of an estimator with these settings.

    Where it has a half-life or a window, its discount becomes None: a clone receives
    both, and could not be distinguished from one that was given a discount.
    """
    discount, half_life, window = settings.discount, settings.half_life, settings.window
    if discount is None:
        discount = discounts.DEFAULT
    learner = RecursiveLeastSquares(
        discount, settings.ridge, settings.floor, settings.leaky,
        half_life=half_life, window=window,
    )  # fmt: skip
    if half_life is not None or window is not None:
        settings.discount = None
    return learner
