"""Encodings are found out and said, however the bytes are cut."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables.sample_tables import PiecewiseFile
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables import read_table

TEXT = "größe,y\nnaïve,1\n“quoted”,2\n€,3\n"


def cells_of(table):
    """The columns' names and texts."""
    texts = []
    for chunk in table.chunks():
        column = chunk.categories(table.columns[0])
        texts += [column.levels[code] for code in column.codes]
    return table.columns, texts


EXPECTED = (("größe", "y"), ["naïve", "“quoted”", "€"])


@pytest.mark.parametrize(
    ("encoding", "is_said"),
    [("utf-8", False), ("utf-8-sig", False), ("utf-16", False), ("cp1252", True)],
)
def test_encodings_are_found_out(encoding, is_said, tmp_path):
    (tmp_path / "x.csv").write_bytes(TEXT.encode(encoding))
    table = read_table(tmp_path / "x.csv")
    assert cells_of(table) == EXPECTED
    note = (
        "x.csv is not UTF-8 and is read as Windows-1252 (Latin-1); --encoding NAME "
        "says otherwise.",
    )
    assert table.notes() == (note if is_said else ())


@given(
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    sizes=st.lists(st.integers(1, 9), max_size=30),
)
def test_a_pipe_is_decoded_alike_however_it_is_cut(encoding, sizes):
    table = read_table(PiecewiseFile(TEXT.encode(encoding), sizes))
    assert cells_of(table) == EXPECTED


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "cp850", "UTF8"])
def test_the_user_may_say_the_encoding(encoding):
    text = "größe,y\nnaïve,1\n"
    table = read_table(io.BytesIO(text.encode(encoding)), encoding=encoding)
    assert cells_of(table) == (("größe", "y"), ["naïve"])


def test_every_byte_has_a_character():
    data = b"a,y\n" + bytes(range(0x80, 0x100)) + b",1\n"
    columns, texts = cells_of(read_table(io.BytesIO(data)))
    assert len(texts[0]) == 128 and "\x81" in texts[0] and "€" in texts[0]


def test_an_unknown_encoding_is_refused():
    with pytest.raises(InvalidParameterError, match="The encoding 'latin-99'"):
        read_table(io.BytesIO(b"a,y\n1,2\n"), encoding="latin-99")
    with pytest.raises(InvalidParameterError, match="The encoding 'base64'"):
        read_table(io.BytesIO(b"a,y\n1,2\n"), encoding="base64")


def test_text_that_is_not_of_the_encoding_is_refused():
    with pytest.raises(StreamError, match="is not ascii text: ordinal not in range"):
        read_table(io.BytesIO("ä,y\n1,2\n".encode()), encoding="ascii")
