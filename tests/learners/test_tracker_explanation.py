"""What the Tracker says of its correction for curvature."""

import numpy as np
import pytest

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker, definition
from thalweg.learners.tracker.definition_rules import (
    IS_RULE,
    adashare_weights,
    mix,
)
from thalweg.learners.tracker.explanation import correction_share, explain
from thalweg.losses import SquaredError
from thalweg.types import Block


def curved_state(learner, rounds=400):
    """The state after labels |x| with little noise, which no linear model predicts."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rounds, 2))
    y = abs(x[:, 0]) + 0.1 * rng.normal(size=rounds)
    return learner.run(learner.init(np.zeros(2)), SquaredError(), Block(x, y))[0]


def test_a_correction_for_curvature_is_mentioned_from_five_percent_on():
    weights = np.full(layout.EXPERTS, 1 / layout.EXPERTS)
    text = explain(100, 50.0, 1, weights, 0.374)
    assert text.endswith("A correction for curvature is applied at 37 % of its size.")
    assert "curvature" in explain(100, 50.0, 1, weights, 0.05)
    for too_little in (0.0, 0.049):
        assert "curvature" not in explain(100, 50.0, 1, weights, too_little)


def test_the_part_that_is_mentioned_is_what_the_correction_adds_to_the_forecast():
    learner, x = Tracker(), np.array([1.5, -0.5])
    state = curved_state(learner)
    views = layout.views(state.packed, 2)
    mixture, part = definition.predict(views, x), correction_share(views)
    _, whole, half = mixture.candidates
    assert whole != 0 and half == whole / 2  # nothing is clipped
    uncorrected = mixture.rule_predictions.copy()
    uncorrected[layout.COMMITTEE] = mixture.committee[0]
    rule_weights = adashare_weights(views.rules.meta, IS_RULE)
    added = mixture.forecast - mix(uncorrected, rule_weights)
    assert added == pytest.approx(part * whole, rel=1e-9)
    text = f"A correction for curvature is applied at {100 * part:.0f} % of its size."
    assert part > 0.5 and text in learner.explain(state)


def test_without_curvature_or_before_a_solution_no_correction_is_mentioned():
    without = Tracker(curvature=False)
    assert "curvature" not in without.explain(curved_state(without))
    early = curved_state(Tracker(), rounds=10)  # the first solution is of round 16
    assert correction_share(layout.views(early.packed, 2)) == 0
    assert "curvature" not in Tracker().explain(early)
