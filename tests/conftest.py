"""Tiers of tests, how properties are searched, and what many tests share.

A test runs in one of three tiers, and all of them run where none is chosen:

- ``--tier fast`` (``make test``): tests without a marker. Of a test with several
  parameters, combinations that show each value once (of one marked ``sampled(n)``,
  the first n); of a property, few examples.
- ``--tier slow`` (``make test-all``): tests marked ``slow``, the other combinations,
  and the properties with all of their examples.
- ``--tier nightly`` (``make test-nightly``): tests marked ``nightly``.
"""

from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings

from thalweg import paper
from thalweg.kernels.compiler.jit import CompilationAnnouncer

TIERS = ("fast", "slow", "nightly")
FAST_EXAMPLES = 10
"""Limit of the examples of a property in the fast tier."""
SETTINGS = "_hypothesis_internal_use_settings"
"""Where hypothesis keeps the settings of a property."""

# Tests ask what else stands on standard error, whether kernels are cached or not.
CompilationAnnouncer.announced = True

# A busy machine is no counterexample.
settings.register_profile(
    "searching",
    deadline=None,
    # Said, as it would be steady where hypothesis sees a CI.
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)
# The same examples in every run: whether a change passes is not left to luck. For new
# ones: make search.
settings.register_profile("steady", settings.get_profile("searching"), derandomize=True)
settings.load_profile("steady")


def pytest_addoption(parser):
    parser.addoption("--tier", choices=TIERS, help="run one tier of the tests")


def pytest_collection_modifyitems(config, items):
    """Keep the tests of the chosen tier."""
    tier = config.getoption("tier")
    if tier is None:
        return
    tests = defaultdict(list)  # each in all of its combinations of parameters
    for item in items:
        tests[item.parent, getattr(item, "originalname", item.name)].append(item)
    fast = {item for test in tests.values() for item in fast_combinations(test)}
    kept, others = [], []
    for item in items:
        (kept if tier in tiers_of(item, item in fast) else others).append(item)
    if tier == "fast":
        for item in filter(has_many_examples, kept):
            few = settings(getattr(item.obj, SETTINGS), max_examples=FAST_EXAMPLES)
            setattr(item.obj, SETTINGS, few)
    items[:] = kept
    config.hook.pytest_deselected(items=others)


def tiers_of(item, is_fast):
    """The tiers of a test; a property of many examples is in two."""
    for marker in item.iter_markers():  # those of the test before those of its file
        if marker.name in TIERS:
            return {marker.name}
    if not is_fast:
        return {"slow"}
    return {"fast", "slow"} if has_many_examples(item) else {"fast"}


def fast_combinations(items):
    """Of one test, combinations of parameters that show each value, most often once."""
    if not hasattr(items[0], "callspec"):
        return items
    sampled = items[0].get_closest_marker("sampled")
    if sampled is not None:
        return items[: sampled.args[0]]
    values = {item: set(enumerate(item.callspec._idlist)) for item in items}
    chosen, shown = [], set()
    for count in range(max(map(len, values.values())), 0, -1):
        for item, own in values.items():
            if len(own - shown) >= count:
                chosen.append(item)
                shown |= own
    return chosen


def has_many_examples(item):
    """Whether a test is a property of more examples than the fast tier has time for."""
    full = getattr(item.obj, SETTINGS, None)
    return full is not None and full.max_examples > FAST_EXAMPLES


@pytest.fixture(scope="session")
def quick_reproduction():
    """``thalweg reproduce --quick``, and what it told of its progress."""
    messages = []
    return paper.reproduce(True, messages.append), messages
