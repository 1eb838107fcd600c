"""Models that know their features by name: dicts, Series and data frames."""

import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import InvalidParameterError, StreamError

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, 2.0, -1.0] + 0.1 * RNG.normal(size=60)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
RLS = tw.RecursiveLeastSquares(0.99)


def trained(learner=RLS, **settings):
    model = tw.Online(learner, **settings)
    model.run(FRAME, Y)
    return model


def test_names_come_with_a_data_frame_a_series_or_a_dict():
    by_row, by_dict = tw.Online(RLS), tw.Online(RLS)
    for t in range(len(Y)):
        by_row.update(FRAME.iloc[t], Y[t])
        by_dict.update(dict(zip("abc", X[t].tolist(), strict=True)), float(Y[t]))
    plain = tw.Online(RLS)
    plain.run(X, Y)
    assert plain.feature_names is None
    for model in (trained(), by_row, by_dict):
        assert model.feature_names == ("a", "b", "c")
        assert [*model.coefficients] == ["a", "b", "c", "intercept"]
        assert [*model.coefficients.values()] == plain.coefficients.tolist()


@pytest.mark.parametrize("learner", [RLS, tw.SlidingWindow(9), tw.DiscountedGradient()])
def test_reordered_columns_are_put_right(learner):
    model = trained(learner)
    mixed = FRAME[["c", "a", "b"]]
    assert model.predict(mixed).tolist() == model.predict(X).tolist()
    for t in range(5):
        expected = model.predict(X[t])
        assert model.predict(mixed.iloc[t]) == expected
        assert model.predict(mixed.iloc[t].to_dict()) == expected
    other, same = trained(learner), trained(learner)
    other.run(mixed, Y)
    same.run(X, Y)
    assert other.coefficients == same.coefficients


REFUSED = {
    "an unknown column": (
        FRAME.assign(d=1.0), "The model has no feature 'd'. It has 'a', 'b', 'c'.",
    ),
    "a missing column": (
        FRAME[["a", "b"]],
        "The data frame has no column 'c'. It has 'a', 'b'.",
    ),
    "a dict that lacks one": ({"a": 1.0, "c": 2.0}, "The row has no column 'b'. It has "
                              "'a', 'c'."),
    "a dict of others": ({"a": 1.0, "b": 1.0, "k": 2.0},
                         "The model has no feature 'k'. It has 'a', 'b', 'c'."),
    "text": ({"a": 1.0, "b": "x", "c": 2.0},
             "The row: 'b' is 'x', which is no number."),
}  # fmt: skip


@pytest.mark.parametrize("x, sentence", REFUSED.values(), ids=REFUSED)
def test_missing_and_unknown_features_are_named(x, sentence):
    model = trained()
    before = model.coefficients
    with pytest.raises(StreamError) as refused:
        model.predict(x)
    assert str(refused.value).startswith(sentence)
    with pytest.raises(StreamError):
        model.update(x, 1.0) if isinstance(x, dict) else model.run(x, Y)
    assert model.coefficients == before and model.rounds == len(Y)


def test_health_speaks_of_features_by_name():
    frame = FRAME.assign(b=0.0, site="north")
    model = tw.Online(RLS)
    model.run(frame, Y)
    text = str(model.health())
    assert "'b' has been zero for 60 rounds" in text and "unused" not in text


def test_a_feature_may_be_called_intercept():
    model = tw.Online(RLS)
    model.run(FRAME.rename(columns={"b": "intercept"}), Y)
    assert [*model.coefficients] == ["a", "intercept", "c", "(intercept)"]


def test_names_are_saved_cloned_and_pickled(tmp_path):
    model = trained()
    model.save(tmp_path / "m.thalweg")
    for copy in (
        tw.Online.load(tmp_path / "m.thalweg"), model.clone(),
        pickle.loads(pickle.dumps(model)),
    ):  # fmt: skip
        assert copy.feature_names == ("a", "b", "c")
        assert copy.predict(FRAME[["b", "c", "a"]]).equals(model.predict(FRAME))


