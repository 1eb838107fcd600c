"""``TrackerRegressor``: the Tracker for scikit-learn."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from thalweg.integrations.sklearn.online_regressor import OnlineRegressor
from thalweg.learners import Tracker
from thalweg.models import Online
from thalweg.preprocessing.imputer import MissingPolicy


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
