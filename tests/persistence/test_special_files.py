"""What exists and is no regular file is never replaced, and refused by name."""

import os
from functools import partial

import pytest

import thalweg as tw
from tests.persistence.examples import train_model
from tests.persistence.special_files import KINDS, identity, make_special_file
from thalweg.bandits import Agent
from thalweg.errors import PersistenceError, StorageError
from thalweg.keyed import KeyedModels
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.persistence import dumps, load, save

MODEL = train_model(RecursiveLeastSquares(), SquaredError(), 10)


def save_online(path):
    model = tw.Online(RecursiveLeastSquares())
    model.update([1.0, 2.0], 3.0)
    model.save(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("save_model", [partial(save, saved=MODEL), save_online])
def test_a_save_refuses_what_is_no_regular_file(tmp_path, kind, save_model):
    path = make_special_file(tmp_path, kind)
    before, names = identity(path), sorted(os.listdir(tmp_path))
    rule = f"{path} was not saved: it is {KINDS[kind]}, and only a regular file is"
    with pytest.raises(StorageError, match=rule):
        save_model(path)
    assert identity(path) == before
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("load_model", [load, tw.Online.load, Agent.load])
def test_a_load_refuses_what_is_no_regular_file(tmp_path, kind, load_model):
    """A named pipe would be waited for, and a device read without end."""
    path = make_special_file(tmp_path, kind)
    rule = f"{path} cannot be loaded: it is {KINDS[kind]}, and only a regular file is"
    with pytest.raises(StorageError, match=rule):
        load_model(path)


@pytest.mark.parametrize("start", [b"", dumps(MODEL)])
def test_of_a_file_that_is_no_model_only_the_start_is_read(tmp_path, start):
    """This one has 64 GB, without taking any room on the disk."""
    path = tmp_path / "huge"
    path.write_bytes(start)
    os.truncate(path, 2**36)
    with pytest.raises(PersistenceError, match="no thalweg model|68719476736"):
        load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_keyed_models_refuse_what_is_no_regular_file(tmp_path, kind):
    path = make_special_file(tmp_path, kind)
    before, names = identity(path), sorted(os.listdir(tmp_path))
    with pytest.raises(StorageError, match=f"special.* is {KINDS[kind]}"):
        KeyedModels(path, RecursiveLeastSquares())
    assert identity(path) == before
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_file_that_is_no_regular_file_is_refused(tmp_path, kind):
    path = make_special_file(tmp_path, kind, "models.db.lock")
    before = identity(path)
    with pytest.raises(StorageError, match=f"models.db.lock.* is {KINDS[kind]}"):
        KeyedModels(tmp_path / "models.db", RecursiveLeastSquares())
    assert identity(path) == before


def test_a_lock_file_that_is_a_link_leaves_what_it_leads_to(tmp_path):
    (tmp_path / "letter").write_text("Dear all")
    (tmp_path / "models.db.lock").symlink_to("letter")
    with pytest.raises(StorageError, match=r"models.db.lock is a link"):
        KeyedModels(tmp_path / "models.db", RecursiveLeastSquares())
    assert (tmp_path / "letter").read_text() == "Dear all"


def test_a_link_to_nothing_stays_and_leads_to_the_model(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("model.thalweg")
    save(link, MODEL)
    assert link.is_symlink()
    assert (tmp_path / "model.thalweg").read_bytes() == dumps(MODEL)


def test_a_refused_save_does_not_encode_the_model_first(tmp_path, monkeypatch):
    path = make_special_file(tmp_path, "fifo")
    monkeypatch.setattr("thalweg.persistence.files.dumps", None)
    with pytest.raises(StorageError, match="it is a named pipe"):
        save(path, MODEL)
