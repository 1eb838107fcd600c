"""Data frames of every kind are read as files are: the same predictions, bit by bit."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

import thalweg as tw
from thalweg import tables
from thalweg.cli.main import app

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

RNG = np.random.default_rng(5)
T = 300
SIGNAL = RNG.normal(size=T).round(3)
FRAME = pd.DataFrame(
    {
        "when": pd.date_range("2024-01-01", periods=T, freq="h"),
        "signal": SIGNAL,
        "count": RNG.integers(0, 9, T),
        "place": RNG.choice(["north", "south", "east"], T),
        "y": (np.cumsum(0.1 * SIGNAL) + SIGNAL).round(4),
    }
)
NULLABLE = FRAME.astype({"signal": "Float64", "count": "Int64", "y": "Float64"})
KINDS = {
    "pandas": lambda frame: frame,
    "pandas, nullable": lambda frame: frame.convert_dtypes(),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "DuckDB": lambda frame: duckdb.from_df(frame),
}


def predictions_of_a_run(tmp_path, frame, *options):
    path, folder = tmp_path / "stream.csv", tmp_path / "out"
    frame.to_csv(path, index=False)
    arguments = ["run", str(path), "--target", "y", "--out", str(folder), *options]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    with (folder / "predictions.csv").open() as file:
        return [float(row["prediction"]) for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def of_files(tmp_path_factory):
    """Predictions of ``thalweg run``: plain, and with lags and a calendar."""
    options = ("--lags", "1,24", "--calendar", "when")
    return {
        "plain": predictions_of_a_run(tmp_path_factory.mktemp("plain"), FRAME),
        "lags": predictions_of_a_run(tmp_path_factory.mktemp("lags"), FRAME, *options),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_is_predicted_as_its_file_is(kind, of_files):
    frame = KINDS[kind](FRAME)
    trace = tw.Online().run(frame, target="y")
    assert trace.prediction.tolist() == of_files["plain"]
    recipe = tw.tables.Recipe(("y",), lags=(1, 24), calendar="when")
    trace = tw.Online().run(frame, recipe=recipe)
    assert trace.prediction.tolist() == of_files["lags"]


def test_times_and_values_are_enough_also_where_labels_come_late(tmp_path):
    series = FRAME[["when", "y"]]
    of_file = predictions_of_a_run(tmp_path, series, "--delay", "5")
    model = tw.Online(tw.Tracker(delay=5))
    pieces = (series[:3], series[3:9], series[9:150], series[150:])
    predictions = [model.run(part, target="y").prediction for part in pieces]
    assert np.concatenate(predictions).tolist() == of_file


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_come_back_in_the_kind_of_the_frame(kind):
    frame = KINDS[kind](FRAME[["signal", "count"]])
    model = tw.Online(tw.RecursiveLeastSquares(0.99))
    model.run(frame, FRAME["y"])
    predictions = model.predict(frame)
    expected = model.predict(FRAME[["signal", "count"]].to_numpy(np.float64))
    library = {"pandas": "pandas", "polars": "polars"}.get(
        kind.split(",")[0], "pyarrow"
    )
    assert type(predictions).__module__.startswith(library)
    np.testing.assert_array_equal(np.asarray(predictions), expected)


def test_a_model_of_a_run_knows_its_columns(tmp_path):
    predictions_of_a_run(tmp_path, FRAME[:200])
    model = tw.Online.load(tmp_path / "out" / "model.thalweg")
    assert model.feature_names[:2] == ("signal", "count")
    other = tw.Online()
    other.run(FRAME[:200], target="y")
    rest = FRAME[200:]
    assert model.predict(rest).tolist() == other.predict(rest).tolist()
    ends = [one.run(rest, target="y").prediction.tolist() for one in (model, other)]
    assert ends[0] == ends[1]


def test_missing_values_of_a_frame_follow_the_policy():
    gaps = NULLABLE.copy()
    gaps.loc[[3, 50], "signal"] = pd.NA
    with pytest.raises(
        tw.errors.StreamError, match="Row 4 of the data frame: 'signal'"
    ):
        tw.Online().run(gaps, target="y")
    model = tw.Online(missing="impute")
    trace = model.run(gaps, target="y")
    assert np.isfinite(trace.prediction).all() and model.health().imputed == 2


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_first_text_may_be_missing(kind):
    rows = FRAME.assign(place=[None, *FRAME["place"][1:]])
    model = tw.Online(missing="impute")
    model.run(KINDS[kind](rows), recipe=tw.tables.Recipe(("y",), calendar="when"))
    assert "place=north" in model.feature_names and "hour sin" in model.feature_names


def test_refusals_speak_python_where_rows_come_from_python():
    rows = FRAME.assign(signal=[None, *FRAME["signal"][1:]])
    with pytest.raises(tw.errors.StreamError) as refused:
        tw.Online().run(rows, target="y")
    assert str(refused.value).endswith("Online(missing='skip') or "
                                       "Online(missing='impute').")  # fmt: skip
    with pytest.raises(tw.errors.StreamError) as refused:
        tw.Online().run(FRAME, recipe=tw.tables.Recipe(("y",), features=("when",)))
    assert str(refused.value).endswith("Recipe(calendar='when').")


def test_an_index_without_a_name_is_no_column():
    rows = FRAME[["signal", "y"]].set_index(FRAME.index * 10 + 3)
    model = tw.Online(tw.RecursiveLeastSquares(0.99))
    model.run(rows, target="y")
    with pytest.raises(tw.errors.StreamError, match="It has 'y'.$"):
        model.predict(rows[["y"]])


def test_labels_of_a_classifier_may_be_a_column():
    by_column, beside = tw.Classifier(), tw.Classifier()
    rows = FRAME[["signal", "count", "place"]]
    trace = by_column.run(rows, target="place")
    expected = beside.run(rows[["signal", "count"]], rows["place"])
    np.testing.assert_array_equal(trace.prediction, expected.prediction)
    with pytest.raises(tw.errors.InvalidParameterError, match="needs labels"):
        by_column.run(rows)
    with pytest.raises(tw.errors.StreamError, match="no column 'plaice'"):
        by_column.run(rows, target="plaice")
    with pytest.raises(tw.errors.StreamError, match="name of a column"):
        by_column.run(np.ones((2, 2)), target="place")


REFUSED = {
    "two columns of one name": (
        pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "y"]),
        "The data frame cannot be read",
    ),
    "no rows": (FRAME[:0], "The data frame has no rows."),
    "mixed cells": (
        pd.DataFrame({"a": [1, "x", object()], "y": [1.0, 2.0, 3.0]}),
        "The data frame cannot be read",
    ),
}


@pytest.mark.parametrize("frame, sentence", REFUSED.values(), ids=REFUSED)
def test_a_frame_that_cannot_be_read_is_refused_in_a_sentence(frame, sentence):
    with pytest.raises(tw.errors.StreamError, match=sentence):
        tw.Online().run(frame, target="y")


def test_a_trace_has_the_index_of_the_frame_that_was_played():
    times = pd.date_range("2024-01-01", periods=60, freq="h")
    frame = pd.DataFrame({"a": RNG.normal(size=60)}, index=times)
    frame["y"] = frame["a"] * 2
    shuffled = frame.sample(frac=1.0, random_state=3)
    trace = tw.Online().run(shuffled, target="y")
    assert trace.to_pandas().index.equals(shuffled.index)
    joined = shuffled.assign(prediction=trace.to_pandas()["prediction"])
    assert joined["prediction"].tolist() == trace.prediction.tolist()
    lagged = tw.Online().run(frame, recipe=tables.Recipe(targets=("y",), lags=(1, 24)))
    assert lagged.to_pandas().index.equals(frame.index[-len(lagged.loss) :])
    labels = frame.assign(y=np.where(frame["y"] > 0, "up", "down"))
    classes = tw.Classifier().run(labels, target="y").to_pandas()
    assert classes.index.equals(frame.index)
    assert {"prediction_up", "prediction_down"} < set(classes.columns)
    assert tw.Online().run(pl.from_pandas(frame), target="y").index is None


def test_columns_of_pandas_may_be_numbered():
    frame = pd.DataFrame(RNG.normal(size=(30, 3)))
    named = tw.Online().run(frame.rename(columns=str), target="2")
    numbered = tw.Online().run(frame, target=2)
    assert numbered.prediction.tolist() == named.prediction.tolist()
