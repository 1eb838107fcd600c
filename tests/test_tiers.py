"""The tiers of tests: what conftest.py leaves to the slow one."""

from itertools import product
from types import SimpleNamespace

import pytest

from tests.conftest import fast_combinations, tiers_of


class MadeUpTest:
    """A combination of parameters by its ids, with markers, the closest first."""

    def __init__(self, *ids, markers=(), obj=None):
        if ids:
            self.callspec = SimpleNamespace(_idlist=ids)
        self.markers = [getattr(pytest.mark, name).mark for name in markers]
        self.obj = obj

    def iter_markers(self):
        return iter(self.markers)

    def get_closest_marker(self, name):
        return next((one for one in self.markers if one.name == name), None)


def ids(tests):
    return ["".join(test.callspec._idlist) for test in tests]


def test_each_value_is_shown_and_none_twice_if_that_is_possible():
    tests = [MadeUpTest(*pair) for pair in product("abcd", "xy")]
    assert ids(fast_combinations(tests)) == ["ax", "by", "cx", "dx"]
    tests = [MadeUpTest(*three) for three in product("ab", "xy", "12")]
    assert ids(fast_combinations(tests)) == ["ax1", "by2"]


def test_all_cases_of_one_parameter_are_fast_unless_they_are_sampled():
    tests = [MadeUpTest(value) for value in "abc"]
    assert ids(fast_combinations(tests)) == ["a", "b", "c"]
    tests[0].markers = [pytest.mark.sampled(2).mark]
    assert ids(fast_combinations(tests)) == ["a", "b"]
    assert fast_combinations(alone := [MadeUpTest()]) == alone


def test_the_marker_of_a_test_counts_before_that_of_its_file():
    assert tiers_of(MadeUpTest(), True) == {"fast"}
    assert tiers_of(MadeUpTest(), False) == {"slow"}
    assert tiers_of(MadeUpTest(markers=["slow", "nightly"]), True) == {"slow"}
    assert tiers_of(MadeUpTest(markers=["page", "nightly"]), False) == {"nightly"}


@pytest.mark.parametrize(("count", "tiers"), [(10, {"fast"}), (11, {"fast", "slow"})])
def test_a_property_of_many_examples_is_in_two_tiers(count, tiers):
    own = SimpleNamespace(
        _hypothesis_internal_use_settings=SimpleNamespace(max_examples=count)
    )
    assert tiers_of(MadeUpTest(obj=own), True) == tiers
