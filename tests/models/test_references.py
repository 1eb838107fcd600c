"""A call keeps no reference to its arguments, not even in a cycle.

Cycles wait for garbage collection, which a server triggers seldom: rows of megabytes
would pile up until then.
"""

import gc
import itertools
import weakref

import numpy as np
import pytest

import thalweg as tw
from thalweg.keyed import KeyedModels

RLS = tw.RecursiveLeastSquares(0.9)


class NamedRow(dict):
    """A dict that can be referenced weakly."""


def array_row():
    return np.ones(3)


def named_row():
    return NamedRow(a=1.0, b=2.0)


def require_no_reference(call, make_row):
    for _ in range(2):  # the first calls are others than those that follow
        call(make_row())
    row = make_row()
    reference = weakref.ref(row)
    gc.disable()
    try:
        call(row)
        del row
        assert reference() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("make_row", [array_row, named_row])
@pytest.mark.parametrize("missing", ["refuse", "skip", "impute"])
def test_online_keeps_no_row(make_row, missing):
    model = tw.Online(RLS, missing=missing)
    require_no_reference(lambda row: model.update(row, 1.0), make_row)
    require_no_reference(lambda row: model.predict(row), make_row)


@pytest.mark.parametrize("make_row", [array_row, named_row])
def test_keyed_models_keep_no_row(make_row, tmp_path):
    seqs = itertools.count()
    with KeyedModels(tmp_path / "m.db", RLS) as models:
        observe = lambda row: models.observe("k", row, 1.0, next(seqs))  # noqa: E731
        require_no_reference(observe, make_row)
        require_no_reference(lambda row: models.predict("k", row), make_row)