def test_a_model_of_arrays_can_be_told_its_names():
    model = tw.Online(RLS)
    model.run(X, Y)
    with pytest.raises(StreamError, match="model.feature_names = "):
        model.predict(FRAME)
    for names in (["a", "b"], ["a", "b", "b"], ["a", "b", 3]):
        with pytest.raises(InvalidParameterError):
            model.feature_names = names
    model.feature_names = ["a", "b", "c"]
    assert model.predict(FRAME[["c", "b", "a"]]).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    "learner",
    [RLS, tw.Tracker(), tw.Tracker(curvature=False), tw.SlidingWindow(9),
     tw.Experts((RLS, tw.RecursiveLeastSquares(0.9))), tw.ClippedRLS(-9.0, 9.0)],
    ids=lambda learner: type(learner).__name__,
)  # fmt: skip
@pytest.mark.parametrize("missing", ["refuse", "impute"])
def test_many_rows_are_predicted_as_one_by_one(learner, missing):
    model = tw.Online(learner, missing=missing)
    for rounds in (0, 25):
        if rounds:
            model.run(X[:rounds], Y[:rounds])
        expected = np.array([model.predict(x) for x in X])
        np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("learner", [RLS, tw.Tracker()])
def test_many_intervals_are_those_of_single_rows(learner):
    model = tw.Online(learner)
    model.run(FRAME, Y)
    single = [model.predict(x, interval=0.8) for x in X]
    many = model.predict(X, interval=0.8)
    for name in ("mean", "low", "high"):
        expected = [getattr(one, name) for one in single]
        assert getattr(many, name).tolist() == expected
        assert model.predict(FRAME, interval=0.8)[name].tolist() == expected


def test_several_targets_of_many_rows_have_a_column_each():
    model = tw.Online(RLS)
    model.run(FRAME, np.column_stack([Y, -Y]))
    rows = model.predict(X)
    assert rows.shape == (60, 2)
    np.testing.assert_array_equal(rows, [model.predict(x) for x in X])
    assert [*model.predict(FRAME).columns] == ["prediction_0", "prediction_1"]
    assert [*model.predict(FRAME, interval=0.9).columns][1:4] == [
        "mean_1", "low_0", "low_1",
    ]  # fmt: skip
    many = model.predict(X, interval=0.9)
    single = [model.predict(x, interval=0.9) for x in X]
    np.testing.assert_array_equal(many.low, [one.low for one in single])


@pytest.mark.parametrize("learner", [RLS, tw.Tracker(curvature=False)])
def test_several_targets_of_a_frame_keep_their_names(learner, tmp_path):
    frame = FRAME.assign(sales=Y, returns=-Y)
    model = tw.Online(learner)
    recipe = tw.tables.Recipe(("sales", "returns"), lags=())
    trace = model.run(frame, recipe=recipe, record=("interval",))
    columns = [*trace.to_pandas().columns]
    assert columns == [
        "prediction_sales", "prediction_returns", "loss",
        "low_sales", "low_returns", "high_sales", "high_returns",
    ]  # fmt: skip
    assert [*trace.to_polars().columns] == columns
    np.testing.assert_array_equal(
        trace.columns()["prediction_returns"], trace.prediction[:, 1]
    )
    model.save(tmp_path / "model")
    for after in (model, tw.Online.load(tmp_path / "model")):
        predictions = after.predict(FRAME)
        assert [*predictions.columns] == ["prediction_sales", "prediction_returns"]
        np.testing.assert_array_equal(predictions, after.predict(X))
        means = [*after.predict(FRAME, interval=0.9).columns][:3]
        assert means == ["mean_sales", "mean_returns", "low_sales"]


def test_predictions_keep_the_index_of_pandas():
    frame = FRAME.set_index(pd.Index(range(100, 160)))
    assert trained().predict(frame).index.tolist() == [*range(100, 160)]


