"""A save that fails or ends at any call of the system leaves a file that loads."""

import os

import pytest

import thalweg as tw
from tests.persistence.examples import train_model
from tests.persistence.fault_injection import (
    ERRORS,
    KILLED,
    FaultInjection,
    Killed,
    each_fault,
    exit_code_of,
)
from thalweg.errors import StorageError, ThalwegError
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.persistence import dumps, load, save

OLD = train_model(RecursiveLeastSquares(), SquaredError(), 10)
NEW = train_model(RecursiveLeastSquares(), SquaredError(), 20)
CALLS = {"open", "write", "fsync", "replace", "close", "fchmod"}
"""Calls that a save is known to make: more than these are tried."""


@pytest.fixture(params=["file", "link"])
def path(request, tmp_path):
    save(tmp_path / "m.thalweg", OLD)
    if request.param == "file":
        return tmp_path / "m.thalweg"
    (tmp_path / "link").symlink_to("m.thalweg")
    return tmp_path / "link"


def check_file(path, names):
    """The file is the old one or the new one, and there is no other than before."""
    assert path.read_bytes() in (dumps(OLD), dumps(NEW))
    load(path)
    assert sorted(os.listdir(path.parent)) == names


@pytest.mark.parametrize("first", range(4))
def test_an_error_at_any_call_leaves_the_old_file(path, first):
    names, seen = sorted(os.listdir(path.parent)), set()
    for at, fault in each_fault(ERRORS[first:] + ERRORS[:first]):
        save(path, OLD)
        with FaultInjection(at, fault) as injection:
            try:
                save(path, NEW)
                error = None
            except StorageError as raised:
                error = raised
        if not injection.was_reached:
            break
        seen.add(injection.calls[-1].rpartition(".")[2])
        check_file(path, names)
        assert path.is_symlink() == (path.name == "link")
        if error is None:  # a call that may fail
            assert path.read_bytes() == dumps(NEW), injection.calls
            continue
        assert isinstance(error, ThalwegError) and isinstance(error, OSError)
        assert str(path) in str(error) and os.strerror(fault) in str(error)
        was_saved = "was saved, but" in str(error)
        assert path.read_bytes() == dumps(NEW if was_saved else OLD), injection.calls
        save(path, NEW)
        assert path.read_bytes() == dumps(NEW)
    assert seen >= CALLS and at > len(CALLS)


def test_an_interrupt_at_any_call_leaves_no_other_file(path):
    names = sorted(os.listdir(path.parent))
    for at in range(1000):
        save(path, OLD)
        with FaultInjection(at, "kill") as injection:
            try:
                save(path, NEW)
            except Killed:
                pass
        if not injection.was_reached:
            return
        check_file(path, names)


@pytest.mark.sampled(1)
def test_the_end_of_the_process_at_any_call_leaves_the_old_file_or_the_new_one(path):
    def save_until(at):
        with FaultInjection(at, "exit"):
            save(path, NEW)

    found = set()
    for at in range(1000):
        save(path, OLD)
        code = exit_code_of(lambda: save_until(at))  # noqa: B023
        data = path.read_bytes()
        assert data in (dumps(OLD), dumps(NEW))
        found.add(data)
        save(path, NEW)  # whatever else was left does not matter
        assert path.read_bytes() == dumps(NEW)
        if code == 0:
            break
        assert code == KILLED
    assert len(found) == 2 and at > len(CALLS)


def test_a_model_learns_on_after_a_save_that_failed_at_any_call(tmp_path):
    model, twin = (tw.Online(RecursiveLeastSquares()) for _ in range(2))
    for at, fault in each_fault((*ERRORS, "kill")):
        for one in (model, twin):
            one.update([1.0, at], at * 0.5)
        with FaultInjection(at, fault) as injection:
            try:
                model.save(tmp_path / "m")
            except (StorageError, Killed):
                pass
        if not injection.was_reached:
            break
    assert os.listdir(tmp_path) == ["m"]
    loaded = tw.Online.load(tmp_path / "m")
    assert loaded.predict([1.0, 3.0]) == twin.predict([1.0, 3.0])
