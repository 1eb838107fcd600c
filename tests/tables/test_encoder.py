"""Rounds are what the recipe says, however the rows are cut and wherever from."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables.sample_tables import (
    RECIPE,
    WEATHER,
    PiecewiseFile,
    assert_same,
    bits,
    concatenate,
    encode_bytes,
    encode_table,
    state_bytes,
    through_file,
)
from thalweg.tables import Encoder, Recipe, read_table

NUMBER = st.one_of(
    st.floats(-1e150, 1e150).map(repr),
    st.integers(-999, 999).map(str),
    st.sampled_from(["NA", "", "?", "true", "-0"]),
)
WORD = st.sampled_from(["red", "blue", "green", "a,b", 'q"q', "l\nm", "NA", " red "])


@st.composite
def tables(draw):
    """A CSV table of two numbers, two texts and times that never go back."""
    rows = draw(st.integers(1, 12))
    hours = np.cumsum(draw(st.lists(st.integers(0, 99), min_size=rows, max_size=rows)))
    lines = ["y,when,a,colour,b,shape"]
    for hour in hours:
        when = np.datetime64("2023-12-25") + np.timedelta64(int(hour), "h")
        words = [draw(WORD) if lines[1:] else "red" for _ in range(2)]
        quoted = ['"' + word.replace('"', '""') + '"' for word in words]
        y, a, b = draw(NUMBER), draw(NUMBER), draw(NUMBER)
        lines.append(f"{y},{when},{a},{quoted[0]},{b},{quoted[1]}")
    return ("\n".join(lines) + "\n").encode()


RECIPES = st.builds(
    Recipe,
    targets=st.sampled_from([("y",), ("y", "b"), ("b",)]),
    time=st.sampled_from([None, "when"]),
    calendar=st.sampled_from([None, "when"]),
    lags=st.sampled_from([(), (1,), (2, 1), (5,)]),
    missing=st.sampled_from(["skip", "impute"]),
    categories=st.integers(1, 3),
)


@given(tables(), RECIPES, st.integers(1, 5))
def test_chunks_may_be_of_any_size(data, recipe, chunk_rows):
    cut = encode_bytes(data, recipe, chunk_rows=chunk_rows)
    assert_same(cut, encode_bytes(data, recipe))


@given(tables(), RECIPES, st.lists(st.integers(1, 40), max_size=20))
def test_bytes_may_arrive_in_any_pieces(data, recipe, sizes):
    piecewise = encode_table(read_table(PiecewiseFile(data, sizes)), recipe)
    assert_same(piecewise, encode_bytes(data, recipe))


@given(tables(), RECIPES)
def test_a_file_gives_what_standard_input_gives(tmp_path_factory, data, recipe):
    path = tmp_path_factory.mktemp("tables") / "x.csv"
    path.write_bytes(data)
    assert_same(encode_table(read_table(path), recipe), encode_bytes(data, recipe))


@given(tables(), RECIPES, st.integers(0, 12))
def test_an_encoder_continues_from_its_state_to_the_last_bit(data, recipe, stop):
    chunks = list(read_table(io.BytesIO(data), chunk_rows=1).chunks())
    straight, first = Encoder(recipe), Encoder(recipe)
    whole = [straight.encode(chunk) for chunk in chunks]
    parts = [first.encode(chunk) for chunk in chunks[:stop]]
    state = through_file(first.state)
    second = Encoder.restore(recipe, state)
    assert second.feature_names() == first.feature_names()
    parts += [second.encode(chunk) for chunk in chunks[stop:]]
    assert_same(concatenate(parts), concatenate(whole))
    assert second.feature_names() == straight.feature_names()
    assert second.notes() == straight.notes()
    assert state_bytes(second.state) == state_bytes(straight.state)


def test_rows_are_kept_as_they_were_given_those_before_the_first_lag_too():
    b = [-999.0 if k == 25 else float(k) for k in range(40)]
    lines = [f"2024-01-{k % 28 + 1:02d},{k},x,{b[k]}" for k in range(40)]
    data = "\n".join(["t,y,text,b", *lines, ""]).encode()
    recipe = Recipe(("y",), missing="skip", codes="missing", lags=(3,))
    encoder = Encoder(recipe)
    encoded = encoder.encode(next(read_table(io.BytesIO(data)).chunks()))
    assert (len(encoded.x), len(encoded.given.targets)) == (37, 40)
    assert encoded.given.targets[:, 0].tolist() == list(range(40))
    b[25] = np.nan
    np.testing.assert_array_equal(encoded.given.columns, [b])
    assert encoded.given.stamps[:2].tolist() == [
        1704067200 * 10**9, (1704067200 + 24 * 3600) * 10**9,
    ]  # fmt: skip


@pytest.mark.parametrize("calendar", ["auto", "t"])
def test_forecasts_by_the_past_are_found_among_the_features(calendar):
    lines = [f"2024-01-01 {k:02d}:00,{k},{-k},{k % 3}" for k in range(24)]
    data = "\n".join(["t,y,z,b", *lines, ""]).encode()
    encoder = Encoder(Recipe(("y", "z"), missing="skip", calendar=calendar))
    encoder.encode(next(read_table(io.BytesIO(data)).chunks()))
    names = encoder.feature_names()
    assert [names[k] for k in encoder.past_forecasts()] == [
        "forecast of y by its past", "forecast of z by its past",
    ]  # fmt: skip


def test_a_large_file_is_the_same_through_a_pipe(tmp_path):
    """Large enough for pyarrow to read the file, and the pipe's pieces too."""
    rng = np.random.default_rng(1)
    lines = [
        f"{rng.normal()!r},{'NA' if i % 7 == 0 else i},{'xyz'[i % 3]},{i % 2 == 0}"
        for i in range(5_000)
    ]
    data = "\n".join(["y,a,b,c", *lines]).encode()
    (tmp_path / "x.csv").write_bytes(data)
    recipe = Recipe(("y",), missing="skip", lags=(2,))
    small = PiecewiseFile(data, [50] * 4000)
    large = PiecewiseFile(data, [40_000] * 10)
    expected = encode_table(read_table(tmp_path / "x.csv"), recipe)
    assert_same(encode_table(read_table(small), recipe), expected)
    assert_same(encode_table(read_table(large), recipe), expected)


