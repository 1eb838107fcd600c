"""The mixture of classifiers' probabilities with those of their baselines."""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.evaluation import class_baselines
from thalweg.kernels.tempered_mixture import tempered_mixture
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition
from thalweg.types import FloatArray

EXPONENTS = np.array([1.0, 0.5, 0.7, 1.4, 2.0])
"""Powers of the classifier's probabilities: below 1 for one that is too sure of itself,
above 1 for one that is not sure enough, as one model against the rest often is."""
TOLERANCE = 1e-6
"""The sum of weights may differ so much from 1, by rounding."""
CLASSIFIERS = 2
"""Those whose probabilities are mixed: without and with the last known class."""
EXPERTS = CLASSIFIERS * len(EXPONENTS) + len(class_baselines.NAMES)


SUM_IS_1 = Condition("abs(weights.sum() - 1) < TOLERANCE", "weights whose sum is 1")
FEW = Condition("len(waiting) <= delay", "at most as many rows as the delay")


class ClassMixtureSnapshot(NamedTuple):
    """The weights, and the rows whose labels are still to come."""

    weights: Annotated[FloatArray, Array((EXPERTS,), 0.0, 1.0), SUM_IS_1]  # (EXPERTS,)
    labels: int  # that were learnt
    # (≤ delay, EXPERTS) what the experts gave to a row's class
    waiting: Annotated[
        FloatArray, Array((None, EXPERTS), 0.0, 1.0, may_be_nan=True), FEW
    ]


class ClassMixture(Component):
    """Class probabilities mixed by Bayes' rule with a share, as experts.

    Also known as: Bayesian model averaging, temperature scaling. The experts are the
    probabilities of two classifiers to several powers, and the baselines: where
    features say nothing, the mixture is no worse than the baselines, and probabilities
    that are too bold or too timid are mended. Log loss is mixable at rate 1, so that
    after T labels the mixture has lost at most 1 + ln(13) + ln(T) more than any of its
    13 experts.
    """

    Snapshot: ClassVar[Any] = ClassMixtureSnapshot

    def __init__(self, delay: int) -> None:
        self.delay = delay
        self.weights: FloatArray = np.full(EXPERTS, 1 / EXPERTS)
        self.labels = 0
        self.waiting: FloatArray = np.empty((0, EXPERTS))

    def play(
        self, probability: FloatArray, baselines: FloatArray, number: FloatArray
    ) -> FloatArray:
        """(T, K) the mixed probabilities of the next rows.

        ``probability`` (T, 2, K) are the classifiers', ``baselines`` (T, B, K) others;
        ``number`` (T,) the row's class, NaN where none will come: it is learnt when it
        is due.
        """
        out, weights = np.empty(probability[:, 0].shape), self.weights.copy()
        own = np.vstack([self.waiting, np.empty((len(number), EXPERTS))])
        classes = np.nan_to_num(number, nan=-1.0).astype(np.int64)
        self.labels = tempered_mixture(
            weights, self.labels, EXPONENTS, np.ascontiguousarray(probability),
            np.ascontiguousarray(baselines), classes, own, self.delay, out,
        )  # fmt: skip
        self.weights = weights
        self.waiting = own[max(len(own) - self.delay, 0) :].copy()
        return out

    def favourite(self) -> int:
        """The classifier whose powers have the larger weight."""
        of_classifiers = self.weights[: CLASSIFIERS * len(EXPONENTS)]
        return int(of_classifiers.reshape(CLASSIFIERS, -1).sum(axis=1).argmax())
