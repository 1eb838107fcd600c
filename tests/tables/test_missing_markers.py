"""Columns of many gaps have a feature that says where, as the first rows decide."""

import io

import numpy as np
import pytest

import thalweg as tw
from tests.tables.sample_tables import (
    assert_same,
    concatenate,
    encode_table,
    through_file,
)
from thalweg.tables import Encoder, Recipe, read_table

IMPUTE = Recipe(("y",), lags=(), missing="impute")


def written(path, gaps, rows=400):
    """A file of two columns of numbers, the first of which lacks every gaps-th."""
    lines = [f"{'' if k % gaps == 1 else k},{k % 7},{k}\n" for k in range(rows)]
    path.write_text("a,b,y\n" + "".join(lines))
    return path


def encoded(path, recipe=IMPUTE):
    encoder = Encoder(recipe)
    return encoder, encode_table(read_table(path), encoder=encoder)


def test_a_column_of_many_gaps_has_a_marker(tmp_path):
    encoder, rounds = encoded(written(tmp_path / "x.csv", gaps=20))
    assert encoder.feature_names() == ("a", "a missing", "b")
    assert encoder.count_features(None) == 3
    assert rounds.x[:, 1].tolist() == [float(k % 20 == 1) for k in range(400)]
    assert encoder.notes() == ("Column 'a' has many gaps: a feature says where.",)


@pytest.mark.parametrize(
    ("gaps", "rows", "recipe"),
    [
        (21, 400, IMPUTE),
        (5, 95, IMPUTE),
        (2, 400, Recipe(("y",), lags=(), missing="skip")),
    ],
    ids=["a small share", "few", "skipped rows"],
)
def test_a_few_gaps_have_none(gaps, rows, recipe, tmp_path):
    encoder, _ = encoded(written(tmp_path / "x.csv", gaps, rows), recipe)
    assert encoder.feature_names() == ("a", "b")


def test_a_pipe_has_none(tmp_path):
    data = written(tmp_path / "x.csv", gaps=2).read_bytes()
    encoder = Encoder(IMPUTE)
    encode_table(read_table(io.BytesIO(data)), encoder=encoder)
    assert encoder.feature_names() == ("a", "b")


@pytest.mark.parametrize("cut", [1, 7, 399])
def test_markers_do_not_depend_on_how_a_file_is_cut(cut, tmp_path):
    path = written(tmp_path / "x.csv", gaps=3)
    encoder, parts = Encoder(IMPUTE), []
    for chunk in read_table(path, chunk_rows=cut).chunks():
        parts.append(encoder.encode(chunk))
        encoder = Encoder.restore(IMPUTE, through_file(encoder.state))
    assert_same(concatenate(parts), encoded(path)[1])


def test_a_model_of_a_frame_has_markers_which_go_with_their_column():
    pandas = pytest.importorskip("pandas")
    k = np.arange(300.0)
    frame = pandas.DataFrame({"a": np.where(k % 3 == 1, np.nan, k), "b": k % 7, "y": k})
    model = tw.Online(tw.RecursiveLeastSquares(0.99), missing="impute")
    model.run(frame, target="y")
    assert model.feature_names == ("a", "a missing", "b")
    assert np.isfinite(model.predict({"a": None, "b": 2.0}))
    model.remove_features(["a"])
    assert model.feature_names == ("b",)
    assert np.isfinite(model.predict({"b": 2.0}))


def test_a_gap_that_says_something_is_learnt():
    """A sensor that fails above a limit: the marker says that the value is high."""
    rng = np.random.default_rng(3)
    value = rng.normal(size=3000)
    y = 2 * value + 0.1 * rng.normal(size=3000)
    seen = np.where(value > 0.8, np.nan, value)
    errors = {}
    for name, x in {
        "imputed": seen[:, None],
        "marked": np.column_stack([seen, np.isnan(seen)]),
    }.items():
        model = tw.Online(tw.RecursiveLeastSquares(0.999), missing="impute")
        errors[name] = np.mean((model.run(x, y).prediction - y)[200:] ** 2)
    assert errors["marked"] < 0.5 * errors["imputed"]
