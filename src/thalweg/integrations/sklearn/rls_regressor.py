"""``RLSRegressor``: recursive least squares for scikit-learn."""

from typing import Any

import numpy as np

from thalweg.integrations.sklearn.online_regressor import OnlineRegressor
from thalweg.learners import RecursiveLeastSquares
from thalweg.models import Online
from thalweg.preprocessing.imputer import MissingPolicy


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
