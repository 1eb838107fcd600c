"""How properties are searched for counterexamples, and what many tests share."""

import pytest
from hypothesis import HealthCheck, settings

from thalweg.kernels.jit import CompilationAnnouncer
from thalweg.lab import paper

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


@pytest.fixture(scope="session")
def quick_reproduction():
    """``thalweg reproduce --quick``, and what it told of its progress."""
    messages = []
    return paper.reproduce(True, messages.append), messages
