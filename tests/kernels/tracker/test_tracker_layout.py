"""The Tracker's layouts: versions, alignment, and the state inside the buffer."""

import numpy as np
import pytest

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.learners.tracker.workspace import TrackerWorkspace


def test_a_changed_layout_of_the_state_has_a_new_version():
    """Whoever changes the declaration raises ``STATE.version``, then this pair."""
    assert (layout.STATE.version, layout.STATE.fingerprint) == (2, "00d8ee86804d69cc")
    assert TrackerState.layout_version == layout.STATE.version


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("delay", [0, 5])
def test_arrays_that_are_loaded_as_vectors_start_at_a_cache_line(n, delay):
    slots = layout.pending_slots(delay)
    empty = dict.fromkeys(layout.RECORD_ROWS, 0)
    offsets = layout.BUFFER.offsets(n=n, slots=slots, rows=7, **empty)
    state, workspace = offsets.state, offsets.workspace
    scalars = {"overall_mean", "spread", "recent_steps", "pending_x"}
    for fields in (state.experts, state.rules, workspace.experts, workspace.rules):
        for name, offset in fields._asdict().items():
            assert name in scalars or offset % layout.LINE_FLOATS == 0, name
    for name in ("counters", "active_from", "past_y", "season_differences"):
        assert getattr(state, name) % layout.LINE_FLOATS == 0


@pytest.mark.parametrize("delay", [0, 5])
def test_the_state_inside_the_buffer_is_laid_out_as_the_packed_one(delay):
    packed = Tracker(delay=delay).init(np.zeros(3)).packed
    rng = np.random.default_rng(0)
    counters = packed[: layout.COUNTERS].copy()
    packed[:] = rng.normal(size=packed.size)
    packed[: layout.COUNTERS] = counters
    workspace = TrackerWorkspace(packed, 3, rows=5, record=("theta",))
    lengths = {f"{name}_rows": 0 for name in layout.Records._fields} | {"theta_rows": 5}
    slots = layout.pending_slots(delay)
    dimensions = {"n": 3, "slots": slots, "rows": 5}
    views = layout.BUFFER.views(workspace.buffer, **dimensions, **lengths)
    expected = layout.views(packed, 3)
    for inside, own in zip(views.state[:7], expected[:7], strict=True):
        np.testing.assert_array_equal(inside, own)
    for inside, own in zip(views.state.experts, expected.experts, strict=True):
        np.testing.assert_array_equal(inside, own)
    for inside, own in zip(views.state.rules, expected.rules, strict=True):
        np.testing.assert_array_equal(inside, own)
    np.testing.assert_array_equal(views.state.pending, expected.pending)
