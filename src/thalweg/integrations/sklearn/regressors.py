"""The regressors: an ``Online`` as scikit-learn needs it."""

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from thalweg.imputer import MissingPolicy
from thalweg.integrations.sklearn.estimator_inputs import (
    check_queries,
    check_rounds,
    check_weights,
    finite_rule,
    learn_rounds,
    usable_names,
)
from thalweg.learners import RecursiveLeastSquares, Tracker
from thalweg.models import Online
from thalweg.types import FloatArray


class OnlineRegressor(RegressorMixin, BaseEstimator, ABC):
    """A regressor whose rows come in the order of time.

    ``model_``, the ``Online`` that has learnt, is the fast path: its ``predict`` and
    ``update`` of a row take microseconds, where scikit-learn's validation of arguments
    takes a hundred or more. What it learns, the estimator knows.
    """

    missing: MissingPolicy
    model_: Online

    @abstractmethod
    def _new_model(self) -> Online:
        """The model before its first row, from the parameters as they are now."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in their order, once, forgetting any earlier fit."""
        weights = check_weights(self, sample_weight, allow_zeros=False)
        return self._learn(self._new_model(), X, y, weights)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from further rows; chunks give what one ``fit`` gives, bit for bit."""
        weights = check_weights(self, sample_weight, allow_zeros=True)
        model = self.model_ if hasattr(self, "model_") else self._new_model()
        return self._learn(model, X, y, weights)

    def _learn(self, model: Online, X: Any, y: Any, weights: Any) -> Self:
        is_first = model.rounds == 0
        rules = {"y_numeric": True, "multi_output": True}
        rows, targets = check_rounds(self, X, y, is_first, **rules)
        learn_rounds(model, rows, np.asarray(targets, np.float64), weights)
        names = usable_names(self)
        if is_first and names is not None:
            model.feature_names = names
        self.model_ = model
        return self

    def predict(self, X: Any, interval: float | None = None) -> Any:
        """The prediction at each row, (T,), or (T, k) of k targets.

        With ``interval``, say 0.9, three such arrays, ``mean, low, high``: y is
        expected between the last two that often, in the round after the last one that
        was learnt.
        """
        check_is_fitted(self, "model_")
        rows = check_queries(self, X)
        if len(rows) == 1 and interval is None:
            return np.array([self.model_.predict(rows[0])])  # one compiled call
        return self.model_.predict(rows, interval)

    @property
    def coef_(self) -> FloatArray:
        """The slope of the prediction, (n,), or (k, n) of k targets."""
        return self._theta()[: self.n_features_in_].T

    def _theta(self) -> FloatArray:
        """The model's θ, (n,) or (n, k), with the intercept in the last row if any."""
        # Not by name: a column of the user's may be called "intercept" as well.
        model = self.model_
        return np.array(model.learner.play(model.state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = finite_rule(self.missing) == "allow-nan"
        tags.target_tags.multi_output = True
        return tags


class RLSRegressor(OnlineRegressor):
    """Least squares in which a row ``k`` rows old weighs ``discount**k``.

    Also known as: exponentially weighted RLS, RLS with a forgetting factor, and, with
    ``discount=1``, ridge regression, which then also penalises the intercept.

    ``discount`` in (0, 1] is 0.99 where it is None; instead of it ``half_life`` or
    ``window`` = 1/(1-discount) may be given, in rows. ``ridge``, ``floor`` and
    ``leaky`` are those of ``thalweg.RecursiveLeastSquares``. ``fit_intercept`` appends
    a constant feature. ``missing`` says what a NaN among the features means:
    ``"refuse"``, ``"skip"`` or ``"impute"``, as for ``thalweg.Online``.

    y may have several columns, which share one covariance. ``coef_`` and ``intercept_``
    are the coefficients now. Weights above 1 count a row for more, as if repeated
    without any time in between.
    """

    def __init__(
        self, discount: float | None = None, ridge: float = 1.0,
        floor: float | None = None, leaky: bool = False, *,
        half_life: float | None = None, window: float | None = None,
        fit_intercept: bool = True, missing: MissingPolicy = "refuse",
    ) -> None:  # fmt: skip
        self.discount = discount
        self.ridge = ridge
        self.floor = floor
        self.leaky = leaky
        self.half_life = half_life
        self.window = window
        self.fit_intercept = fit_intercept
        self.missing = missing

    def _new_model(self) -> Online:
        given = {} if self.discount is None else {"discount": self.discount}
        learner = RecursiveLeastSquares(
            ridge=self.ridge, floor=self.floor, leaky=self.leaky,
            half_life=self.half_life, window=self.window, **given,
        )  # fmt: skip
        return Online(learner, intercept=self.fit_intercept, missing=self.missing)

    @property
    def intercept_(self) -> Any:
        """The prediction where all features are zero, a number or (k,)."""
        theta = self._theta()
        if self.model_.intercept:
            return theta[-1]
        return np.zeros(theta.shape[1:])[()]


class TrackerRegressor(OnlineRegressor):
    """The Tracker, which finds out by itself how fast to forget; nothing to choose.

    Features need no scaling, and there is no intercept to fit. By default it uses the
    features alone (``information="features"``), which is best where many rows are
    predicted after one fit, as in cross-validation. ``information="all"``, the default
    of ``thalweg.Tracker``, uses the last targets too, which is best where every
    prediction is for the next row. ``curvature=False`` leaves out the correction for
    curvature. ``missing`` says what a NaN among the features means: ``"refuse"``,
    ``"skip"`` or ``"impute"``, as for ``thalweg.Online``. ``random_state`` draws the
    hinges of the correction; a number is the Tracker's seed.

    y may have several columns, each with a Tracker of its own.

    ``coef_`` is the slope of the coming forecast without the correction, and
    ``intercept_`` the forecast where all features are zero: the forecast itself is not
    quite linear.
    """

    def __init__(
        self, information: str = "features", curvature: bool = True, *,
        missing: MissingPolicy = "refuse", random_state: Any = 0,
    ) -> None:  # fmt: skip
        self.information = information
        self.curvature = curvature
        self.missing = missing
        self.random_state = random_state

    def _new_model(self) -> Online:
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31)
        learner = Tracker(
            information=self.information, curvature=self.curvature, seed=int(seed)
        )
        return Online(learner, missing=self.missing)

    @property
    def intercept_(self) -> Any:
        """The forecast where all features are zero, a number or (k,)."""
        model = self.model_
        return model.predict(np.zeros(self.n_features_in_))
