"""Every learner can be saved and loaded; new learners are found by themselves."""

import math

import numpy as np
import pytest

from tests.contracts.examples import LOSSES, example_block
from tests.persistence.examples import EXAMPLES, NAMES, train_model
from thalweg.domains import Ball, Box
from thalweg.errors import PersistenceError, UnsupportedLossError
from thalweg.learners import (
    DiscountedGradient,
    Experts,
    RecursiveLeastSquares,
    SlidingWindow,
)
from thalweg.losses import Functions, SquaredError, Tracking
from thalweg.persistence import SavedModel, dumps, load, loads, save
from thalweg.persistence.encoding import MAX_DEPTH
from thalweg.persistence.registry import LEARNERS, SETTINGS, STATES, state_of

every_model = pytest.mark.parametrize("learner, loss", EXAMPLES, ids=NAMES)


def is_identical(left, right):
    """Equal to the last bit, of the same types, and laid out alike."""
    if isinstance(left, tuple):
        pairs = zip(left, right, strict=True)
        return type(left) is type(right) and all(is_identical(a, b) for a, b in pairs)
    if isinstance(left, np.ndarray):
        layout = left.flags.fnc == right.flags.fnc and right.flags.writeable
        alike = left.dtype == right.dtype and left.shape == right.shape
        return layout and alike and left.tobytes() == right.tobytes()
    return type(left) is type(right) and repr(left) == repr(right)


@every_model
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rounds", [1, 30])
def test_a_loaded_model_continues_to_the_last_bit(
    tmp_path, learner, loss, dtype, rounds
):
    model = train_model(learner, loss, rounds, dtype)
    save(tmp_path / "m.thalweg", model)
    loaded = load(tmp_path / "m.thalweg")
    assert loaded.learner == learner and loaded.loss == loss
    assert is_identical(loaded.state, model.state)

    rest = example_block(loss)[rounds:]
    whole, trace = learner.run(model.state, loss, rest)
    resumed, again = loaded.learner.run(loaded.state, loaded.loss, rest)
    assert is_identical(resumed, whole)
    assert again.prediction.tobytes() == trace.prediction.tobytes()
    assert again.loss.tobytes() == trace.loss.tobytes()


@every_model
def test_the_same_model_always_gives_the_same_bytes(learner, loss):
    data = dumps(train_model(learner, loss))
    assert dumps(loads(data)) == data


@every_model
def test_a_model_that_has_not_learnt_can_be_saved(learner, loss):
    loaded = loads(dumps(SavedModel(learner, loss, None)))
    assert loaded == SavedModel(learner, loss, None, {})


@pytest.mark.parametrize("learner", [RecursiveLeastSquares(), SlidingWindow(9)])
def test_several_targets_are_saved(learner):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    loss, block = SquaredError(), type(example_block(SquaredError()))(x, y)
    state, _ = learner.run(learner.init(np.zeros((3, 2))), loss, block[:20])
    loaded = loads(dumps(SavedModel(learner, loss, state)))
    ends = [learner.run(s, loss, block[20:])[0] for s in (state, loaded.state)]
    assert is_identical(loaded.state, state) and is_identical(*ends)


EXTRA = {
    "a number": 0.1 + 0.2,
    "the least": 5e-324,
    "minus nothing": -0.0,
    "infinity": -math.inf,
    "not a number": math.nan,
    "whole": 2**63 - 1,
    "truth": True,
    "nothing": None,
    "words": 'γ "\\ \ud800 \0',
    "several": (1, (2.5, "x"), ()),
    "a column": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "empty": np.empty((0, 3)),
    "one": np.array(3.0),
    "float": np.float32(0.1),
    "flag": np.False_,
}


@pytest.mark.parametrize("value", EXTRA.values(), ids=EXTRA)
def test_a_value_comes_back_as_it_was(value):
    model = SavedModel(RecursiveLeastSquares(), SquaredError(), None, {"it": value})
    assert is_identical(loads(dumps(model)).extra["it"], value)


def test_floats_in_settings_come_back_exactly():
    rng = np.random.default_rng(0)
    for discount in rng.uniform(0, 1, 200):
        learner = RecursiveLeastSquares(float(discount), ridge=float(rng.lognormal()))
        back = loads(dumps(SavedModel(learner, SquaredError(), None))).learner
        assert back == learner and back.ridge.hex() == learner.ridge.hex()


class Foreign(RecursiveLeastSquares):
    pass


UNSAVEABLE = {
    "functions": (RecursiveLeastSquares(), LOSSES[Functions](), {}, "Functions"),
    "a learner of one's own": (Foreign(), SquaredError(), {}, "Foreign is not one of"),
    "an expert of one's own": (
        Experts((Foreign(),)), SquaredError(), {}, "Foreign is not",
    ),
    "a function": (SlidingWindow(), SquaredError(), {"f": print}, "builtin_function"),
    "an array of objects": (
        SlidingWindow(), SquaredError(), {"o": np.array([None])}, "arrays of object",
    ),
    "a long integer": (SlidingWindow(), SquaredError(), {"n": 2**63}, "64 bits"),
}  # fmt: skip


@pytest.mark.parametrize(
    "learner, loss, extra, words", UNSAVEABLE.values(), ids=UNSAVEABLE
)
def test_values_that_no_file_can_hold_are_refused_by_name(learner, loss, extra, words):
    with pytest.raises((PersistenceError, UnsupportedLossError), match=words):
        dumps(SavedModel(learner, loss, None, extra))


def test_functions_are_refused_where_the_learner_takes_them():
    with pytest.raises(UnsupportedLossError, match=r"Functions .* never code"):
        dumps(SavedModel(DiscountedGradient(), LOSSES[Functions](), None))


def test_the_state_of_another_learner_is_refused():
    model = train_model(
        DiscountedGradient(0.9, "tracking", domain=Ball(3.0)), Tracking()
    )
    with pytest.raises(PersistenceError, match="of type GradientState"):
        dumps(SavedModel(RecursiveLeastSquares(), SquaredError(), model.state))


def test_domains_come_back_read_only():
    box = Box(np.zeros(3), np.full(3, np.inf))
    model = SavedModel(DiscountedGradient(domain=box), Tracking(), None)
    low = loads(dumps(model)).learner.domain.low
    assert not low.flags.writeable


def test_only_classes_of_thalweg_can_be_named_in_a_file():
    for kind in (*SETTINGS.values(), *STATES.values()):
        assert kind.__module__.startswith("thalweg.")
    assert "Functions" not in SETTINGS
    # No two states share a name; two learners may share a state.
    assert set(STATES.values()) == {state_of(kind) for kind in LEARNERS.values()}


@pytest.mark.parametrize("wrap", [lambda it: (it,), lambda it: {"it": it}])
def test_values_nested_to_the_limit_come_back_and_deeper_ones_are_refused(wrap):
    def saved(value):
        return SavedModel(RecursiveLeastSquares(), SquaredError(), None, {"it": value})

    nested = 1
    for _ in range(MAX_DEPTH):
        nested = wrap(nested)
    assert loads(dumps(saved(nested))).extra["it"] == nested
    with pytest.raises(PersistenceError, match=f"deeper than {MAX_DEPTH} levels"):
        dumps(saved(wrap(nested)))
