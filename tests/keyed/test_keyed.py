"""Models by key in one file: each round learnt once, one writer at a time."""

import sqlite3
import threading

import numpy as np
import pytest

import thalweg as tw
from tests.contracts.examples import LOSSES
from thalweg.errors import (
    InvalidParameterError,
    PersistenceError,
    StorageError,
    StreamError,
    UnsupportedLossError,
)
from thalweg.keyed import KeyedModels
from thalweg.keyed.keyed_model import KeyedModel
from thalweg.learners import DiscountedGradient, Experts, RecursiveLeastSquares
from thalweg.losses import Functions, Logistic

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(120, 3)), RNG.normal(size=120)
RLS = RecursiveLeastSquares()


def feed(models, first, last, keys=4):
    return [models.observe(f"k{t % keys}", X[t], Y[t], t) for t in range(first, last)]


def model_bytes(models, keys):
    return {
        key: models._cache.settings.encode(models._cache.find(key)).data for key in keys
    }


@pytest.mark.parametrize("learner", [RLS, Experts()], ids=["one", "mixture"])
@pytest.mark.parametrize("intercept", [True, False])
def test_each_key_predicts_as_an_online_of_its_own(path, learner, intercept):
    with KeyedModels(path, learner, intercept=intercept) as models:
        predictions = feed(models, 0, 60)
    again = KeyedModels(path, learner, intercept=intercept)
    for k in range(4):
        alone = tw.Online(learner, intercept=intercept)
        trace = alone.run(X[k:60:4], Y[k:60:4])
        assert [float(p) for p in predictions[k::4]] == trace.prediction.tolist()
        assert again.predict(f"k{k}", X[99]) == alone.predict(X[99])
    again.close()


def test_a_run_can_be_closed_and_resumed_anywhere(path):
    whole = KeyedModels(path.with_name("whole.db"), RLS)
    expected = feed(whole, 0, 120)
    predictions = []
    for first, last in ((0, 1), (1, 50), (50, 53), (53, 120)):
        with KeyedModels(path, RLS) as models:
            assert models.offset == (first - 1 if first else None)
            predictions += feed(models, first, last)
            assert models.offset == (first - 1 if first else None)
    models = KeyedModels(path, RLS)
    assert [float(p).hex() for p in predictions] == [float(p).hex() for p in expected]
    assert model_bytes(models, models.keys()) == model_bytes(whole, whole.keys())
    models.close()
    whole.close()


def test_a_round_is_learnt_once(path):
    with KeyedModels(path, RLS) as models:
        first, second = feed(models, 0, 2, keys=1)
        before = model_bytes(models, ["k0"])
        assert models.observe("k0", X[1], Y[1], 1) == second
        assert models.observe("k0", X[0], Y[0], 0) is None
        assert models.observe("other", X[0], Y[0], 0) == 0.0
        assert model_bytes(models, ["k0"]) == before
    with KeyedModels(path, RLS) as models:
        assert models.observe("k0", X[1], Y[1], 1) == second
        assert type(models.observe("k0", X[1], Y[1], 1)) is type(second)
        assert models.observe("k0", X[0], Y[0], 0) is None
        assert model_bytes(models, ["k0"]) == before


def test_a_block_that_fails_saves_nothing(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 10)
    with pytest.raises(ZeroDivisionError), KeyedModels(path, RLS) as models:
        feed(models, 10, 20)
        raise ZeroDivisionError
    with KeyedModels(path, RLS) as models:
        assert models.offset == 9


BAD = {
    "NaN": ("k0", [np.nan, 0, 0], 1.0, 50, StreamError),
    "too short": ("k0", [0.0], 1.0, 50, StreamError),
    "a matrix": ("k0", np.zeros((1, 3)), 1.0, 50, StreamError),
    "text for y": ("k0", X[0], "1.0", 50, StreamError),
    "two targets": ("k0", X[0], [1.0, 2.0], 50, StreamError),
    "targets in a table": ("new", X[0], [[1.0]], 50, StreamError),
    "seq in words": ("k0", X[0], 1.0, "50", InvalidParameterError),
    "a part of a seq": ("k0", X[0], 1.0, 50.5, InvalidParameterError),
    "a seq before all": ("k0", X[0], 1.0, -1, InvalidParameterError),
    "a seq beyond all": ("k0", X[0], 1.0, 2**63, InvalidParameterError),
    "a number for a key": (7, X[0], 1.0, 50, InvalidParameterError),
    "a list for a key": (["k0"], X[0], 1.0, 50, InvalidParameterError),
    "an empty key": ("", X[0], 1.0, 50, InvalidParameterError),
    "half a character": ("\ud800", X[0], 1.0, 50, InvalidParameterError),
}


@pytest.mark.parametrize("key, x, y, seq, error", BAD.values(), ids=BAD)
def test_a_bad_round_is_refused_and_leaves_no_trace(path, key, x, y, seq, error):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 20)
        before = model_bytes(models, models.keys())
        with pytest.raises(error):
            models.observe(key, x, y, seq)
        assert model_bytes(models, models.keys()) == before
        models.flush()
        assert models.offset == 19


def model_size():
    """Bytes that KeyedModels counts for a model of RLS with three features."""
    online = tw.Online(RLS)
    online.update(X[0], Y[0])
    return KeyedModel(online).count_bytes()


