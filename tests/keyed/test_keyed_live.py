"""``KeyedModels`` is a dict of ``Online`` that knows which rows it has seen."""

import math
import resource
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import thalweg as tw
from tests.keyed.test_keyed import RLS, X, Y, feed, model_bytes
from thalweg.errors import PersistenceError, StorageError, ThalwegError
from thalweg.keyed import KeyedModels, row_log, store
from thalweg.keyed.codec import KeyedSettings
from thalweg.learners import LogisticTracker, RecursiveLeastSquares, SlidingWindow
from thalweg.losses import Logistic
from thalweg.persistence.raw_values import from_raw, to_raw

SOFT_LIMIT, HARD_LIMIT = resource.getrlimit(resource.RLIMIT_FSIZE)
FIRST_VERSION = Path(__file__).with_name("keyed-1.db")


class DictOfModels:
    """What ``KeyedModels`` promises, in the plainest form."""

    def __init__(self, learner, missing):
        self.settings = (learner, None, None, missing)
        self.models, self.last = {}, {}

    def observe(self, key, x, y, seq, weight, elapsed):
        last, prediction = self.last.get(key, (-1, None))
        if seq <= last:
            return prediction if seq == last else None
        model = self.models.setdefault(key, tw.Online(*self.settings))
        prediction = float(model.predict(x))
        if y is not None or model.missing != "refuse":
            model.update(x, math.nan if y is None else y, weight, elapsed)
        self.last[key] = (seq, prediction)
        return prediction


ROWS = st.tuples(
    st.sampled_from("abcd"),
    st.integers(0, 40),  # row of X
    st.booleans(),  # whether it has a target
    st.integers(0, 30),  # seq
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1.0, 2.0]),
)
STEPS = st.one_of(
    st.lists(ROWS, min_size=1, max_size=12),  # a batch, or its rows one by one
    st.sampled_from(["flush", "open again", "kill"]),
)


@pytest.mark.parametrize(
    "learner, missing",
    [
        (RLS, "refuse"), (RLS, "skip"), (RLS, "impute"), (tw.Tracker(), "refuse"),
        (tw.Tracker(), "impute"), (tw.Tracker(delay=1), "skip"),
        (SlidingWindow(5), "refuse"),
    ],
)  # fmt: skip
@settings(
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    steps=st.lists(STEPS, max_size=8),
    held=st.integers(1, 5),
    one_by_one=st.booleans(),
    log_bytes=st.sampled_from([0, 500, 2000, 2**25]),
)
def test_any_history_equals_a_dict_of_models(
    tmp_path_factory, monkeypatch, learner, missing, steps, held, one_by_one, log_bytes
):
    monkeypatch.setattr(row_log, "MAX_LOG_BYTES", log_bytes)
    path = tmp_path_factory.mktemp("keyed") / "models.db"
    memory = held * (600_000 if isinstance(learner, tw.Tracker) else 9_000)
    options = {"missing": missing, "memory": memory}
    models, unacknowledged = KeyedModels(path, learner, **options), []
    expected = DictOfModels(learner, missing)
    for step in steps:
        if step == "flush":
            models.flush()
            unacknowledged.clear()
        elif step == "open again":
            models.close()
            models = KeyedModels(path, **options)
            unacknowledged.clear()
        elif step == "kill":  # then the source sends again what was not acknowledged
            models._release()
            models = KeyedModels(path, learner, **options)
            for row in unacknowledged:
                models.observe(*row)
        else:
            rows = [
                (key, X[t], float(Y[t]) if known else None, seq, weight, elapsed)
                for key, t, known, seq, weight, elapsed in step
            ]
            right = [expected.observe(*row) for row in rows]
            unacknowledged += rows
            if one_by_one:
                assert [models.observe(*row) for row in rows] == right
            else:
                keys, x, y, *others = zip(*rows, strict=True)
                found = models.observe_many(keys, x, y, *others)
                right = [math.nan if p is None else p for p in right]
                assert np.array_equal(found, right, equal_nan=True)
    assert models.keys() == sorted(expected.models) == list(models)
    assert len(models) == len(expected.models)
    for key, model in expected.models.items():
        assert models.last_seq(key) == expected.last[key][0]
        assert models[key].rounds == model.rounds
        assert models.predict(key, X[99]) == model.predict(X[99])
        assert state_bytes(models[key]) == state_bytes(model)
    models.close()


