"""Commands on the user's data run linear algebra in one thread."""

import os
import subprocess
import sys

import pytest

from thalweg.cli.command_group import VARIABLES, use_one_thread


@pytest.fixture
def before_numpy(monkeypatch):
    """As it is before NumPy is loaded, with none of the variables set."""
    monkeypatch.delitem(sys.modules, "numpy")
    for name in VARIABLES:
        monkeypatch.setenv(name, "")  # so that it is as before after the test
        monkeypatch.delenv(name)


def test_linear_algebra_has_one_thread(before_numpy):
    use_one_thread()
    assert [os.environ[name] for name in VARIABLES] == ["1", "1"]


def test_the_users_own_number_of_threads_stays(before_numpy, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    use_one_thread()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"


def test_nothing_is_set_once_it_is_too_late(before_numpy, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", os)
    use_one_thread()
    assert not any(name in os.environ for name in VARIABLES)


def test_a_command_sets_them_before_numpy_is_loaded():
    code = (
        "import os, sys; from thalweg.cli.main import app\n"
        "assert 'numpy' not in sys.modules\n"
        "try: app(['compare', '--help'])\n"
        "except SystemExit: pass\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    clean = {name: os.environ[name] for name in os.environ if name not in VARIABLES}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env=clean,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "1"
