import importlib
import subprocess
import sys

import pytest

import thalweg

PACKAGES = (
    "bandits",
    "bounds",
    "discounts",
    "domains",
    "evaluation",
    "forecasting",
    "integrations.sklearn",
    "keyed",
    "models",
    "learners",
    "losses",
    "paper",
    "persistence",
    "regret",
    "streams",
)


@pytest.mark.parametrize("package", ["", *(f".{package}" for package in PACKAGES)])
def test_every_listed_name_can_be_imported_and_the_list_is_sorted(package):
    module = importlib.import_module(f"thalweg{package}")
    assert list(module.__all__) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = thalweg.nonsense


def test_import_brings_in_neither_the_compiler_nor_scipy():
    code = "import sys, thalweg; print({'numba', 'scipy', 'numpy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_a_model_loads_no_part_of_scipy_that_it_does_not_use():
    """They would take as long as all the rest."""
    code = (
        "import sys, thalweg; thalweg.Online(thalweg.RecursiveLeastSquares()); "
        "print({'scipy.optimize', 'scipy.special', 'scipy.linalg'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout == "set()\n"


@pytest.mark.parametrize(
    "call",
    [
        "thalweg.Online().update(x[0], 1.0)",
        "thalweg.Online(thalweg.RecursiveLeastSquares()).run(x, x[:, 0])",
        "thalweg.Classifier().update(x[0], 'a')",
        "thalweg.Forecaster(3, season=7).update(1.0)",
    ],
)
def test_whoever_has_arrays_loads_no_tables_and_no_classes_of_files(call):
    code = (
        f"import sys, numpy as np, thalweg; x = np.eye(9); {call}; "
        "ours = {name for name in sys.modules if name.startswith('thalweg')}; "
        "print(len(ours), [n for n in ours if 'tables' in n or 'registry' in n])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    count, _, unwanted = done.stdout.strip().partition(" ")
    assert unwanted == "[]" and int(count) <= 100, done.stdout + done.stderr
