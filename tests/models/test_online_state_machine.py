"""Whatever is done to a model, it is what the legal rounds alone have made of it.

    THALWEG_PROFILE=long python -m pytest tests/models/test_online_state_machine.py

plays 10,000 histories instead of 60.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.persistence.examples import EXAMPLES
from thalweg.errors import ThalwegError
from thalweg.losses import LinearLoss, Logistic
from thalweg.models import Online
from thalweg.persistence import SavedModel, dumps

HISTORIES = {"long": 10_000}.get(os.environ.get("THALWEG_PROFILE", ""), 60)
STEPS = 25
RNG = np.random.default_rng(0)
X = RNG.normal(size=(64, 3))
X[40:44], X[44:48, 1], X[48:52], X[52] = (
    0,
    0,
    1e-300,
    5e-324,
)  # unexcited, tiny, denormal
Y = RNG.normal(size=64)
Y[56:60] = 0, -0.0, 1e-300, 20
X_MISSING = X.copy()
X_MISSING[::5, 0] = X_MISSING[3::7, 2] = np.nan
LINEAR = [
    (learner, loss)
    for learner, loss in EXAMPLES
    if isinstance(loss, LinearLoss)
    and getattr(getattr(learner, "domain", None), "dimension", None) is None
    and "Simplex" not in repr(learner)  # which has no zero to start from
]
BAD = {
    "infinity in x": ([0, np.inf, 0], 1.0),
    "infinity in y": ([0, 0, 0], -np.inf),
    "too large": ([0, 1e200, 0], 1.0),
    "too short": ([0, 0], 1.0),
    "a matrix": (np.zeros((2, 3)), 1.0),
    "words": (["a", "b", "c"], 1.0),
    "no y": ([0, 0, 0], None),
    "weights": ([0, 0, 0], 1.0, -1.0),
}
MISSING_VALUES = {"NaN in x": ([np.nan, 0, 0], 1.0), "NaN in y": ([0, 0, 0], np.nan)}
rounds = st.integers(0, len(X) - 1)
which = st.integers(0, 9)


def learnt_bytes(model):
    """All that the legal rounds have made of a model, as bytes."""
    extra = {
        **vars(model.health()),
        **(model.imputer.state._asdict() if model.imputer else {}),
    }
    extra["refusals"] = 0
    with model._suspend() as live:
        extra["errors"] = live.copy_errors()
    return dumps(SavedModel(model.learner, model.loss, model.state, extra))


class OnlineHistories(RuleBasedStateMachine):
    """One or several copies of a model, each with the legal rounds it has seen."""

    @initialize(
        example=st.sampled_from(LINEAR),
        intercept=st.booleans(),
        missing=st.sampled_from(["refuse", "skip", "impute"]),
    )
    def begin(self, example, intercept, missing):
        self.copies = [(Online(*example, intercept, missing), [])]
        self.y = 1.0 * (Y > 0) if isinstance(example[1], Logistic) else Y
        self.x, self.bad = X, BAD | MISSING_VALUES
        if missing != "refuse":
            self.x, self.y, self.bad = X_MISSING, self.y.copy(), BAD
            self.y[2::9] = np.nan

    def copy_of(self, number):
        return self.copies[number % len(self.copies)]

    @rule(number=which, t=rounds)
    def update(self, number, t):
        model, seen = self.copy_of(number)
        model.update(self.x[t], self.y[t])
        seen.append(t)

    @rule(number=which, many=st.lists(rounds, min_size=2, max_size=6), at=rounds)
    def run_that_is_cut(self, number, many, at):
        model, seen = self.copy_of(number)
        first, rest = many[: 1 + at % (len(many) - 1)], many[1 + at % (len(many) - 1) :]
        for piece in (first, rest):
            model.run(self.x[piece], self.y[piece])
        seen.extend(many)

    @rule(number=which, bad=st.sampled_from(sorted(BAD | MISSING_VALUES)))
    def bad_update(self, number, bad):
        model, seen = self.copy_of(number)
        if bad not in self.bad or (not seen and bad == "too short"):
            return  # the first round decides how many features there are
        before, refusals = learnt_bytes(model), model.refusals
        with pytest.raises(ThalwegError):
            model.update(*self.bad[bad])
        assert learnt_bytes(model) == before and model.refusals == refusals + 1

    @rule(number=which, t=rounds)
    def predict(self, number, t):
        model, seen = self.copy_of(number)
        before = learnt_bytes(model)
        prediction = model.predict(self.x[t])
        assert np.isfinite(prediction) and learnt_bytes(model) == before

    @rule(number=which)
    def save_and_load(self, number):
        model, seen = self.copy_of(number)
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "m.thalweg")
            back = Online.load(Path(folder) / "m.thalweg")
        assert (
            learnt_bytes(back) == learnt_bytes(model)
            and back.refusals == model.refusals
        )
        self.copies[number % len(self.copies)] = (back, seen)

    @rule(number=which)
    def clone(self, number):
        model, seen = self.copy_of(number)
        if len(self.copies) < 3:
            self.copies.append((model.clone(), list(seen)))

    def teardown(self):
        for model, seen in getattr(self, "copies", ()):
            settings = (model.learner, model.loss, model.intercept, model.missing)
            reference = Online(*settings)
            if seen:
                reference.run(self.x[seen], self.y[seen])
            assert learnt_bytes(model) == learnt_bytes(reference)


OnlineHistories.TestCase.settings = settings(
    max_examples=HISTORIES,
    stateful_step_count=STEPS,
    suppress_health_check=[HealthCheck.too_slow],
)
TestOnlineHistories = OnlineHistories.TestCase
