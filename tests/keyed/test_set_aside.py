"""A record that cannot be read costs no other record, and is said to be set aside."""

import sqlite3
import warnings

import numpy as np
import pytest

from tests.cli.streams import thalweg
from thalweg.errors import PersistenceError
from thalweg.keyed import KeyedModels
from thalweg.learners import RecursiveLeastSquares

RLS = RecursiveLeastSquares(0.9)
KEYS = ("a", "b", "c")
X = np.random.default_rng(0).normal(size=(60, 2))


def damaged(path, *statements):
    """A file with a state of each key and two segments of its log, then changed."""
    models = KeyedModels(path, RLS)
    for seq in range(8):
        feed(models, seq)
        if seq in (3, 5, 7):
            models.flush()
    models._release()
    with sqlite3.connect(path) as other:
        count = other.execute("SELECT count(*) FROM row_log").fetchone()
        assert count == (2,)
        for statement in statements:
            other.execute(statement)
    other.close()


def feed(models, seq, keys=KEYS):
    for key in keys:
        models.observe(key, X[seq], X[seq].sum(), seq)


@pytest.mark.parametrize(
    "change", ["rows = x'00'", "rows = 'text'", "written_at = 'never'"]
)
def test_a_segment_that_cannot_be_read_is_set_aside_and_the_rest_opens(path, change):
    damaged(path, f"UPDATE row_log SET {change} WHERE segment = 1")
    with pytest.warns(UserWarning, match=r"segment 1 of .* is set aside: .*\brepair"):
        models = KeyedModels(path)
    with models:
        assert [models.last_seq(key) for key in KEYS] == [7] * 3
        assert [models[key].rounds for key in KEYS] == [6] * 3  # of states, segment 2
        feed(models, 8)
    with warnings.catch_warnings(action="error"), KeyedModels(path) as models:
        assert [models[key].rounds for key in KEYS] == [7] * 3
        assert [found[:2] for found in models.repair()] == [("segment", "1")]


def test_an_offset_that_cannot_be_read_is_set_aside(path):
    damaged(path, "UPDATE source SET value = 'x' WHERE name = 'offset'")
    with pytest.warns(UserWarning, match="source 'offset' of .* is set aside"):
        models = KeyedModels(path)
    with models:
        assert models.offset is None
        for seq in range(9):
            feed(models, seq)
    with KeyedModels(path) as models:
        assert models.offset == 8 and models["a"].rounds == 9


@pytest.mark.parametrize("column", ["model = x'00'", "layout = 99", "segment = 'x'"])
def test_a_key_whose_model_cannot_be_read_is_refused_alone(path, column):
    damaged(path, f"UPDATE models SET {column} WHERE key = 'a'")
    models = KeyedModels(path)
    for _ in range(2):
        with pytest.raises(PersistenceError, match="'a'"):
            feed(models, 8, "a")
        feed(models, 8, "bc")
        models.flush()
    with pytest.warns(UserWarning, match="rows of 'a' stay in the log: .*repair"):
        models.close()
    models = KeyedModels(path)
    assert [models.last_seq(key) for key in "bc"] == [8, 8]
    with pytest.warns(UserWarning, match="model 'a' of .* is set aside"):
        (found,) = models.repair()
    assert (found.kind, found.name) == ("model", "a") and "'a'" in found.reason
    assert models.last_seq("a") is None
    feed(models, 9)
    models.flush()
    models._release()
    with warnings.catch_warnings(action="error"), KeyedModels(path) as models:
        assert [models[key].rounds for key in KEYS] == [1, 10, 10]
        assert [one.name for one in models.repair()] == ["a"]


def test_rows_of_a_model_that_cannot_be_read_stay_in_the_log(path, monkeypatch):
    damaged(path, "UPDATE models SET model = x'00' WHERE key = 'a'")
    monkeypatch.setattr("thalweg.keyed.row_log.MAX_LOG_BYTES", 1)
    before = sqlite3.connect(path)
    (sound,) = before.execute("SELECT model FROM models WHERE key = 'b'").fetchone()
    before.close()
    models = KeyedModels(path)
    with pytest.warns(UserWarning, match="rows of 'a' stay in the log"):
        for seq in range(8, 12):
            feed(models, seq, "bc")
            models.flush()
    models._release()
    with sqlite3.connect(path) as other:
        numbers = other.execute("SELECT segment FROM row_log").fetchall()
        other.execute("UPDATE models SET model = ? WHERE key = 'a'", (sound,))
    other.close()
    assert numbers[:2] == [(1,), (2,)]
    with KeyedModels(path) as models:  # as if its bytes had come back
        assert models.last_seq("a") == 7 and models.last_seq("b") == 11


def test_the_command_lists_what_is_set_aside(path):
    damaged(
        path,
        "UPDATE models SET model = x'00' WHERE key = 'a'",
        "UPDATE row_log SET rows = x'00' WHERE segment = 2",
    )
    for _ in range(2):
        done = thalweg("repair", str(path))
        words = " ".join(done.stdout.split())
        assert done.exit_code == 0, done.output
        assert "Set aside: segment '2'." in words and "Set aside: model 'a'." in words
    with KeyedModels(path) as models:
        assert models.keys() == ["b", "c"]


def test_the_command_says_that_all_can_be_read(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0)
    assert "can be read" in thalweg("repair", str(path)).stdout
    missing = thalweg("repair", str(path.with_name("missing.db")))
    assert missing.exit_code == 2 and "does not exist" in missing.output
    assert not path.with_name("missing.db").exists()
