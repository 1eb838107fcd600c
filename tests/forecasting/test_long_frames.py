"""Long frames: as a Forecaster for each id would, in the frame's own library."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import InvalidParameterError, StreamError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

H = 4
KINDS = {
    "pandas": lambda frame: frame,
    "pandas, nullable": lambda frame: frame.convert_dtypes(),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "DuckDB": lambda frame: duckdb.from_df(frame),
}
TYPES = {
    "pandas": pd.DataFrame,
    "pandas, nullable": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars, lazy": pl.DataFrame,
    "pyarrow": pa.Table,
    "DuckDB": pa.Table,
}
BANDS = ["Tracker", "Tracker-lo-90", "Tracker-hi-90"]


def long_frame(lengths=(("b", 150), ("a", 120)), freq="h", seed=0):
    rng = np.random.default_rng(seed)
    parts = []
    for name, rows in lengths:
        season = 5 * np.sin(2 * np.pi * np.arange(rows) / 24)
        part = {
            "unique_id": name,
            "ds": pd.date_range("2024-03-01", periods=rows, freq=freq),
            "y": 10 + season + rng.normal(size=rows),
        }
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def with_features(frame, seed=1):
    rng = np.random.default_rng(seed)
    return frame.assign(
        temp=rng.normal(size=len(frame)), holiday=rng.integers(0, 2, len(frame))
    )


def as_pandas(frame):
    frame = frame.to_pandas() if not isinstance(frame, pd.DataFrame) else frame
    return frame.astype({"ds": "datetime64[ns]"})


@pytest.mark.parametrize("kind", KINDS)
def test_every_series_is_forecast_by_a_forecaster_of_its_own(kind):
    frame = long_frame()
    result = tw.forecast(KINDS[kind](frame), H)
    assert isinstance(result, TYPES[kind])
    result = as_pandas(result)
    assert list(result.columns) == ["unique_id", "ds", *BANDS]
    assert result["unique_id"].tolist() == ["a"] * H + ["b"] * H  # sorted
    for name, rows in result.groupby("unique_id"):
        own = frame[frame["unique_id"] == name]
        expected = tw.Forecaster(H).update(own["y"], time=own["ds"]).forecast()
        np.testing.assert_array_equal(rows["ds"], expected.times)
        np.testing.assert_array_equal(rows["Tracker"], expected.mean)
        np.testing.assert_array_equal(rows["Tracker-lo-90"], expected.low)
        np.testing.assert_array_equal(rows["Tracker-hi-90"], expected.high)


def test_the_order_of_rows_does_not_matter():
    frame = with_features(long_frame())
    shuffled = frame.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(tw.forecast(frame, H), tw.forecast(shuffled, H))


def test_levels_are_columns_in_order_of_size_and_other_names_can_be_used():
    frame = long_frame().rename(columns={"unique_id": "shop", "ds": "day", "y": "sold"})
    result = tw.forecast(
        frame, H, id_col="shop", time_col="day", target_col="sold", level=[95, 50],
        alias="Ours",
    )  # fmt: skip
    ends = ["Ours-lo-95", "Ours-lo-50", "Ours-hi-50", "Ours-hi-95"]
    assert list(result.columns) == ["shop", "day", "Ours", *ends]
    assert (np.diff(result[ends]) > 0).all()
    plain = tw.forecast(frame, H, None, "shop", "day", "sold", None, alias="Ours")
    pd.testing.assert_frame_equal(plain, result[["shop", "day", "Ours"]])


def test_features_are_those_of_a_forecaster_and_x_df_says_which_are_known():
    frame = with_features(long_frame((("a", 124), ("b", 104))))
    last = frame.groupby("unique_id").tail(H)
    past = frame.drop(last.index)
    future = last[["ds", "temp", "unique_id"]].sample(frac=1, random_state=1)
    result = tw.forecast(past, H, X_df=future)
    for name, rows in result.groupby("unique_id"):
        own = past[past["unique_id"] == name]
        forecaster = tw.Forecaster(H, known=["temp"])
        forecaster.update(own["y"], own[["temp", "holiday"]], own["ds"])
        ahead = last.loc[last["unique_id"] == name, ["temp"]]
        expected = forecaster.forecast(future=ahead)
        np.testing.assert_array_equal(rows["Tracker"], expected.mean)
    assert not np.array_equal(result["Tracker"], tw.forecast(past, H)["Tracker"])


@pytest.mark.parametrize("known", [(), ["holiday"], True])
def test_a_window_of_cross_validation_is_the_forecast_without_later_rows(known):
    frame = with_features(long_frame())
    windows = tw.cross_validation(frame, H, n_windows=3, step_size=2, known=known)
    assert list(windows.columns) == ["unique_id", "ds", "cutoff", "y", *BANDS]
    assert len(windows) == 2 * 3 * H
    names = ["temp", "holiday"] if known is True else list(known)
    for (name, cutoff), rows in windows.groupby(["unique_id", "cutoff"]):
        own = frame[frame["unique_id"] == name]
        past, later = own[own["ds"] <= cutoff], own[own["ds"] > cutoff].head(H)
        future = later[["unique_id", "ds", *names]] if names else None
        expected = tw.forecast(past, H, X_df=future)
        np.testing.assert_array_equal(rows["ds"], later["ds"])
        np.testing.assert_array_equal(rows["y"], later["y"])
        np.testing.assert_array_equal(rows[BANDS], expected[BANDS])
    cutoffs = windows.loc[windows["unique_id"] == "b", "cutoff"].unique()
    ends = frame.loc[frame["unique_id"] == "b", "ds"].iloc[[-9, -7, -5]]
    np.testing.assert_array_equal(cutoffs, ends)


def test_whole_numbers_are_times_without_a_calendar():
    frame = long_frame((("a", 120),))
    frame["ds"] = np.arange(7, 127, dtype=np.int32)
    result = tw.forecast(frame, H)
    assert result["ds"].tolist() == [127, 128, 129, 130]
    assert result["ds"].dtype == np.int32
    expected = tw.Forecaster(H).update(frame["y"].to_numpy()).forecast()
    np.testing.assert_array_equal(result["Tracker"], expected.mean)
    windows = tw.cross_validation(frame, H, freq=1)
    assert windows["cutoff"].tolist() == [122] * H


def test_rows_that_are_missing_count_as_missing_values():
    frame = long_frame((("a", 120),))
    frame["ds"] = 10 * np.arange(120)
    there = np.random.default_rng(0).random(120) > 0.2
    there[-1] = True
    result = tw.forecast(frame[there], H, freq=10)
    with_gaps = frame.assign(y=frame["y"].where(there))
    pd.testing.assert_frame_equal(result, tw.forecast(with_gaps, H))


@pytest.mark.parametrize(
    "freq", ["h", "15min", "D", "2D", "W", "MS", "ME", "QS", "YS", "30s", "6h"]
)
def test_coming_times_are_those_of_pandas(freq):
    frame = long_frame((("a", 20), ("b", 2)), freq)
    for given in (None, freq, freq.lower() if freq in ("h", "D", "W") else freq):
        result = tw.forecast(frame, H, freq=given)
        for name, rows in result.groupby("unique_id"):
            last = frame.loc[frame["unique_id"] == name, "ds"].iloc[-1]
            expected = pd.date_range(last, periods=H + 1, freq=freq)[1:]
            np.testing.assert_array_equal(rows["ds"], expected)


def test_with_a_frequency_one_row_is_enough():
    frame = long_frame((("a", 1),))
    result = tw.forecast(frame, 2, freq="1mo")
    assert result["ds"].tolist() == [
        pd.Timestamp("2024-04-01"),
        pd.Timestamp("2024-05-01"),
    ]
    np.testing.assert_array_equal(result["Tracker"], [frame["y"][0]] * 2)


@pytest.mark.parametrize("freq", ["D", "h"])
def test_days_are_days_and_hours_hours_where_clocks_change(freq):
    frame = long_frame((("a", 60),)).iloc[:58]
    zone = "Europe/Berlin"
    stop = pd.Timestamp("2024-03-30 22:00" if freq == "h" else "2024-03-30")
    whole = pd.date_range(stop, periods=3, freq=freq, tz=zone)
    frame["ds"] = pd.date_range(end=whole[0], periods=58, freq=freq)
    future = pd.DataFrame({"unique_id": "a", "ds": whole[1:], "temp": 0.0})
    result = tw.forecast(frame.assign(temp=1.0), 2, X_df=future)
    assert result["ds"].tolist() == whole[1:].tolist()
    polars = tw.forecast(pl.from_pandas(frame), 2)
    assert polars["ds"].to_list() == [time.to_pydatetime() for time in whole[1:]]
    assert polars["ds"].dtype.time_zone == zone


def test_dates_stay_dates_and_text_becomes_times():
    frame = pl.from_pandas(long_frame((("a", 60),), "D"))
    dates = frame.with_columns(pl.col("ds").cast(pl.Date), pl.lit(7).alias("unique_id"))
    result = tw.forecast(dates, 2)
    assert result.schema["ds"] == pl.Date
    assert result.schema["unique_id"] == dates.schema["unique_id"]
    text = tw.forecast(frame.with_columns(pl.col("ds").dt.to_string("%Y-%m-%d")), 2)
    assert text["ds"].dt.date().to_list() == result["ds"].to_list()


def test_an_index_with_a_name_is_a_column():
    frame = long_frame()
    pd.testing.assert_frame_equal(
        tw.forecast(frame.set_index("unique_id"), H), tw.forecast(frame, H)
    )


FRAME = long_frame((("a", 30), ("b", 20)))
FEATURES = with_features(FRAME)
MONTHS = with_features(long_frame((("a", 30),), "MS"))
LAST_MONTH = MONTHS["ds"].max() + pd.offsets.MonthBegin()
WHOLE_TIMES = np.arange(50, dtype=np.uint64)
FUTURE = FEATURES.tail(1).assign(ds=pd.Timestamp("2024-03-01 20:00"))
REFUSALS = {
    "twice": (
        lambda: tw.forecast(pd.concat([FRAME, FRAME.tail(1)]), H),
        "Series 'b' has two rows at 2024-03-01T19:00:00. Drop one of them.",
    ),
    "no column": (
        lambda: tw.forecast(FRAME, H, id_col="shop"),
        "The data frame has no column 'shop'. It has 'unique_id', 'ds', 'y'.",
    ),
    "no target": (
        lambda: tw.forecast(FRAME, H, target_col="sold"),
        "The data frame has no column 'sold'. It has 'unique_id', 'ds', 'y'.",
    ),
    "no frame": (
        lambda: tw.forecast([1.0, 2.0], H),
        "A data frame is needed. Got list instead.",
    ),
    "no time": (
        lambda: tw.forecast(FRAME.assign(ds=0.5), H),
        "The column 'ds' must hold times or whole numbers. Got type Float64 instead.",
    ),
    "missing id": (
        lambda: tw.forecast(FRAME.assign(unique_id=[None, *["a"] * 49]), H),
        "Row 1 of the data frame: 'unique_id' is missing. Every row needs the id of "
        "its series and its time.",
    ),
    "missing time": (
        lambda: tw.forecast(FRAME.assign(ds=FRAME["ds"].where(FRAME.index != 2)), H),
        "Row 3 of the data frame: 'ds' is missing. Every row needs the id of its "
        "series and its time.",
    ),
    "no value": (
        lambda: tw.forecast(FRAME.assign(y=FRAME["y"].where(FRAME.index < 30)), H),
        "Series 'b': all its values are missing.",
    ),
    "one row": (
        lambda: tw.forecast(FRAME.head(31), H),
        "Series 'b': it has one row, which does not show how far apart rows are. Say "
        "so with 'freq'.",
    ),
    "off the grid": (
        lambda: tw.forecast(FRAME.head(30), H, freq="7h"),
        "Series 'a': The time 2024-03-01T02:00:00.000000000 is not on the grid of "
        "times: rows are 7 hours apart, from 2024-03-01T00:00:00.000000000 on. "
        "Resample them, or leave the times out.",
    ),
    "too short": (
        lambda: tw.cross_validation(FRAME, H, n_windows=3, step_size=10),
        "Series 'b': it has 20 rows, and needs 25 for h=4, n_windows=3 and "
        "step_size=10.",
    ),
    "missing feature": (
        lambda: tw.cross_validation(
            FEATURES.assign(temp=FEATURES["temp"].where(FEATURES.index != 40)),
            H,
            known=["temp"],
        ),
        "Series 'b': the feature 'temp' is missing in 1 of 20 rows. Fill it in, or "
        "leave the column out.",
    ),
    "a feature missing in the first row": (
        lambda: tw.forecast(
            FEATURES.assign(temp=FEATURES["temp"].where(FEATURES.index != 30)), H
        ),
        "Series 'b': Feature temp is missing in row 0 (counted from 0), where it has "
        "no value before it. Fill it in, or leave the feature out.",
    ),
    "several series": (
        lambda: tw.forecast(FRAME.assign(y=np.nan), H),
        "Series 'a': all its values are missing. Series 'b': all its values are "
        "missing.",
    ),
    "a step that leaves most rows missing": (
        lambda: tw.forecast(FRAME.head(30), H, freq="15min"),
        "Series 'a': with rows 15 minutes apart, as 'freq' says, 87 of 117 are "
        "missing. Most rows are 1 hour apart: leave 'freq' out, or resample them.",
    ),
    "two rows at a time without ids": (
        lambda: tw.forecast(FRAME.drop(columns="unique_id"), H),
        "Two rows are at 2024-03-01T00:00:00. Name the column of the series' ids "
        "with 'id_col', or drop one of them.",
    ),
    "text": (
        lambda: tw.forecast(FRAME.assign(place="north"), H),
        "Row 1 of the data frame: 'place' is 'north', which is no number.",
    ),
    "no future": (
        lambda: tw.forecast(FEATURES, 1, X_df=FUTURE.drop(columns="y")),
        "Series 'a': X_df has no row for it at 2024-03-02T06:00:00.",
    ),
    "future without features": (
        lambda: tw.forecast(FEATURES, 1, X_df=FUTURE[["unique_id", "ds"]]),
        "X_df must have features beside 'unique_id' and 'ds'.",
    ),
    "unknown feature": (
        lambda: tw.cross_validation(FEATURES, H, known=["rain"]),
        "The feature 'rain', known in advance, is not among those of the data frame: "
        "temp, holiday.",
    ),
    "another type of time": (
        lambda: tw.forecast(FEATURES, 1, X_df=FUTURE.drop(columns="y").assign(ds=1)),
        "The column 'ds' of X_df must have the type that it has in df.",
    ),
    "two rows of X_df for one coming row": (
        lambda: tw.forecast(
            MONTHS,
            1,
            X_df=pd.concat([MONTHS.tail(2).drop(columns="y")]).assign(
                ds=[LAST_MONTH, LAST_MONTH + pd.Timedelta(9, "D")]
            ),
        ),
        f"Series 'a': X_df has two rows for one coming row, {LAST_MONTH:%Y-%m-%d}"
        f"T00:00:00 and {LAST_MONTH + pd.Timedelta(9, 'D'):%Y-%m-%d}T00:00:00. Drop "
        "one of them.",
    ),
    "two columns of a name": (
        lambda: tw.forecast(pd.concat([FRAME, FRAME["y"]], axis=1), H),
        "The data frame cannot be read: Expected unique column names, got: - 'y' 2 "
        "times.",
    ),
    "ids that are lists": (
        lambda: tw.forecast(FRAME.assign(unique_id=[["a"]] * 50), H),
        "Row 1 of the data frame: the id of a series is text, a number or a time. Got "
        "['a'] in 'unique_id' instead.",
    ),
    "whole times beyond 2^63": (
        lambda: tw.forecast(FRAME.assign(ds=WHOLE_TIMES + np.uint64(2**63)), H),
        "A time that is a whole number must be at most 9223372036854775807. Got "
        "9223372036854775857 instead.",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_names_the_series_and_the_rule(case):
    call, message = REFUSALS[case]
    with pytest.raises(StreamError) as refusal:
        call()
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"h": 0}, "The 'h' parameter of forecast must be in [1, 4000]. Got 0"),
        ({"freq": "999999999D"}, "The 'freq' parameter of forecast must be a fixed"),
        ({"h": 1.5}, "The 'h' parameter of forecast must be a whole number. Got 1.5"),
        ({"level": [101]}, "The 'level' parameter of forecast must be in (0, 100)."),
        ({"level": [90, 90]}, "The 'level' parameter of forecast must not name"),
        ({"freq": "2B"}, "The 'freq' parameter of forecast must be a fixed step or"),
        ({"freq": 1}, "The 'freq' parameter of forecast must be a fixed step or"),
        ({"freq": "0h"}, "The 'freq' parameter of forecast must be a fixed step or"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(settings, message):
    with pytest.raises(InvalidParameterError) as refusal:
        tw.forecast(FRAME, **{"h": H, **settings})
    assert str(refusal.value).startswith(message)


@pytest.mark.parametrize(
    ("call", "settings", "name"),
    [
        (tw.forecast, {"alias": "ds"}, "ds"),
        (tw.forecast, {"alias": "unique_id"}, "unique_id"),
        (tw.forecast, {"time_col": "Tracker-lo-90"}, "Tracker-lo-90"),
        (tw.cross_validation, {"alias": "y"}, "y"),
        (tw.cross_validation, {"alias": "cutoff"}, "cutoff"),
    ],
)
def test_no_column_of_the_result_takes_the_place_of_another(call, settings, name):
    message = f"'alias' .* must not make a second column '{name}' of the result"
    with pytest.raises(InvalidParameterError, match=message):
        call(FRAME, H, **settings)


def test_columns_may_have_numbers_for_names():
    frame = FEATURES.rename(columns={"temp": 5})
    result, expected = tw.forecast(frame, H), tw.forecast(FEATURES, H)
    pd.testing.assert_frame_equal(result, expected)


def test_windows_are_counted_in_whole_numbers():
    for name in ("n_windows", "step_size"):
        message = f"The '{name}' parameter of cross_validation must be a whole number."
        with pytest.raises(InvalidParameterError, match=message):
            tw.cross_validation(FRAME, H, **{name: 1.5})


def test_a_frequency_of_whole_times_is_a_whole_number():
    frame = FRAME.assign(ds=FRAME.groupby("unique_id").cumcount())
    with pytest.raises(InvalidParameterError, match="must be a whole number from 1"):
        tw.forecast(frame, H, freq="h")


@pytest.mark.parametrize("freq", [None, "MS"])
def test_a_row_on_another_day_of_its_month_moves_no_date(freq):
    days = pd.date_range("2020-01-01", periods=40, freq="MS")
    odd = days.where(days != days[36], days[36] + pd.Timedelta(days=12))
    df = pd.DataFrame({"unique_id": "a", "ds": odd, "y": np.arange(40.0)})
    ahead = tw.forecast(df, h=3, freq=freq)
    assert list(ahead["ds"]) == list(pd.date_range("2023-05-01", periods=3, freq="MS"))
    windows = tw.cross_validation(df, h=3, n_windows=2, freq=freq)
    assert set(windows["ds"]) | set(windows["cutoff"]) <= set(odd)


def test_a_level_that_is_a_share_is_refused_with_what_was_meant():
    with pytest.raises(InvalidParameterError, match="in per cent: 90, not 0.9"):
        tw.forecast(FRAME, H, level=[0.9])


def test_a_frame_without_ids_is_one_series():
    one = FRAME[FRAME["unique_id"] == "a"].reset_index(drop=True)
    expected, result = (
        tw.forecast(df, H) for df in (one, one.drop(columns="unique_id"))
    )
    pd.testing.assert_frame_equal(result, expected.drop(columns="unique_id"))


def test_periods_are_times():
    days = pd.period_range("2020-01", periods=40, freq="M")
    df = pd.DataFrame({"unique_id": "a", "ds": days, "y": np.arange(40.0)})
    ahead = tw.forecast(df, h=2)
    assert list(ahead["ds"]) == list(pd.date_range("2023-05-01", periods=2, freq="MS"))


def test_a_missing_feature_is_as_it_was_before():
    gap = FEATURES.assign(temp=FEATURES["temp"].where(FEATURES.index != 40))
    pd.testing.assert_frame_equal(
        tw.forecast(gap, H), tw.forecast(gap.assign(temp=gap["temp"].ffill()), H)
    )
