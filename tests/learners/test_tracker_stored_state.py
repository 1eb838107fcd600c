"""What is stored of a Tracker's state, and what is built again from it."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learners.tracker_arrays import sources
from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import TrackerState
from thalweg.learners.tracker.stored_state import UNUSED, StoredTracker
from thalweg.losses import Round, SquaredError
from thalweg.models import Online
from thalweg.types import Block

LOSS = SquaredError()
SETTINGS = (
    {}, {"delay": 5}, {"curvature": False}, {"information": "features"},
    {"delay": 30, "curvature": False},
)  # fmt: skip


def stream(rounds, n, seed=0, kind="plain"):
    """A drifting season with weights, gaps and times; features of many scales."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, n)) * 10.0 ** rng.integers(-3, 4, n)
    if kind == "walk":
        x = np.cumsum(x, axis=0)
    elif kind == "offset":
        x += 1e9
    elif kind == "whole":
        x = np.round(x)
    theta = np.cumsum(0.05 * rng.normal(size=(rounds, n)), axis=0) / (1 + x.std(axis=0))
    y = ((x - x[0]) * theta).sum(axis=1) + 2 * np.sin(np.arange(rounds) / 7 * 6.28)
    y += 0.1 * rng.normal(size=rounds)
    if kind == "shock":
        y[60] = 1e12
    if kind == "replay":
        y[600:850] += 300 * y.std()
        return Block(x, y)
    weight = rng.choice([0.0, 0.3, 1.0, 1.0, 1.0, 4.0], rounds)
    return Block(x, y, weight, rng.choice([0.0, 0.5, 1.0, 1.0, 30.0], rounds))


def require_same_numbers(ours, theirs, n):
    """Raise unless two packed states are the same to the last bit."""
    ours, theirs = (by_name(layout.views(packed, n)) for packed in (ours, theirs))
    for name, array in ours.items():
        assert array.tobytes() == theirs[name].tobytes(), name


def restored(state):
    return TrackerState.from_stored(state.to_stored())


def run_in_pieces(learner, block, cuts):
    """The state and the forecasts of a run that is stored and restored at every cut."""
    state, forecasts = learner.init(np.zeros(block.x.shape[1])), []
    for start, end in zip([0, *cuts], [*cuts, len(block)], strict=True):
        state, trace = learner.run(state, LOSS, block[start:end])
        again = restored(state)
        require_same_numbers(again.packed, state.packed, len(state.theta))
        stored, twice = state.to_stored(), again.to_stored()
        assert [a.tobytes() for a in stored] == [a.tobytes() for a in twice]
        state = again
        forecasts.append(trace.prediction)
    return state, np.concatenate(forecasts)


@functools.cache
def shocked_run(kind, rounds):
    """A Tracker that restarts, or whose state gives way to that of a replay."""
    block, learner = stream(rounds, 3, kind=kind), Tracker()
    state, trace = learner.run(learner.init(np.zeros(3)), LOSS, block)
    return block, learner, state, trace


@pytest.mark.parametrize("kind, rounds, cuts", [
    ("shock", 900, (1, 61, 500, 640, 700)), ("replay", 2200, (1, 700, 1500, 1600)),
])  # fmt: skip
def test_a_run_that_is_stored_goes_on_to_the_last_bit_after_a_shock(kind, rounds, cuts):
    block, learner, whole, trace = shocked_run(kind, rounds)
    learnt = (block.weight > 0).sum() if block.weight is not None else rounds
    assert whole.packed[layout.CORRECTION_COUNT] < learnt - 300  # it began again
    state, forecasts = run_in_pieces(learner, block, cuts)
    assert forecasts.tobytes() == trace.prediction.tobytes()
    require_same_numbers(state.packed, whole.packed, 3)
    np.testing.assert_array_equal(state.theta, whole.theta)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(SETTINGS), st.sampled_from([1, 2, 5, 8]),
    st.sampled_from(["plain", "walk", "offset", "whole"]),
    st.lists(st.integers(1, 599), max_size=3, unique=True).map(sorted),
)  # fmt: skip
def test_a_run_that_is_stored_goes_on_to_the_last_bit(seed, options, n, kind, cuts):
    block, learner = stream(600, n, seed, kind), Tracker(**options)
    whole, trace = learner.run(learner.init(np.zeros(n)), LOSS, block)
    state, forecasts = run_in_pieces(learner, block, cuts)
    assert forecasts.tobytes() == trace.prediction.tobytes()
    require_same_numbers(state.packed, whole.packed, n)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(SETTINGS))
