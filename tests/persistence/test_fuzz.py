"""Whatever the bytes, loading gives a model or the one documented error."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tests.models.test_online import LEARNERS
from tests.persistence.examples import EXAMPLES, train_model
from tests.persistence.mutations import SIGNED_MUTATIONS, UNSIGNED_MUTATIONS, sign_file
from thalweg.errors import PersistenceError
from thalweg.models import Online
from thalweg.persistence import SavedModel, dumps, loads

CASES = 2000
MAX_BYTES_PER_BYTE, BASE_BYTES = 40, 2**16
"""Loading a file may take so many times its length, and so much on top."""


@pytest.fixture(scope="module")
def sound():
    return [dumps(train_model(learner, loss, 10)) for learner, loss in EXAMPLES]


def load_measured(data):
    """The model, or None where it was refused; and the peak of the memory used."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        loaded = loads(data, "case")
    except PersistenceError as error:
        assert str(error).startswith("case cannot be loaded: ")
        loaded = None
    return loaded, tracemalloc.get_traced_memory()[1] - before


@pytest.mark.parametrize("block", range(8))
def test_loading_raises_only_the_documented_error(sound, block):
    rng = np.random.default_rng(block)
    for data in sound:
        loads(data)  # what is cached on first use is not counted
    tracemalloc.start()
    try:
        for _ in range(CASES // 8):
            data = sound[rng.integers(len(sound))]
            kinds = UNSIGNED_MUTATIONS if rng.random() < 0.4 else SIGNED_MUTATIONS
            how = kinds[rng.integers(len(kinds))]
            changed = how(rng, data)
            loaded, memory = load_measured(changed)
            assert memory <= MAX_BYTES_PER_BYTE * len(changed) + BASE_BYTES, (
                how.__name__
            )
            if loaded is not None:
                assert isinstance(loaded, SavedModel)
                assert how in SIGNED_MUTATIONS or changed == data
                dumps(loaded)
    finally:
        tracemalloc.stop()
    assert not Path("/tmp/thalweg-was-here").exists()


def test_a_long_header_is_refused_before_it_is_read():
    tracemalloc.start()
    try:
        loaded, memory = load_measured(
            sign_file(b"[" + b"[]," * 2_000_000 + b"[]]", b"")
        )
    finally:
        tracemalloc.stop()
    assert loaded is None and memory < 2**20


@pytest.fixture(scope="module")
def onlines(tmp_path_factory):
    """Files of ``Online``, of every learner, for every policy of missing values."""
    path, files = tmp_path_factory.mktemp("online") / "m.thalweg", []
    x, y = np.random.default_rng(0).normal(size=(10, 3)), np.arange(10) % 2.0
    for missing in ("refuse", "skip", "impute"):
        for learner, loss in LEARNERS:
            model = Online(learner, loss, missing=missing)
            model.run(x, y)
            if missing != "refuse":
                model.update([np.nan, 0.0, 1.0], 1.0)
            model.save(path)
            files.append(path.read_bytes())
    return files


@pytest.mark.parametrize("block", range(4))
def test_loading_an_online_raises_only_the_documented_error(tmp_path, onlines, block):
    rng, path = np.random.default_rng(block), tmp_path / "m.thalweg"
    for _ in range(CASES // 4):
        data = onlines[rng.integers(len(onlines))]
        how = (*UNSIGNED_MUTATIONS, *SIGNED_MUTATIONS)[
            rng.integers(len(UNSIGNED_MUTATIONS) + len(SIGNED_MUTATIONS))
        ]
        path.write_bytes(how(rng, data))
        try:
            with np.errstate(all="ignore"):  # where numbers of a state were made up
                model = Online.load(path)
        except PersistenceError as error:
            assert "m.thalweg" in str(error)
            continue
        model.save(path)
        assert Online.load(path).rounds == model.rounds