def test_text_and_lags_work_row_by_row_as_in_a_frame():
    frame = FRAME.assign(kind=np.where(X[:, 0] > 0, "up", "down"), y=Y)
    recipe = tw.tables.Recipe(targets=("y",), lags=(1, 2))
    whole, single = tw.Online(RLS), tw.Online(RLS)
    trace = whole.run(frame, recipe=recipe)
    assert len(trace.loss) == 58
    single.run(frame[:3], recipe=recipe)
    for t in range(3, 60):
        row = frame.drop(columns="y").iloc[t].to_dict()
        assert single.predict(row) == trace.prediction[t - 2]
        single.update(row, Y[t])
    assert single.coefficients == whole.coefficients
    assert "kind=up" in whole.feature_names and "y lag 2" in whole.feature_names


def test_levels_never_seen_are_each_encoded_as_if_alone():
    frame = pd.DataFrame({"k": ["u", "v"] * 5, "y": np.arange(10.0)})
    model = tw.Online(RLS)
    model.run(frame, target="y")
    asked = pd.DataFrame({"k": ["new", "newer", "u"]})
    expected = [model.predict({"k": k}) for k in asked["k"]]
    assert model.predict(asked).tolist() == expected


def test_update_learns_one_row_only():
    model = trained()
    with pytest.raises(StreamError, match="Online.update learns one row.*Got 2 rows"):
        model.update(FRAME[:2], Y[:2])
    model.update(FRAME[:1], Y[:1][0])
    assert model.rounds == 61


def test_targets_may_be_a_column_or_given_beside():
    frame = FRAME.assign(y=Y)
    by_column, beside = tw.Online(RLS), trained()
    by_column.run(frame, target="y")
    assert by_column.coefficients == beside.coefficients
    beside.run(frame, target="y")
    by_column.run(FRAME, Y)
    assert by_column.coefficients == beside.coefficients
    for arguments in (
        dict(target="z"), dict(), dict(y=Y, target="y"), dict(target=3), dict(y="y"),
        dict(recipe=tw.tables.Recipe(("y",), missing="skip")),
    ):  # fmt: skip
        with pytest.raises((StreamError, InvalidParameterError)):
            tw.Online(RLS).run(frame, **arguments)
    with pytest.raises(StreamError, match="needs targets y"):
        tw.Online(RLS).run(X)


def test_a_start_is_where_the_coefficients_begin(tmp_path):
    model = tw.Online(RLS, start=[1.0, 2.0, -1.0, 0.5])
    model.save(tmp_path / "m.thalweg")
    assert model.predict([1.0, 1.0, 1.0]) == 2.5
    assert tw.Online.load(tmp_path / "m.thalweg").predict([1.0, 1.0, 1.0]) == 2.5
    learner = RLS.run(
        RLS.init(np.array([1.0, 2.0, -1.0, 0.5])), tw.SquaredError(),
        tw.Block(np.column_stack([X, np.ones(60)]), Y),
    )[0]  # fmt: skip
    model.run(X, Y)
    np.testing.assert_array_equal(model.coefficients, learner.theta)
    with pytest.raises(StreamError, match="'start' of Online has the shape"):
        tw.Online(RLS, start=[1.0]).update([1.0, 2.0], 3.0)
    with pytest.raises(InvalidParameterError, match="Tracker does not begin"):
        tw.Online(start=[1.0])


MINUTE = timedelta(minutes=1)
STAMPS = np.cumsum([0, 10, 10, 30, 0, 5] * 10)
TIMES = [datetime(2024, 1, 1, tzinfo=UTC) + int(m) * MINUTE for m in STAMPS]
ROUNDS = np.diff(STAMPS, prepend=-10) / 10


@pytest.mark.parametrize(
    "elapsed",
    [
        TIMES,
        np.array([t.replace(tzinfo=None) for t in TIMES], "datetime64[s]"),
        pd.Series(TIMES),
        pd.DatetimeIndex(TIMES),
        np.array([10, *np.diff(STAMPS)], "timedelta64[m]"),
        [int(m) * MINUTE for m in (10, *np.diff(STAMPS))],
    ],
    ids=["datetime", "datetime64", "Series", "index", "timedelta64", "timedelta"],
)
def test_elapsed_takes_durations_and_time_stamps(elapsed, tmp_path):
    expected, whole, single = tw.Online(RLS), tw.Online(RLS), tw.Online(RLS)
    expected.run(X, Y, elapsed=ROUNDS)
    whole.run(X, Y, elapsed=elapsed)
    for t, value in enumerate(elapsed):
        if t == 20:
            single.save(tmp_path / "m.thalweg")
            single = tw.Online.load(tmp_path / "m.thalweg")
        single.update(X[t], Y[t], elapsed=value)
    for model in (whole, single):
        np.testing.assert_array_equal(model.coefficients, expected.coefficients)


