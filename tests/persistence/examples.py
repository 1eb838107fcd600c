"""Models to save: every learner of ``learners.__all__``, and settings of every kind."""

import numpy as np

from tests.contracts.examples import (
    START,
    example_block,
    example_domains,
    example_learners,
)
from thalweg import domains
from thalweg.learners import (
    Ader,
    DiscountedGradient,
    DiscountedNewton,
    Experts,
    FollowTheLeadingHistory,
    RecursiveLeastSquares,
    SlidingWindow,
)
from thalweg.losses import Huber, Logistic, SquaredError
from thalweg.persistence import SavedModel

LISTED_EXAMPLES = example_learners()
DOMAINS = example_domains()
NESTED = Experts((Experts(mixing_rate=0.3), RecursiveLeastSquares(np.float32(0.5))))
MORE_EXAMPLES = [
    *((DiscountedNewton(0.9, domain=domain), Logistic()) for domain in DOMAINS),
    *((DiscountedGradient(0.9, domain=domain), Huber(0.5)) for domain in DOMAINS),
    (Ader(np.int64(100), 30, domains.Ball(3.0), True), SquaredError()),
    (SlidingWindow(window=7.0), SquaredError()),
    (FollowTheLeadingHistory(NESTED, 0.01), SquaredError()),
    (NESTED, SquaredError()),
]
EXAMPLES = [*LISTED_EXAMPLES, *MORE_EXAMPLES]
NAMES = [f"{type(learner).__name__} {i}" for i, (learner, _) in enumerate(EXAMPLES)]


def start(learner, dtype=np.float64):
    """A point that lies in the learner's domain."""
    domain = getattr(learner, "domain", None)
    return (
        START.astype(dtype) if domain is None else domain.project(START).astype(dtype)
    )


def train_model(learner, loss, rounds=30, dtype=np.float64):
    """The model after ``rounds`` rounds."""
    state = learner.init(start(learner, dtype))
    state, _ = learner.run(state, loss, example_block(loss)[:rounds])
    return SavedModel(learner, loss, state, {"rounds": rounds})