def test_no_later_round_looks_at_what_is_not_stored(seed, options):
    block, learner = stream(700, 3, seed), Tracker(**options)
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, block[:560])
    changed, rng = state.packed.copy(), np.random.default_rng(seed)
    count = 0
    for name, array in by_name(layout.views(changed, 3)).items():
        unused = sources(name, array) == UNUSED
        assert not array[unused].any()
        array[unused] = rng.normal(size=unused.sum())
        count += unused.sum()
    assert count > 500
    after, trace = learner.run(state, LOSS, block[560:])
    spoilt = TrackerState(state.theta, changed)
    again, other = learner.run(spoilt, LOSS, block[560:])
    assert trace.prediction.tobytes() == other.prediction.tobytes()
    require_same_numbers(again.packed, after.packed, 3)


def test_the_definition_leaves_the_same_copies():
    block, learner = stream(60, 3), Tracker(delay=2)
    state = learner.init(np.zeros(3))
    for x, y, w, elapsed in block.rounds():
        state = learner.update(state, Round(LOSS, x, y, w, elapsed))
    require_same_numbers(restored(state).packed, state.packed, 3)


@pytest.mark.parametrize("options", SETTINGS)
@pytest.mark.parametrize("n", [1, 3, 8, 11])
def test_a_state_before_its_first_round_is_restored(n, options):
    state = Tracker(**options).init(np.zeros(n))
    np.testing.assert_array_equal(restored(state).packed, state.packed)


@pytest.mark.parametrize("curvature, limit", [(False, 86_000), (True, 116_000)])
def test_a_saved_model_of_eight_features_is_small(tmp_path, curvature, limit):
    model, block = Online(Tracker(curvature=curvature), intercept=False), stream(40, 8)
    model.run(block.x, block.y)
    model.save(tmp_path / "m.thalweg")
    size = (tmp_path / "m.thalweg").stat().st_size
    assert 0.9 * limit < size <= limit


STORED = Tracker().init(np.zeros(3)).to_stored()


def with_counter(index, value):
    numbers = STORED.numbers.copy()
    numbers[index] = value
    return STORED._replace(numbers=numbers)


MADE_UP = {
    "no numbers": STORED._replace(numbers=np.empty(0)),
    "few numbers": STORED._replace(numbers=STORED.numbers[:-1]),
    "many numbers": STORED._replace(numbers=np.append(STORED.numbers, 0.0)),
    "numbers in single precision": STORED._replace(
        numbers=STORED.numbers.astype(np.float32)
    ),
    "numbers of two axes": STORED._replace(numbers=STORED.numbers[None]),
    "a number": STORED._replace(numbers=3),
    "nothing": StoredTracker(None, None),
    "another θ": STORED._replace(theta=np.zeros(4)),
    "a huge θ": STORED._replace(theta=np.zeros(10**6)),
    "some hinges": with_counter(layout.HINGE_COUNT, 7.0),
    "no hinges": with_counter(layout.HINGE_COUNT, 0.0),
    "a delay": with_counter(layout.DELAY, 2.0),
    "a huge delay": with_counter(layout.DELAY, 1e15),
    "a delay that is no number": with_counter(layout.DELAY, np.nan),
    "a negative delay": with_counter(layout.DELAY, -1.0),
}


@pytest.mark.parametrize("stored", MADE_UP.values(), ids=MADE_UP)
def test_what_fits_no_state_is_restored_as_none(stored):
    assert TrackerState.from_stored(stored).packed.size == 0


@pytest.mark.parametrize("value", [-5.0, np.nan, np.inf, 1e300])
@pytest.mark.parametrize("index", [layout.ERROR_COUNT, layout.PASSED_ROUNDS])
def test_counts_that_cannot_be_lead_nowhere(index, value):
    packed = TrackerState.from_stored(with_counter(index, value)).packed
    assert packed.size == layout.state_size(3, 0)
