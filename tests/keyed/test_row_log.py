"""The row log of ``KeyedModels``: rows are written, and states now and then."""

import json
import sqlite3

import numpy as np
import pytest

import thalweg as tw
from tests.keyed.test_keyed import RLS, X, Y, feed, model_bytes
from thalweg.errors import PersistenceError, StorageError
from thalweg.keyed import KeyedModels, row_log
from thalweg.keyed.row_log import RowLog, Segment, make_segment

ROWS = 120


def read(path, query):
    file = sqlite3.connect(path)
    rows = file.execute(query).fetchall()
    file.close()
    return rows


def kill(models):
    """Leave the file as kill -9 would."""
    models._release()


def expected_bytes(path, count, keys=4):
    with KeyedModels(path.with_name(f"whole-{count}-{keys}.db"), RLS) as models:
        feed(models, 0, count, keys=keys)
        return model_bytes(models, models.keys())


def test_a_flush_writes_rows_and_the_end_writes_states(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()  # new keys have no state that rows could be added to
    states = read(path, "SELECT key, model FROM models ORDER BY key")
    assert len(states) == 4 and read(path, "SELECT * FROM row_log") == []
    feed(models, 8, 12)
    models.flush()
    feed(models, 12, 14)
    models.flush()
    assert read(path, "SELECT key, model FROM models ORDER BY key") == states
    assert read(path, "SELECT segment FROM row_log") == [(1,), (2,)]
    models.close()
    assert read(path, "SELECT * FROM row_log") == []
    assert read(path, "SELECT DISTINCT segment FROM models") == [(2,)]
    with KeyedModels(path) as models:
        assert model_bytes(models, models.keys()) == expected_bytes(path, 14)


def test_after_a_crash_rows_of_the_log_are_learnt_again(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    feed(models, 8, 50)
    models.flush()
    feed(models, 50, 60)  # never acknowledged
    kill(models)
    models = KeyedModels(path)
    assert models.offset == 49
    assert model_bytes(models, models.keys()) == expected_bytes(path, 50)
    feed(models, 50, 55)
    models.flush()
    kill(models)
    with KeyedModels(path) as models:
        assert model_bytes(models, models.keys()) == expected_bytes(path, 55)


def test_the_log_does_not_grow_beyond_its_limit(path, monkeypatch):
    monkeypatch.setattr(row_log, "MAX_LOG_BYTES", 4000)
    models, sizes, written = KeyedModels(path, RLS), [], []
    feed(models, 0, 7, keys=7)
    for t in range(7, ROWS):
        models.flush()
        models.observe(f"k{t % 7}", X[t], Y[t], t)
        ((size,),) = read(path, "SELECT coalesce(sum(length(rows)), 0) FROM row_log")
        sizes.append(size)
        written += read(path, "SELECT max(segment) FROM models")
    assert max(sizes) <= 4000 and np.median(sizes) > 2000
    # States are written by and by, not all at once.
    assert 10 < len(set(written)) < ROWS - 20
    models.flush()
    kill(models)
    with KeyedModels(path) as models:
        assert model_bytes(models, models.keys()) == expected_bytes(path, ROWS, 7)


def test_where_rows_are_more_than_states_states_are_written(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
        models.flush()
        feed(models, 4, 100, keys=2)
        models.flush()
        assert read(path, "SELECT * FROM row_log") == []


def test_rows_that_nobody_flushes_do_not_pile_up(path, monkeypatch):
    monkeypatch.setattr("thalweg.keyed.keyed_models.MAX_BUFFERED_ROWS", 20)
    monkeypatch.setattr(row_log, "MAX_BUFFERED_ROWS", 19)
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
        models.flush()
        for t in range(4, 100):
            models.observe(f"k{t % 4}", X[t], Y[t], t)
            assert len(models._log.rows) <= 20
        assert len(models._unsaved) == 4
    with KeyedModels(path) as models:
        assert model_bytes(models, models.keys()) == expected_bytes(path, 100)


def test_the_caller_may_change_its_arrays_after_a_call(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    x, y = X[8:20].copy(), Y[8:20].copy()
    keys, seq = [f"k{t % 4}" for t in range(8, 20)], np.arange(8, 20)
    models.observe_many(keys, x, y, seq)
    models.observe("k0", x[0] + 1.0, 3.0, 20)
    row = X[21].copy()
    models.observe("k1", row, Y[21], 21)
    x[:], y[:], seq[:], row[:] = 1e9, 1e9, 0, 1e9
    models.flush()
    expected = model_bytes(models, models.keys())
    kill(models)
    with KeyedModels(path) as models:
        assert model_bytes(models, models.keys()) == expected


def test_a_key_that_was_removed_begins_anew_without_its_rows(path):
    class Clock:
        now = 1000.0

        def __call__(self):
            return self.now

    clock = Clock()
    models = KeyedModels(path, RLS, ttl=60.0, clock=clock)
    feed(models, 0, 8)
    models.flush()
    clock.now += 30
    feed(models, 8, 12)
    models.flush()  # to the log, thirty seconds after the states
    clock.now += 40
    models.observe("k0", X[12], Y[12], 12)
    models.flush()
    assert len(models) == 4  # the log knows that rows came later
    clock.now += 30
    models.flush()
    assert models.keys() == ["k0"]
    models.observe("k1", X[0], Y[0], 3)  # with a seq below those of its former life
    models.flush()
    kill(models)
    with KeyedModels(path, clock=clock) as models:
        assert models["k1"].rounds == 1 and models["k0"].rounds == 4


def test_old_keys_are_removed_also_after_a_crash(path):
    models = KeyedModels(path, RLS, ttl=60.0, clock=lambda: 1000.0)
    feed(models, 0, 8)
    models.flush()
    models.observe("k0", X[8], Y[8], 8)
    models.flush()
    kill(models)
    with KeyedModels(path, RLS, ttl=60.0, clock=lambda: 1061.0) as models:
        models.flush()
        assert models.keys() == []
    assert read(path, "SELECT * FROM row_log") == []


def test_old_keys_expire_though_a_flush_before_failed(path, monkeypatch):
    now = [1000.0]
    models = KeyedModels(path, RLS, ttl=60.0, clock=lambda: now[0])
    feed(models, 0, 8)
    models.flush()
    now[0] += 61

    def refuse(*given, **named):
        raise StorageError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(models._store, "commit", refuse)
        with pytest.raises(StorageError):
            models.flush()
    models.flush()
    assert models.keys() == []
    models.close()


def test_a_number_of_a_segment_is_never_used_again(path, monkeypatch):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    commit = models._store.commit

    def refuse(*given, **named):
        raise StorageError("The disk is full.")

    monkeypatch.setattr(models._store, "commit", refuse)
    models.observe("k0", X[8], Y[8], 8)
    with pytest.raises(StorageError):
        models.flush()
    monkeypatch.setattr(models._store, "commit", commit)
    models._cache.write_states()
    models.flush()  # the state of k0 holds what the segment would have held
    kill(models)
    models = KeyedModels(path)
    models.observe("k0", X[9], Y[9], 9)
    models.flush()
    kill(models)
    with KeyedModels(path) as models:
        assert models["k0"].rounds == 4


def test_an_interrupt_between_learning_and_the_log_has_the_state_written(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    model = models._cache.models["k1"]
    live = model.online._live
    models._log.in_flight, model.pending = "k1", ((9,), 0)
    live.learn(live.buffer, X[9], float(Y[9]), 1.0, 1.0, True)  # and here Ctrl-C
    models.observe("k2", X[10], Y[10], 10)
    models.flush()
    kill(models)
    with KeyedModels(path) as models:
        assert models.last_seq("k1") == 9 and models["k1"].rounds == 3
        assert models.last_seq("k2") == 10 and models["k2"].rounds == 3


def test_rows_that_were_written_twice_are_learnt_once(path, monkeypatch):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    feed(models, 8, 12)
    models.flush()
    feed(models, 12, 16)

    def interrupt(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RowLog, "settle", interrupt)
        with pytest.raises(KeyboardInterrupt):
            models.flush()
    models.flush()
    assert len(read(path, "SELECT * FROM row_log")) == 3
    kill(models)
    with KeyedModels(path) as models:
        assert model_bytes(models, models.keys()) == expected_bytes(path, 16)


SEGMENT = make_segment([
    ("a", 3, np.ones(2).tobytes(), 1.0, 1.0, 1.0),
    ("b", 4, np.ones(3).tobytes(), 2.0, 0.5, 1.0),
    ("a", 5, np.zeros(2).tobytes(), 3, 1.0, 1.0),
])  # fmt: skip


def test_a_segment_is_read_as_it_was_written():
    rows = dict(Segment.from_bytes(SEGMENT.to_bytes(), "f").rows_by_key())
    assert rows == {
        "a": [
            ("a", 3, np.ones(2).tobytes(), 1.0, 1.0, 1.0),
            ("a", 5, np.zeros(2).tobytes(), 3.0, 1.0, 1.0),
        ],
        "b": [("b", 4, np.ones(3).tobytes(), 2.0, 0.5, 1.0)],
    }
    plain = make_segment([("a", 3, np.ones(2).tobytes(), 1.0, 1.0, 1)])
    assert plain.rates.shape == (2, 0)
    assert list(plain.rows_by_key())[0][1][0][4:] == (1.0, 1.0)


@pytest.mark.parametrize(
    "field, value",
    [
        ("keys", '["a"]'), ("keys", "[1, 2]"), ("keys", "a"), ("keys", "{}"),
        ("numbers", np.array([0, 1, 2], np.int32)),
        ("numbers", np.array([0, -1, 1], np.int32)),
        ("seqs", np.array([3, 4])), ("seqs", np.array([3, 4, -1])),
        ("sizes", np.array([2, 3, 3], np.int32)),
        ("sizes", np.array([9, -2, 0], np.int32)),
        ("x", np.ones(9)), ("y", np.ones(4)), ("rates", np.ones((2, 2))),
        ("rates", np.ones((3, 3))),
    ],
)  # fmt: skip
def test_a_segment_whose_parts_do_not_fit_is_refused(field, value):
    data = SEGMENT._replace(**{field: value}).to_bytes()
    with pytest.raises(PersistenceError, match="f holds rows that cannot be read"):
        Segment.from_bytes(data, "f")


@pytest.mark.parametrize(
    "statement, words",
    [
        ("UPDATE source SET value = 'x' WHERE name = 'segment'", "counts segments by"),
        ("UPDATE models SET segment = 'x'", "holds a model of 'k0' that is no model"),
    ],
)
def test_a_damaged_log_is_named(path, statement, words):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    feed(models, 8, 12)
    models.flush()
    kill(models)
    with sqlite3.connect(path) as other:
        other.execute(statement)
    other.close()
    with pytest.raises(PersistenceError, match=words), KeyedModels(path) as models:
        models.predict("k0", X[0])


def test_a_row_of_the_log_that_the_model_refuses_is_named(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    models.observe("k0", X[8], Y[8], 8)
    models.flush()
    kill(models)
    wrong = make_segment([("k0", 8, np.ones(2).tobytes(), 1.0, 1.0, 1.0)])
    with sqlite3.connect(path) as other:
        other.execute("UPDATE row_log SET rows = ?", (wrong.to_bytes(),))
    other.close()
    with pytest.raises(PersistenceError, match="'k0' in .* its row 8 is refused: "):
        KeyedModels(path).predict("k0", X[0])


def test_files_of_the_second_version_open_and_go_on(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 8)
    with sqlite3.connect(path) as other:
        other.execute("ALTER TABLE models DROP COLUMN segment")
        other.execute("DROP TABLE row_log")
        other.execute("PRAGMA user_version = 2")
    other.close()
    models = KeyedModels(path)
    feed(models, 8, 20)
    models.flush()
    kill(models)
    with KeyedModels(path) as models:
        assert model_bytes(models, models.keys()) == expected_bytes(path, 20)


def test_names_of_keys_may_be_anything(path):
    keys = ["a\x00b", '"', "ключ", "🔑", "[", "a,b"]
    models = KeyedModels(path, tw.RecursiveLeastSquares())
    for t in range(24):
        models.observe(keys[t % 6], X[t], Y[t], t)
        if t % 6 == 5:
            models.flush()
    expected = model_bytes(models, keys)
    kill(models)
    with KeyedModels(path) as models:
        assert model_bytes(models, keys) == expected
        assert json.dumps(models.keys()) == json.dumps(sorted(keys))
