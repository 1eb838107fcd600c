import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.autoregression.outlier_limit import LIMIT, MIN_STEPS, OutlierLimit

VALUES = st.lists(
    st.one_of(
        st.integers(-3, 3).map(float), st.floats(-1e9, 1e9), st.just(math.nan)
    ),
    max_size=80,
)  # fmt: skip


def limit_one_by_one(values):
    """The rule, value by value."""
    last, known, largest, out = 0.0, 0, 0.0, []
    for y in values:
        if math.isnan(y):
            out.append(y)
            continue
        step = abs(y - last) if known else 0.0
        if known > MIN_STEPS and largest > 0 and step > LIMIT * largest:
            step = LIMIT * largest
            y = last + math.copysign(step, y - last)
        out.append(y)
        last, known, largest = y, known + 1, max(largest, step)
    return (last, known, largest), out


@given(VALUES, st.integers(0, 80))
def test_the_limit_follows_its_rule_however_values_are_cut(values, cut):
    values = [0.0, 1.0] * 12 + values  # so that most are limited
    array = np.array(values)
    limit, first = OutlierLimit().apply(array[:cut])
    limit, second = limit.apply(array[cut:])
    expected, out = limit_one_by_one(values)
    assert tuple(limit) == expected
    assert np.array_equal(np.append(first, second), out, equal_nan=True)


def test_a_glitch_is_cut_and_a_change_of_level_arrives():
    rng = np.random.default_rng(0)
    glitch = rng.normal(size=200)
    change = glitch.copy()
    glitch[100] = 9999.0
    change[100:] += 1e6
    largest = np.abs(np.diff(glitch[:100])).max()
    after = OutlierLimit().apply(glitch)[1]
    assert after[100] - glitch[99] == LIMIT * largest
    assert np.array_equal(np.delete(after, 100), np.delete(glitch, 100))
    assert np.array_equal(OutlierLimit().apply(change)[1][107:], change[107:])
