"""JSON lines: two readers that agree, and what a line may be."""

import json

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.tables.sample_tables import PiecewiseFile, bits
from tests.tables.test_arrow_cells import outcome
from thalweg.tables import json_files, read_table
from thalweg.tables.records import RecordBlock

VALUE = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers(-(2**60), 2**60)
    | st.text(max_size=4)
    | st.sampled_from(["NA", "2024-01-01", "1.5"])
)
OBJECTS = st.lists(st.dictionaries(st.sampled_from("abcd"), VALUE), max_size=8)
FIRST = st.dictionaries(st.sampled_from("abc"), VALUE, min_size=1)


@settings(max_examples=300)
@given(FIRST, OBJECTS)
@example({"a": 1}, [{"a": -0.0}, {}, {"a": 2**53}])
@example({"a": None}, [{"a": 1.5}])
@example({"a": [1]}, [])
def test_the_pyarrow_reader_agrees_with_the_standard_library_or_declines(first, others):
    lines = [json.dumps(result) + "\n" for result in (first, *others)]
    block = RecordBlock("".join(lines).encode(), 3, 0, "x.jsonl")
    by_pyarrow = json_files.read_block_by_pyarrow(
        block, json_files.DECODER.decode(lines[0]), 0
    )
    if by_pyarrow is not None:
        slow = json_files.read_block_by_json_module(block, tuple(first), 0)
        for name in first:
            assert by_pyarrow.kind(name) == slow.kind(name)
            for reading in ("numbers", "timestamps", "categories"):
                expected = outcome(slow.cells[name], reading)
                assert outcome(by_pyarrow.cells[name], reading) == expected
        assert [by_pyarrow.line_of(i) for i in range(len(by_pyarrow))] == [
            slow.line_of(i) for i in range(len(slow))
        ]


def test_the_pyarrow_reader_reads_flat_objects():
    block = RecordBlock(b'{"a": 1, "b": "x"}\n{"a": 2.5}\n', 1, 0, "x.jsonl")
    by_pyarrow = json_files.read_block_by_pyarrow(block, {"a": 1.0, "b": "x"}, 0)
    assert by_pyarrow.numbers("a").tolist() == [1.0, 2.5]


def test_the_pyarrow_reader_declines_anything_but_one_object_a_line():
    for data in (b'{"a": 1}{"a": 2}\n', b'{"a":\n1}\n', b'\n{"a": 1}\n', b"[1]\n"):
        block = RecordBlock(data, 1, 0, "x.jsonl")
        assert json_files.read_block_by_pyarrow(block, {"a": 1.0}, 0) is None


def test_keys_may_be_missing_and_new_keys_are_ignored():
    data = b'{"a": 1, "b": true}\n\n{"b": false, "c": 5}\n{"a": null, "b": NaN}\n'
    pieces = PiecewiseFile(
        data + b"\n\n", [len(data)]
    )  # blank lines come by themselves
    (chunk,) = read_table(pieces, format="jsonl").chunks()
    nan = np.nan
    assert bits(chunk.numbers("a")) == bits(np.array([1.0, nan, nan]))
    assert bits(chunk.numbers("b")) == bits(np.array([1.0, 0.0, nan]))
    assert list(chunk.cells) == ["a", "b"]
    assert [chunk.line_of(i) for i in range(3)] == [1, 3, 4]