@pytest.mark.parametrize("models_in_memory", [1, 3, 10])
def test_memory_bounds_the_models_that_are_held_and_loses_none(path, models_in_memory):
    with KeyedModels(path.with_name("all.db"), RLS) as ample:
        expected = feed(ample, 0, 120, keys=20)
    memory = models_in_memory * model_size()
    with KeyedModels(path, RLS, memory=memory) as models:
        predictions = []
        for t in range(120):
            predictions.append(models.observe(f"k{t % 20}", X[t], Y[t], t))
            models.predict(f"k{t % 7}", X[t])
            assert 1 <= len(models._models) <= models_in_memory
        assert len(models.keys()) == 20
    assert predictions == expected


def test_of_logistic_loss_each_key_predicts_probabilities(path):
    learner, loss, labels = DiscountedGradient(), Logistic(), 1.0 * (Y > 0)
    model = tw.Online(learner, loss)
    with KeyedModels(path, learner, loss) as models:
        for t in range(10):
            assert models.predict("a", X[t]) == model.predict(X[t])
            assert models.observe("a", X[t], labels[t], t) == model.predict(X[t])
            model.update(X[t], labels[t])
        assert models.observe("a", X[9], labels[9], 9) < 1  # the one made then


def test_a_prediction_teaches_nothing(path):
    with KeyedModels(path, RLS) as models:
        assert models.predict("unknown", X[0]) == 0.0
        assert models.keys() == []
        feed(models, 0, 8)
        before = model_bytes(models, models.keys())
        models.predict("k0", X[9])
        assert model_bytes(models, models.keys()) == before


OTHERS = {
    "another discount": {"learner": RecursiveLeastSquares(0.5)},
    "another learner": {"learner": Experts()},
    "another loss": {"learner": DiscountedGradient(), "loss": Logistic()},
    "no intercept": {"learner": RLS, "intercept": False},
}


@pytest.mark.parametrize("given", OTHERS.values(), ids=OTHERS)
def test_other_settings_than_those_of_the_file_are_refused(path, given):
    KeyedModels(path, RLS).close()
    with pytest.raises(PersistenceError, match="was made with RecursiveLeastSquares"):
        KeyedModels(path, **given)
    KeyedModels(path, RLS).close()  # the lock was let go


def test_losses_that_do_not_fit_are_refused(path):
    with pytest.raises(UnsupportedLossError, match="loss of a linear prediction"):
        KeyedModels(path, DiscountedGradient(), LOSSES[Functions]())
    with pytest.raises(UnsupportedLossError, match="learns from SquaredError"):
        KeyedModels(path, RLS, Logistic())
    with pytest.raises(InvalidParameterError, match="'memory'"):
        KeyedModels(path, RLS, memory=0)
    with pytest.raises(InvalidParameterError, match="'ttl'"):
        KeyedModels(path, RLS, ttl=-1.0)
    assert not path.exists()


def test_closed_models_refuse_every_call(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 4)
    models.close()
    models.close()
    for use in (models.flush, models.keys, lambda: models.predict("k0", X[0])):
        with pytest.raises(StorageError, match="was closed"):
            use()
    with KeyedModels(path, RLS) as again:
        assert again.offset == 3


def test_threads_take_turns(path):
    def work(thread):
        for t in range(60):
            models.observe(f"k{thread}", X[t], Y[t], t)
            if t % 7 == 0:
                models.flush()

    with KeyedModels(path, RLS, memory=2 * model_size()) as models:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    alone = tw.Online(RLS)
    alone.run(X[:60], Y[:60])
    with KeyedModels(path, RLS) as models:
        for k in range(4):
            assert models.predict(f"k{k}", X[99]) == alone.predict(X[99])


def test_several_targets_share_a_model_and_answers_are_copies(path):
    targets = np.column_stack([Y, -Y])
    with KeyedModels(path, RLS) as models:
        for t in range(20):
            prediction = models.observe("k", X[t], targets[t], t)
        first = prediction.tolist()
        prediction[:] = 0
        again = models.observe("k", X[t], targets[t], t)
        assert again.tolist() == first
        again[:] = 0
    with KeyedModels(path, RLS) as models:
        assert models.observe("k", X[t], targets[t], t).tolist() == first


def test_the_offset_is_the_greatest_seq_whichever_came_last(path):
    with KeyedModels(path, RLS) as models:
        models.observe("a", X[0], Y[0], 7)
        models.observe("b", X[1], Y[1], 3)
        models.flush()
        assert models.offset == 7
    with KeyedModels(path, RLS) as models:
        assert models.offset == 7
        models.observe("b", X[2], Y[2], 5)
    with KeyedModels(path, RLS) as models:
        assert models.offset == 7


def test_a_flush_of_nothing_new_writes_nothing(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 8)
        models.flush()
        reader = sqlite3.connect(path)
        version = reader.execute("PRAGMA data_version").fetchone()
        models.flush()
        assert reader.execute("PRAGMA data_version").fetchone() == version
        feed(models, 8, 9)
        models.flush()
        assert reader.execute("PRAGMA data_version").fetchone() != version
        reader.close()


@pytest.mark.parametrize("intercept", [True, False])
def test_features_are_counted_as_the_user_does(path, intercept):
    with KeyedModels(path, RLS, intercept=intercept) as models:
        models.observe("k", [1.0, 2.0, 3.0], 1.0, 0)
        sentence = "The model has learnt from 3 features a round. Got {} instead"
        with pytest.raises(StreamError, match="Key 'k', seq 1: " + sentence.format(2)):
            models.observe("k", [1.0, 2.0], 1.0, 1)
        with pytest.raises(StreamError, match=sentence.format(4)):
            models.predict("k", [1.0, 2.0, 3.0, 4.0])
        models.observe("other", [1.0, 2.0], 1.0, 1)  # each key has its own features
        assert models.observe("k", [1.0, 2.0, 3.0], 1.0, 2) != 0