def test_the_first_of_differences_of_times_may_be_missing():
    polars = pytest.importorskip("polars")
    expected, frame = tw.Online(RLS), pd.Series(TIMES)
    expected.run(X, Y, elapsed=ROUNDS)
    for elapsed in (frame.diff(), polars.from_pandas(frame).diff()):
        model = tw.Online(RLS)
        model.run(X, Y, elapsed=elapsed)
        np.testing.assert_array_equal(model.coefficients, expected.coefficients)
    with pytest.raises(StreamError, match="round 0 is missing"):
        model.run(X, Y, elapsed=frame.diff())
    named = tw.Online(RLS)
    named.run(FRAME.assign(when=TIMES), Y, elapsed="when")
    assert [*named.coefficients.values()] == expected.coefficients.tolist()


def test_times_that_go_back_or_are_missing_are_refused():
    model = tw.Online(RLS)
    for elapsed in (
        TIMES[::-1],
        [-MINUTE] * 60,
        np.full(60, np.datetime64("NaT", "ns")),
    ):
        with pytest.raises(StreamError, match="goes back|missing"):
            model.run(X, Y, elapsed=elapsed)
    assert model.rounds == 0


def test_features_come_and_go_by_name_or_position():
    model, zeros = trained(), tw.Online(RLS)
    zeros.run(np.column_stack([X, np.zeros(60)]), Y)
    model.add_features(["d"])
    assert model.feature_names == ("a", "b", "c", "d")
    assert model.predict({**FRAME.iloc[0], "d": 0.0}) == trained().predict(X[0])
    model.remove_features("d")
    assert model.coefficients == trained().coefficients
    plain = tw.Online(RLS)
    plain.run(X, Y)
    plain.add_features([1])
    assert plain.predict(np.insert(X[0], 1, 0.0)) == trained().predict(X[0])
    for names in (["a"], ["e", "e"], [7]):
        with pytest.raises(InvalidParameterError):
            model.add_features(names)
    for positions in ([4], [9], ["x"]):
        with pytest.raises(InvalidParameterError):
            plain.remove_features(positions)
    assert model.feature_names == ("a", "b", "c")


def test_a_trace_becomes_a_data_frame():
    polars = pytest.importorskip("polars")
    trace = tw.Online().run(X, Y, record=("interval", "memory"))
    frame = trace.to_pandas()
    assert [*frame.columns] == ["prediction", "loss", "memory", "low", "high"]
    assert frame["low"].tolist() == trace.extras["interval"][:, 0].tolist()
    assert trace.to_polars().equals(polars.from_pandas(frame))
    points = tw.Online(RLS).run(X, Y, record=("theta",)).to_pandas()
    assert "theta_3" in points.columns


@pytest.mark.parametrize("features", [3, None, 1.5])
@pytest.mark.parametrize("change", ["add_features", "remove_features"])
@pytest.mark.parametrize("has_names", [True, False])
def test_features_that_are_no_list_are_refused(features, change, has_names):
    model = tw.Online(tw.RecursiveLeastSquares())
    model.update({"a": 1.0} if has_names else [1.0], 1.0)
    with pytest.raises(InvalidParameterError, match=r"list of names.*Got"):
        getattr(model, change)(features)
    assert model.rounds == 1


def test_a_delay_beyond_all_memory_is_refused():
    with pytest.raises(InvalidParameterError, match=r"delay of 1,000,000,000 has a st"):
        tw.Tracker(delay=10**9).init(np.zeros(3))
