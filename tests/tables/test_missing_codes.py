"""Codes for missing values: which numbers are taken as missing, and which are not."""

import numpy as np
import pytest

from thalweg.tables.missing_codes import MIN_VALUES, ColumnRange, code_notes

RNG = np.random.default_rng(0)


def codes_in(values):
    """The codes in a column, once as a whole and once row by row."""
    values = np.asarray(values, float)
    first = ColumnRange.from_sample("y", values)
    whole, is_code = first.advance(values)
    state, flags = first, []
    for value in values:
        state, flag = state.advance(np.array([value]))
        flags += flag.tolist()
    assert flags == is_code.tolist()
    assert state == whole
    return sorted(set(values[is_code].tolist()))


def mixed(values, *codes):
    return RNG.permutation([*values, *codes])


TEMPERATURES = RNG.uniform(-20, 40, 200).round(1)


@pytest.mark.parametrize("code", [-999, -9999, 9999, 99999, 999, -1e9, -99.9, -999.9])
def test_codes_among_temperatures_are_found(code):
    assert codes_in(mixed(TEMPERATURES, code)) == [code]
    assert codes_in(mixed(TEMPERATURES, *[code] * 30)) == [code]


def test_two_codes_do_not_hide_each_other():
    assert codes_in(mixed(TEMPERATURES, -9999, 9999, 999)) == [-9999, 999, 9999]


def test_negative_codes_are_found_among_large_values_that_are_not_negative():
    radiation = RNG.uniform(0, 1400, 100)
    assert codes_in(mixed(radiation, -999)) == [-999]
    assert codes_in(mixed(RNG.uniform(0, 100, 100), -99)) == [-99]


def test_99_is_a_code_among_answers_from_1_to_9():
    answers = RNG.integers(1, 10, 100)
    assert codes_in(mixed(answers, 99)) == [99]
    assert codes_in(mixed(answers, 25, 99)) == []


@pytest.mark.parametrize(
    "values",
    [
        mixed(RNG.uniform(100, 10000, 50), 9999, 999, 99),
        [980, 990, 1010, 999, 1003, 985, 992, 998, 1001, 1007, 999, 999],
        np.arange(1, 20000),
        mixed([9.99, 19.99, 49.99, 4.99] * 5, 99.99, 999.99),
        mixed(RNG.uniform(-5000, 5000, 50), -999, -9999),
        [0.0] * 30 + [999.0],
        [*range(MIN_VALUES - 1), 9999],
        [np.nan, np.inf, *range(20)],
    ],
)
def test_real_values_are_kept(values):
    assert codes_in(values) == []


def test_counters_that_grow_beyond_the_first_rows_are_kept():
    first, _ = ColumnRange("y").advance(np.arange(50.0))
    _, is_code = first.advance(np.arange(50.0, 200_000.0))
    assert not is_code.any()


def test_positive_codes_that_repeat_need_not_be_so_far():
    directions = RNG.uniform(0, 360, 100)
    first, _ = ColumnRange("wind").advance(directions)
    values = np.array([999.0])
    assert not first.advance(values)[1].any()
    assert first._replace(repeated=(999.0,)).advance(values)[1].all()


def test_numbers_of_32_bits_are_found():
    values = mixed(TEMPERATURES, -99.9).astype(np.float32).astype(float)
    assert len(codes_in(values)) == 1


def test_codes_are_told_once_for_all_series():
    one = ColumnRange("y", codes=(9999.0,), counts=(3,))
    other = ColumnRange("y", codes=(9999.0, -99.9), counts=(4, 1))
    assert code_notes([one, other, ColumnRange("x")]) == [
        "'y': 8 values of 9999, -99.9 lie far outside of all others and are taken as "
        "missing; --codes keep to keep them."
    ]
