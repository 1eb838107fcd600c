"""The Tracker's layouts: versions, alignment, and the state inside the buffer."""

import numpy as np
import pytest

from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.learners.tracker.workspace import TrackerWorkspace


def test_a_changed_layout_of_the_state_has_a_new_version():
    """Whoever changes the declaration raises ``STATE.version``, then this pair."""
    assert (layout.STATE.version, layout.STATE.fingerprint) == (8, "ac6ca8e0fa3283f4")
    assert TrackerState.layout_version == layout.STATE.version


# Arrays of which kernels load no vectors.
SCALARS = {
    "experts.overall_mean", "experts.spread", "experts.recent_steps",
    "experts.pending_x", "lags.overall_mean", "lags.spread", "lags.labels",
    "curvature.change_mean", "curvature.change_spread", "curvature.context", "pending",
    "max_feature_steps", "past_x", "pool.losses", "pool.weight",
    "pool.forecasts", "pool.weights",
}  # fmt: skip


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("hinges", [0, layout.HINGES])
def test_arrays_that_are_loaded_as_vectors_start_at_a_cache_line(n, delay, hinges):
    slots = layout.pending_slots(delay)
    others = dict.fromkeys(layout.RECORD_ROWS, 0) | {"rows": 7, "state_size": 0}
    offsets = layout.BUFFER.offsets(n=n, hinges=hinges, slots=slots, **others)
    for part in (offsets.state, offsets.workspace):
        for name, offset in by_name(part).items():
            assert name in SCALARS or offset % layout.LINE_FLOATS == 0, name


@pytest.mark.parametrize("curvature", [False, True])
@pytest.mark.parametrize("delay", [0, 5])
def test_the_state_inside_the_buffer_is_laid_out_as_the_packed_one(delay, curvature):
    packed = Tracker(delay=delay, curvature=curvature).init(np.zeros(3)).packed
    rng = np.random.default_rng(0)
    counters = packed[: layout.COUNTERS].copy()
    packed[:] = rng.normal(size=packed.size)
    packed[: layout.COUNTERS] = counters
    workspace = TrackerWorkspace(packed, 3, rows=5, record=("theta",))
    lengths = {f"{name}_rows": 0 for name in layout.Records._fields} | {"theta_rows": 5}
    slots, hinges = layout.pending_slots(delay), layout.HINGES if curvature else 0
    dimensions = {"n": 3, "hinges": hinges, "slots": slots, "rows": 5}
    dimensions["state_size"] = packed.size
    views = layout.BUFFER.views(workspace.buffer, **dimensions, **lengths)
    inside, own = by_name(views.state), by_name(layout.views(packed, 3))
    assert set(inside) == set(own)
    for name, array in own.items():
        np.testing.assert_array_equal(inside[name], array, name)
    np.testing.assert_array_equal(views.packed, packed)
    assert views.former_packed.size == packed.size


def test_the_size_of_a_state_follows_from_its_settings():
    for settings in ({}, {"delay": 4}, {"curvature": False}):
        packed = Tracker(**settings).init(np.zeros(3)).packed
        delay, curvature = settings.get("delay", 0), settings.get("curvature", True)
        assert packed.size == layout.state_size(3, delay, curvature)
        assert packed[layout.HINGE_COUNT] == (layout.HINGES if curvature else 0)
