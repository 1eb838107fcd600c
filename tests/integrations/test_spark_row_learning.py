"""What is learnt from the rows of a micro-batch, without Spark."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import Online, RecursiveLeastSquares, Tracker
from thalweg.errors import InvalidParameterError, PersistenceError, StorageError
from thalweg.integrations.spark import bucket_blob
from thalweg.integrations.spark.bucket_blob import pack_bucket, unpack_bucket
from thalweg.integrations.spark.key_models import KeyedLearning, ModelBytes
from thalweg.integrations.spark.model_cache import ModelCache
from thalweg.integrations.spark.row_learning import (
    NOT_GREATER,
    KeyedRows,
    learn_rows,
)
from thalweg.keyed import KeyedModels
from thalweg.keyed.codec import KeyedSettings

LEARNERS = {
    "RLS": RecursiveLeastSquares(0.97),
    "Tracker": Tracker(),
}
KEYS = ("a", "b", "œ")


def learning_of(name, **changes):
    settings = KeyedSettings.of(LEARNERS[name])
    return KeyedLearning(settings, **{"buckets": 4, **changes})


def to_online(learning, models, key):
    return learning.decode(models[key], key).online


def made_up_rows(count, seed=0, keys=KEYS):
    rng = np.random.default_rng(seed)
    key = np.array(rng.choice(keys, count), object)
    x = rng.normal(size=(count, 2))
    y = x @ [1.0, -2.0] + rng.normal(size=count) * 0.1
    return KeyedRows(key, np.arange(count, dtype=np.int64) * 3, x, y)


def take(rows, at):
    return KeyedRows(*(column[at] for column in rows))


def play(learning, batches, cache_bytes=0):
    """The models after the batches, and all results that are no refusals."""
    cache = ModelCache(learning, cache_bytes)
    models, predictions, refusals = {}, {}, []
    for batch in batches:
        changed, results = learn_rows(cache, models, batch)
        models |= changed
        for key, sequence, prediction, refusal in zip(*results, strict=True):
            if refusal is None:
                assert (key, sequence) not in predictions
                predictions[key, sequence] = prediction
            else:
                assert np.isnan(prediction)
                refusals.append((key, sequence, refusal))
    return models, predictions, refusals


@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_and_models_are_those_of_keyed_models(name, tmp_path):
    learning, rows = learning_of(name), made_up_rows(60)
    models, predictions, refusals = play(learning, [take(rows, slice(0, 60))])
    assert refusals == []
    path = tmp_path / "models.db"
    with KeyedModels(path, LEARNERS[name]) as keyed:
        for key, sequence, x, y in zip(*rows, strict=True):
            expected = keyed.observe(key, x, y, int(sequence))
            assert predictions[key, sequence] == expected
        query = np.array([0.3, -0.7])
        for key in KEYS:
            model, expected = to_online(learning, models, key), keyed[key]
            assert model.predict(query) == expected.predict(query)
            assert pickle.dumps(model.state) == pickle.dumps(expected.state)


@settings(max_examples=40, deadline=None)
@given(
    data=st.data(),
    name=st.sampled_from(sorted(LEARNERS)),
    cache_bytes=st.sampled_from([0, 20_000, 10**9]),
)
def test_it_does_not_matter_where_the_stream_is_cut(data, name, cache_bytes):
    """Rows in any order within a part, and any rows of earlier parts once more."""
    learning, rows = learning_of(name), made_up_rows(24, seed=1)
    cuts = data.draw(st.lists(st.integers(0, 24), max_size=5).map(sorted), "cuts")
    batches = []
    for start, stop in zip([0, *cuts], [*cuts, 24], strict=True):
        again = data.draw(st.lists(st.integers(0, max(stop - 1, 0)), max_size=4))
        at = [*range(start, stop), *(index for index in again if index < stop)]
        batches.append(take(rows, np.array(data.draw(st.permutations(at)), int)))
    repeated = sum(len(batch.key) for batch in batches) - 24
    models, predictions, refusals = play(learning, batches, cache_bytes)
    expected = play(learning, [rows])
    assert models == expected[0]
    assert predictions == expected[1]
    assert [refusal for _, _, refusal in refusals] == [NOT_GREATER] * repeated


def test_a_row_that_comes_after_a_later_one_is_not_learnt():
    learning, rows = learning_of("RLS"), made_up_rows(20, keys=("a",))
    late = take(rows, np.array([7]))
    on_time = take(rows, np.delete(np.arange(20), 7))
    models, predictions, refusals = play(learning, [on_time, late])
    assert refusals == [("a", 21, NOT_GREATER)]
    assert (models, predictions) == play(learning, [on_time])[:2]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_row_that_is_refused_leaves_its_model_as_it_was(name):
    learning, rows = learning_of(name), made_up_rows(20, keys=("a", "b"))
    rows.x[4, 1], rows.y[9], rows.x[11, 0] = np.nan, np.inf, 1e200
    good = np.delete(np.arange(20), [4, 9, 11])
    models, predictions, refusals = play(learning, [rows])
    assert (models, predictions) == play(learning, [take(rows, good)])[:2]
    assert sorted(sequence for _, sequence, _ in refusals) == [12, 27, 33]
    assert play(learning, [take(rows, [at]) for at in range(20)])[0] == models


@pytest.mark.parametrize("name", LEARNERS)
def test_a_row_without_target_is_predicted_and_not_learnt(name):
    learning, rows = learning_of(name), made_up_rows(20, keys=("a",))
    _, labelled, _ = play(learning, [rows])
    rows.y[15:] = np.nan
    models, predictions, refusals = play(learning, [rows])
    assert refusals == []
    assert predictions["a", 45] == labelled["a", 45]
    model = to_online(learning, models, "a")
    assert model.rounds == 15
    assert [predictions["a", 3 * at] for at in range(15, 20)] == [
        model.predict(rows.x[at]) for at in range(15, 20)
    ]


@pytest.mark.parametrize("name", LEARNERS)
def test_an_exported_model_goes_on_where_it_was(name):
    learning, rows = learning_of(name), made_up_rows(30, keys=("a",))
    models, _, _ = play(learning, [take(rows, slice(0, 20))])
    exported = learning.export(models["a"], "a")
    assert exported.sequence == 57
    stored = learning.encode(learning.import_model(exported, "a"))
    assert stored == models["a"]
    other = learning_of("Tracker" if name == "RLS" else "RLS")
    with pytest.raises(PersistenceError, match="'a' was made with .*Got"):
        other.import_model(exported, "a")


def test_rows_without_key_or_sequence_are_refused():
    learning, rows = learning_of("RLS"), made_up_rows(6, keys=("a",))
    rows.key[1], rows.sequence[2] = "", -1
    models, predictions, refusals = play(learning, [rows])
    assert sorted(refusals) == [
        ("", 3, "A key is text that is not empty and that UTF-8 can write."),
        ("a", -1, "A sequence is a whole number from 0 to 2⁶³ - 1."),
    ]
    assert sorted(models) == ["a"]
    assert len(predictions) == 4


def test_of_two_rows_with_one_sequence_the_same_is_learnt_in_any_order():
    learning, rows = learning_of("RLS"), made_up_rows(8, keys=("a",))
    rows.sequence[5] = rows.sequence[4]
    models, _, refusals = play(learning, [rows])
    assert len(refusals) == 1
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(8)
        assert play(learning, [take(rows, order)])[0] == models


def test_no_rows_change_nothing():
    learning = learning_of("RLS")
    assert play(learning, [take(made_up_rows(5), slice(0, 0))]) == ({}, {}, [])


def test_a_model_becomes_an_online_that_continues_to_the_last_bit():
    learning, rows = learning_of("Tracker"), made_up_rows(30, keys=("a",))
    models, _, _ = play(learning, [take(rows, slice(0, 20))])
    model = to_online(learning, models, "a")
    expected = Online(LEARNERS["Tracker"]).run(rows.x, rows.y).prediction
    np.testing.assert_array_equal(
        model.run(rows.x[20:], rows.y[20:]).prediction, expected[20:]
    )


stored_models = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.builds(ModelBytes, st.text(), st.binary(), st.integers(0, 2**62)),
)


@given(st.binary(), stored_models)
def test_a_bucket_comes_back_from_its_bytes(settings, models):
    blob = pack_bucket(settings, models)
    assert unpack_bucket(blob) == (settings, models)
    assert pack_bucket(settings, dict(reversed(models.items()))) == blob


def test_bytes_that_are_no_bucket_are_refused():
    blob = pack_bucket(b"settings", {"a": ModelBytes("layout", b"model", 7)})
    for damaged in (b"", b"thalweg", blob[:-1], blob[:30], blob + b"x"):
        with pytest.raises(PersistenceError, match="bucket"):
            unpack_bucket(damaged)


def test_a_bucket_of_another_layout_says_what_to_do():
    blob = pack_bucket(b"", {}).replace(b"B\x01", b"B\x07")
    with pytest.raises(PersistenceError, match="layout 7, .* reads 1. Export .*'init"):
        unpack_bucket(blob)


def test_a_bucket_that_is_too_large_says_what_to_do(monkeypatch):
    monkeypatch.setattr(bucket_blob, "MAX_BLOB_BYTES", 100)
    models = dict.fromkeys("ab", ModelBytes("", b"x" * 60))
    with pytest.raises(StorageError, match="2 keys takes 202 bytes.*more buckets"):
        pack_bucket(b"", models)


def test_a_query_with_other_settings_is_refused():
    stored = learning_of("RLS").encode_settings()
    learning_of("RLS").require_settings(stored)
    for other in (learning_of("Tracker"), learning_of("RLS", buckets=8)):
        with pytest.raises(PersistenceError, match="buckets=4.*Got .*new checkpoint"):
            other.require_settings(stored)
    with pytest.raises(InvalidParameterError, match="'buckets'"):
        learning_of("RLS", buckets=0)


def test_a_model_that_cannot_be_read_says_what_to_do():
    learning, rows = learning_of("RLS"), made_up_rows(6, keys=("a",))
    with pytest.raises(PersistenceError, match="'a'.*Export the models"):
        learn_rows(ModelCache(learning), {"a": ModelBytes("int", b"nonsense")}, rows)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_micro_batch_that_failed_leaves_nothing_in_the_cache(name):
    """Its rows were learnt by models in memory, and Spark has the state before."""
    learning, rows = learning_of(name), made_up_rows(30)
    cache = ModelCache(learning)
    before, _ = learn_rows(cache, {}, take(rows, slice(0, 10)))
    failed, first = learn_rows(cache, before, take(rows, slice(10, 20)))
    again, second = learn_rows(cache, before, take(rows, slice(10, 20)))
    assert failed == again
    np.testing.assert_array_equal(first.prediction, second.prediction)


def test_a_cache_that_is_too_small_has_most_of_what_fits():
    """Keys in one order, again and again, of which half fit."""
    learning, keys = learning_of("RLS"), [f"k{at:02}" for at in range(40)]
    key = np.array(keys, object)
    x = np.ones((40, 2))
    rows = KeyedRows(key, np.zeros(40, np.int64), x, x[:, 0])
    cache = ModelCache(learning)
    models, _ = learn_rows(cache, {}, rows)
    small = ModelCache(learning, cache.size // 2)
    for batch in range(1, 30):
        rows = rows._replace(sequence=np.full(40, batch))
        models, _ = learn_rows(small, models, rows)
        assert small.size <= small.max_bytes
    assert small.size > 0.9 * small.max_bytes
    hits = 0
    for name in keys:
        is_cached = name in small._models
        model = small.take(name, models[name])
        hits += is_cached
        small.put(name, model, 0)
    assert hits >= 10  # An LRU cache would have none.


def test_keys_without_rows_leave_a_full_cache():
    learning, rows = learning_of("RLS"), made_up_rows(12, keys=("a", "b", "c"))
    cache = ModelCache(learning)
    models, _ = learn_rows(cache, {}, rows)
    cache.max_bytes = cache.size
    for at in range(500):
        name = f"new{at % 3}"
        model = cache.take(name, models["a"])
        cache.put(name, model, 0)
        assert cache.size <= cache.max_bytes
    assert not {"a", "b", "c"} & cache._models.keys()