def state_bytes(model):
    return None if model.state is None else to_raw(model.state)


def test_a_model_is_an_independent_online_with_intervals(path):
    alone = tw.Online(RLS)
    alone.run(X[:50], Y[:50])
    with KeyedModels(path, RLS) as models:
        for t in range(50):
            models.observe("a", X[t], Y[t], t)
        interval = models.predict("a", X[60], interval=0.9)
        assert interval == alone.predict(X[60], interval=0.9)
        copy = models["a"]
        copy.update(X[70], 1e6)
        assert models.predict("a", X[60]) == alone.predict(X[60]) != copy.predict(X[60])
        assert "a" in models and "b" not in models and 7 not in models
        with pytest.raises(KeyError, match="b"):
            models["b"]
        assert models.predict("a", X[:3]).tolist() == alone.predict(X[:3]).tolist()
    with KeyedModels(path) as models:
        assert models.predict("a", X[60], interval=0.9) == interval
        assert models["a"].rounds == 50 and models.last_seq("a") == 49


def test_long_histories_of_errors_are_stored_in_their_order(path):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(700, 2)), rng.normal(size=700)
    alone = tw.Online(RLS)
    alone.run(x, y)
    with KeyedModels(path, RLS) as models:
        models.observe_many(["a"] * 700, x, y, range(700))
        before = model_bytes(models, ["a"])
    with KeyedModels(path) as models:
        assert model_bytes(models, ["a"]) == before
        assert models.predict("a", x[0], 0.8) == alone.predict(x[0], interval=0.8)


LEARNERS = [(LogisticTracker(), Logistic()), (RLS, None), (tw.Tracker(), None)]


@pytest.mark.parametrize("learner, loss", LEARNERS)
def test_bytes_are_those_of_the_record_that_describes_itself(learner, loss):
    codec = KeyedSettings.of(learner, loss)
    model = codec.new_model()
    for t in range(30):
        model.online.update(X[t], float(Y[t] > 0))
    model.last = (29, 0.25, 30)
    raw = codec.encode(model)
    kind, layout = raw.layout.split(" ")
    assert kind == type(learner).__name__
    record = from_raw(raw._replace(layout=layout))
    assert (record["seq"], record["prediction"], record["rounds"]) == model.last
    again = codec.decode(raw, "k")
    assert again.last == model.last and codec.encode(again) == raw
    assert state_bytes(again.online) == state_bytes(model.online)


def test_files_of_the_first_version_open_and_go_on(path):
    shutil.copy(FIRST_VERSION, path)
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    learner = RecursiveLeastSquares(0.9)
    with KeyedModels(path, learner) as models:
        assert models.offset == 11 and models.keys() == ["a", "b"]
        assert models.predict("a", x[0]) == float.fromhex("0x1.e05b20291dea0p-6")
        assert models.observe("b", x[0], y[0], 11) == float.fromhex(
            "-0x1.7430353e5b231p-1"
        )
        assert models.last_seq("a") == 10
        models.observe("a", x[0], y[0], 12)
    alone = tw.Online(learner)
    alone.run(x[::2], y[::2])
    alone.update(x[0], y[0])
    with KeyedModels(path) as models:
        assert models.offset == 12 and models["a"].rounds == 7
        assert models.predict("a", x[1]) == alone.predict(x[1])
        assert models.predict("b", x[0]) == float.fromhex("-0x1.178ff7b11bdbdp-2")
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (3,)
    file.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(path, monkeypatch):
    shutil.copy(FIRST_VERSION, path)
    broken = ("ALTER TABLE models ADD COLUMN layout INTEGER", "SELECT no_such_thing")
    with monkeypatch.context() as patch:
        patch.setitem(store.MIGRATIONS, 1, broken)
        with pytest.raises(StorageError, match="no_such_thing"):
            KeyedModels(path)
    with KeyedModels(path) as models:
        assert models.keys() == ["a", "b"]