def test_the_weather_table_is_encoded_as_by_hand():
    encoder = Encoder(RECIPE)
    result = encode_table(read_table(io.BytesIO(WEATHER)), encoder=encoder)
    assert encoder.feature_names() == (
        "temp",
        "site=north",
        "site=south",
        "site=(other)",
        "wet",
        "hour sin",
        "hour cos",
        "weekday sin",
        "weekday cos",
        "year sin",
        "year cos",
        "load lag 1",
        "load lag 3",
    )
    nan = np.nan
    assert result.rows.tolist() == [3, 4, 5, 6]  # a lag of 3 needs three rows of past
    assert bits(result.y) == bits(np.array([[nan], [30.0], [25.0], [35.5]]))
    plain = np.array(
        [
            [2.5, 0, 0, 1, 1],
            [0.25, nan, nan, nan, 1],
            [7, 0, 0, 1, 0],
            [7.125, 0, 1, 0, 1],
        ]
    )
    assert bits(result.x[:, :5]) == bits(plain)
    lags = np.array([[15.0, 10], [nan, 20], [30, 15], [25, nan]])
    assert bits(result.x[:, 11:]) == bits(lags)
    assert result.time[0, 0] == np.datetime64("2024-01-01T03:00", "ns").astype(int)
    assert encoder.notes() == (
        "Column 'site' has more than 2 levels: the later ones share a feature, unless "
        "--categories allows for more.",
    )


def test_one_hot_features_that_are_not_used_yet_have_a_name():
    encoder = Encoder(Recipe(("y",), lags=(), categories=2))
    (chunk,) = read_table(io.BytesIO(b"y,a\n1,x\n2,x\n")).chunks()
    assert encoder.feature_names() == ()
    assert encoder.encode(chunk).x.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert encoder.feature_names() == ("a=x", "a=(unused 2)", "a=(other)")
    assert encoder.used_feature_names() == ("a=x",)


def test_columns_named_as_text_are_text():
    data = b"y,zip\n1,0012\n2,0013\n3,x\n"
    result = encode_bytes(data, Recipe(("y",), lags=(), text=("zip",), categories=2))
    assert result.x.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_features_come_in_the_order_they_are_named():
    recipe = Recipe(("y",), lags=(), features=("b", "a"))
    result = encode_bytes(b"a,b,c,y\n1,2,x,3\n", recipe)
    assert result.x.tolist() == [[2, 1]]


def test_a_column_that_is_not_used_may_hold_anything():
    data = b"a,y,b\n1,2,3\n1,2,oops\n"
    assert len(encode_bytes(data, Recipe(("y",), features=("a",))).x) == 2


@pytest.mark.slow
def test_integers_may_turn_into_fractions_late(tmp_path):
    rows = ["1,2"] * 300_000 + ["1.5,2.5"]
    (tmp_path / "x.csv").write_text("a,y\n" + "\n".join(rows))
    assert encode_table(read_table(tmp_path / "x.csv"), Recipe(("y",))).x[-1, 0] == 1.5


def test_columns_that_are_left_out_are_noted():
    data = b'{"": 0, "y": 1, "at": "2024-01-01", "tags": ["a"], "x": 2}\n'
    encoder = Encoder(Recipe(("y",), time=None, lags=()))
    table = read_table(io.BytesIO(data), format="jsonl")
    assert encoder.encode(next(table.chunks())).x.tolist() == [[2.0]]
    assert encoder.notes() == (
        "Column '' has no name of its own and is left out.",
        "Column 'at' holds times and is left out; features can be made of it: "
        "--calendar at.",
        "Column 'tags' holds neither numbers nor text: left out.",
    )


def test_time_may_be_a_number_and_stand_still():
    recipe = Recipe(("y",), time="t", lags=())
    result = encode_bytes(b"t,a,y\n1,5,1\n1,6,2\n2.5,7,3\n", recipe)
    assert result.time.tolist() == [1.0, 1.0, 2.5]
    assert result.x.tolist() == [[5.0], [6.0], [7.0]]


def test_several_targets_have_lags_each():
    recipe = Recipe(("y", "z"), lags=(1, 2))
    encoder = Encoder(recipe)
    result = encode_table(
        read_table(io.BytesIO(b"y,z\n1,2\n3,4\n5,6\n")), encoder=encoder
    )
    assert encoder.feature_names() == ("y lag 1", "z lag 1", "y lag 2", "z lag 2")
    assert result.x.tolist() == [[3, 4, 1, 2]]
    assert result.y.tolist() == [[5, 6]]


def test_a_refused_chunk_leaves_the_encoder_as_it_was():
    encoder = Encoder(Recipe(("y",), time="t", lags=(1,)))
    good, bad = read_table(
        io.BytesIO(b"t,y,c\n1,1,a\n2,2,b\n3,3,new\n0,4,c\n"), chunk_rows=2
    ).chunks()
    encoder.encode(good)
    before = encoder.state
    with pytest.raises(ValueError, match="goes back"):
        encoder.encode(bad)
    assert encoder.state is before
