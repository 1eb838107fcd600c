"""A state that its learner could not have is refused before a kernel reads it."""

import hashlib
import json

import numpy as np
import pytest

from tests.persistence.examples import LISTED_EXAMPLES, NESTED, train_model
from tests.persistence.mutations import sign_file, split_file
from thalweg.domains import Box
from thalweg.errors import PersistenceError
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import (
    DiscountedGradient,
    FollowTheLeadingHistory,
    LastValue,
    OnlineNewtonStep,
    RecursiveLeastSquares,
    SlidingWindow,
    Tracker,
)
from thalweg.losses import SquaredError, Tracking
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.persistence.format import CHECKSUM
from thalweg.persistence.state_check import check_state

LOSS = SquaredError()


@pytest.mark.parametrize(
    "learner, loss", LISTED_EXAMPLES, ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_learner_accepts_its_own_start_in_any_dimension(learner, loss, n, dtype):
    domain = getattr(learner, "domain", None)
    if domain is not None and domain.dimension not in (None, n):
        pytest.skip("the domain has one dimension")
    theta = np.zeros(n, dtype)
    check_state(
        learner, learner.init(theta if domain is None else domain.project(theta))
    )


RLS = RecursiveLeastSquares()
WINDOW = SlidingWindow(5)
HISTORY = FollowTheLeadingHistory(RLS)
DOUBLE = train_model(RLS, LOSS).state
SINGLE = train_model(RLS, LOSS, dtype=np.float32).state
ROWS = train_model(WINDOW, LOSS).state
LAST = train_model(LastValue(), LOSS).state
FLH_STATE = train_model(HISTORY, LOSS).state
MIXED = train_model(NESTED, LOSS).state
GRADIENT = DiscountedGradient(0.9, "tracking")
STEP = GRADIENT.init(np.zeros(3))

NEWTON_STEP = OnlineNewtonStep(30.0, 0.01)
NEWTON_STATE = train_model(NEWTON_STEP, LOSS).state
TRACKED = train_model(Tracker(), LOSS).state


def replace_entry(state, field, index, value):
    """The state with one entry of one array replaced."""
    array = getattr(state, field).copy()
    array[index] = value
    return state._replace(**{field: array})


WRONG = {
    "a longer θ": (RLS, DOUBLE._replace(theta=np.zeros(4))),
    "a huge θ": (RLS, DOUBLE._replace(theta=np.zeros(10**6))),
    "an empty θ": (RLS, DOUBLE._replace(theta=np.zeros(0))),
    "a θ of three axes": (RLS, DOUBLE._replace(theta=np.zeros((3, 1, 1)))),
    "a θ of integers": (RLS, DOUBLE._replace(theta=np.zeros(3, int))),
    "no θ": (RLS, DOUBLE._replace(theta=None)),
    "a smaller factor": (RLS, DOUBLE._replace(factor=DOUBLE.factor[:5])),
    "a factor of another precision": (RLS, DOUBLE._replace(factor=SINGLE.factor)),
    "a shorter window": (WINDOW, ROWS._replace(x=ROWS.x[1:])),
    "rounds that are not whole": (WINDOW, ROWS._replace(rounds=1.5)),
    "rounds in an array": (WINDOW, ROWS._replace(rounds=np.array([1]))),
    "rounds in words": (WINDOW, ROWS._replace(rounds="one")),
    "a window longer than the state": (SlidingWindow(10**12), ROWS),
    "a last value with an axis": (LastValue(), LAST._replace(last=np.zeros(1))),
    "an expert too many": (NESTED, MIXED._replace(experts=MIXED.experts * 2)),
    "no experts": (NESTED, MIXED._replace(experts=())),
    "experts that are no states": (NESTED, MIXED._replace(experts=(1.0, 2.0))),
    "experts in another order": (NESTED, MIXED._replace(experts=MIXED.experts[::-1])),
    "a weight too many": (HISTORY, FLH_STATE._replace(log_weights=np.zeros(99))),
    "a first round too few": (
        HISTORY, FLH_STATE._replace(active_from=FLH_STATE.active_from[1:]),
    ),
    "an expert in single precision": (
        HISTORY, FLH_STATE._replace(experts=(SINGLE, *FLH_STATE.experts[1:])),
    ),
    "an expert with more features": (
        HISTORY,
        FLH_STATE._replace(experts=(RLS.init(np.zeros(4)), *FLH_STATE.experts[1:])),
    ),
    "a domain of another dimension": (
        DiscountedGradient(0.9, "tracking", domain=Box(np.zeros(2), np.ones(2))), STEP,
    ),
    "several targets where one is taken": (
        GRADIENT, STEP._replace(theta=np.zeros((3, 2))),
    ),
    "a θ that is not finite": (RLS, DOUBLE._replace(theta=np.array([1.0, np.nan, 0]))),
    "an infinite θ": (RLS, DOUBLE._replace(theta=np.array([1.0, -np.inf, 0]))),
    "a factor without numbers": (RLS, DOUBLE._replace(factor=DOUBLE.factor * np.nan)),
    "a U that is infinite": (RLS, replace_entry(DOUBLE, "factor", (1, 0), np.inf)),
    "a negative pivot": (RLS, replace_entry(DOUBLE, "factor", (1, 1), -1.0)),
    "a negative input scale": (RLS, replace_entry(DOUBLE, "factor", (-3, 1), -1.0)),
    "rows beyond all legal": (WINDOW, replace_entry(ROWS, "x", (1, 0), 1e200)),
    "rows that are infinite": (WINDOW, replace_entry(ROWS, "x", (1, 0), np.inf)),
    "labels that are not numbers": (WINDOW, replace_entry(ROWS, "y", 1, np.nan)),
    "negative rounds": (WINDOW, ROWS._replace(rounds=-1)),
    "a last value beyond all legal": (LastValue(), LAST._replace(last=np.array(1e200))),
    "weights that sum to more than 1": (
        HISTORY, FLH_STATE._replace(log_weights=FLH_STATE.log_weights + 1.0),
    ),
    "a weight of 0, to infinity": (
        HISTORY, replace_entry(FLH_STATE, "log_weights", 0, -np.inf),
    ),
    "starts in no order": (
        HISTORY, FLH_STATE._replace(active_from=FLH_STATE.active_from[::-1].copy()),
    ),
    "a start before the first round": (
        HISTORY, replace_entry(FLH_STATE, "active_from", 0, -4),
    ),
    "a start in round 0, which is none": (
        HISTORY, replace_entry(FLH_STATE, "active_from", 0, 0),
    ),
    "an expert that is not finite": (
        HISTORY,
        FLH_STATE._replace(
            experts=(
                FLH_STATE.experts[0]._replace(theta=np.full(3, np.nan)),
                *FLH_STATE.experts[1:],
            )
        ),
    ),
    "a count that is not finite": (GRADIENT, STEP._replace(discounted_count=np.nan)),
    "a negative count": (GRADIENT, STEP._replace(discounted_count=-1.0)),
    "an A without a diagonal": (
        NEWTON_STEP, NEWTON_STATE._replace(information=np.zeros((3, 3))),
    ),
    "a Tracker that is not finite": (
        Tracker(), replace_entry(TRACKED, "packed", 200, np.nan),
    ),
    "a Tracker with an infinite mean": (
        Tracker(), replace_entry(TRACKED, "packed", 700, np.inf),
    ),
}  # fmt: skip


@pytest.mark.parametrize("learner, state", WRONG.values(), ids=WRONG)
def test_a_state_that_does_not_fit_is_refused(learner, state):
    with pytest.raises(PersistenceError):
        check_state(learner, state)
    loss = Tracking() if isinstance(learner, DiscountedGradient) else LOSS
    with pytest.raises(PersistenceError):
        dumps(SavedModel(learner, loss, state))


def test_what_is_unknown_may_be_infinite():
    """D_j where P_0 = 0, and what is infinite in a Tracker's own start."""
    for learner in (RecursiveLeastSquares(0.9, ridge=0.0), Tracker()):
        state = learner.init(np.zeros(3))
        assert any(np.isinf(part).any() for part in state)
        check_state(learner, state)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_a_window_that_lapack_cannot_take_is_refused_when_it_is_loaded(value):
    """LAPACK iterates for ever on what is not finite."""
    data = dumps(SavedModel(WINDOW, LOSS, ROWS))
    spoilt = data.replace(ROWS.x[1].tobytes(), np.full(3, value).tobytes())
    assert spoilt != data
    body = spoilt[:-CHECKSUM]
    with pytest.raises(PersistenceError, match="the x of SlidingWindow"):
        loads(body + hashlib.sha256(body).digest())


def test_a_learner_may_check_the_values_of_its_state(monkeypatch):
    def refuse_values(self, state):
        raise PersistenceError("a lag of 1e9 rounds")

    monkeypatch.setattr(
        RecursiveLeastSquares, "check_state", refuse_values, raising=False
    )
    with pytest.raises(PersistenceError, match="lag"):
        check_state(NESTED, MIXED)


@pytest.mark.parametrize("delay", [0, 3])
def test_states_of_any_number_of_features_fit(delay):
    """Packed states are padded, so that their lengths are no polynomials in n."""
    tracker = Tracker(delay=delay)
    for n in range(1, 40):
        check_state(tracker, tracker.init(np.zeros(n)))


def tracker_file(change):
    """A file of a Tracker whose stored arrays were changed, with a right checksum."""
    header, arrays = split_file(dumps(SavedModel(Tracker(), LOSS, TRACKED)))
    tree = json.loads(header)
    fields, arrays = tree["state"]["fields"], bytearray(arrays)
    change(fields, arrays)
    return sign_file(tree, bytes(arrays))


def spoil_number(fields, arrays):
    at = fields["numbers"]["offset"] + 8 * layout.LOWEST_LABEL
    arrays[at : at + 8] = np.array(-np.inf).tobytes()


def shorten_numbers(fields, arrays):
    fields["numbers"]["shape"][0] -= 1
    del arrays[-8:]


def narrow_numbers(fields, arrays):
    fields["numbers"]["array"] = "<f4"
    del arrays[fields["numbers"]["offset"] + 4 * fields["numbers"]["shape"][0] :]


def store_no_numbers(fields, arrays):
    fields["numbers"]["shape"] = [0]
    del arrays[fields["numbers"]["offset"] :]


@pytest.mark.parametrize(
    "change, words",
    [
        (spoil_number, "the packed of Tracker is not finite"),
        (shorten_numbers, "Tracker plays from a state that its init gave"),
        (narrow_numbers, "Tracker plays from a state that its init gave"),
        (store_no_numbers, "Tracker plays from a state that its init gave"),
    ],
)
def test_stored_arrays_of_a_tracker_that_was_none_are_refused(change, words):
    assert loads(tracker_file(lambda *_: None)).state.rounds == TRACKED.rounds
    with pytest.raises(PersistenceError, match=words):
        loads(tracker_file(change))