def test_a_file_knows_its_settings(path):
    with KeyedModels(path, RLS, missing="impute") as models:
        models.observe("a", [1.0, np.nan], 1.0, 0)
    with KeyedModels(path) as models:
        assert (models.learner, models.missing, models.intercept) == (
            RLS, "impute", True,
        )  # fmt: skip
        assert models["a"].imputer.state.imputed == 1
    with pytest.raises(PersistenceError, match="and missing='impute'. Give these, or"):
        KeyedModels(path, missing="skip")
    with KeyedModels(path.with_name("other.db")) as models:
        assert models.learner == tw.Tracker() and models.intercept is False


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_keys_that_nobody_observes_are_removed_by_a_flush(path):
    clock = Clock()
    with KeyedModels(path, RLS, ttl=60.0, clock=clock) as models:
        feed(models, 0, 8)
        models.flush()
        clock.now += 50
        models.observe("k0", X[8], Y[8], 8)
        models.flush()
        assert len(models) == 4
        clock.now += 20  # k0 was flushed 20 seconds ago, the others 70
        models.predict("k1", X[0])
        models.observe("k2", X[9], Y[9], 9)  # in time: before the flush
        models.flush()
        assert models.keys() == ["k0", "k2"] and "k1" not in models
        assert models.predict("k1", X[0]) == 0.0 and models.last_seq("k1") is None
        assert models.offset == 9
        clock.now += 61
        models.flush()  # there is nothing to write, but two keys to remove
        assert models.keys() == [] and models.offset == 9
        assert models.observe("k0", X[0], Y[0], 3) == 0.0  # it begins again
    with KeyedModels(path, clock=clock) as models:
        assert models.keys() == ["k0"] and models["k0"].rounds == 1


def limit_pages(models):
    pages = models._store._read_one("PRAGMA page_count")
    models._store._connection.execute(f"PRAGMA max_page_count = {pages}")


def free_pages(models):
    models._store._connection.execute("PRAGMA max_page_count = 1000000")


def limit_file(models):
    size = models.path.with_name(models.path.name + "-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, HARD_LIMIT))


def free_file(models):
    resource.setrlimit(resource.RLIMIT_FSIZE, (SOFT_LIMIT, HARD_LIMIT))


@pytest.mark.parametrize(
    "limit, free", [(limit_pages, free_pages), (limit_file, free_file)]
)
@pytest.mark.parametrize("memory", [2**30, 100_000], ids=["all in memory", "evicting"])
def test_a_full_disk_is_refused_and_loses_nothing(path, limit, free, memory):
    whole = KeyedModels(path.with_name("whole.db"), RLS)
    expected = feed(whole, 0, 120, keys=110)
    models = KeyedModels(path, RLS, memory=memory)
    predictions = feed(models, 0, 8, keys=110)
    models.flush()
    limit(models)
    try:
        with pytest.raises(StorageError, match="cannot grow.*Nothing is lost"):
            for t in range(8, 120):
                predictions.append(models.observe(f"k{t % 110}", X[t], Y[t], t))
            models.flush()
        other = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        query = "SELECT value FROM source WHERE name = 'offset'"
        # An eviction may have written some rows, all before one that was refused.
        assert other.execute(query).fetchone() == (models.offset,)
        assert models.offset == 7 or memory < 2**30 and 7 < models.offset < 119
        other.close()
    finally:
        free(models)
    for t in range(len(predictions), 120):
        predictions.append(models.observe(f"k{t % 110}", X[t], Y[t], t))
    models.close()
    assert predictions == expected
    with KeyedModels(path) as models:
        assert models.offset == 119
        assert model_bytes(models, models.keys()) == model_bytes(whole, whole.keys())
    whole.close()


def test_a_call_in_the_middle_of_another_is_refused(path):
    class Features:
        def __array__(self, *given, **options):
            models.flush()
            return np.ones(3)

    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
        before = model_bytes(models, models.keys())
        with pytest.raises(ThalwegError, match="in the middle of another call"):
            models.observe("k0", Features(), 1.0, 9)
        assert model_bytes(models, models.keys()) == before
        assert models.observe("k0", X[9], Y[9], 9) is not None
