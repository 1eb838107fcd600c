"""A few hundred interrupts; ``make interrupts`` plays fifty thousand."""

import signal

import pytest

from tools import interrupts

pytestmark = pytest.mark.nightly

SUBJECTS = [
    "rls",
    "tracker",
    "window",
    "experts",
    "late",
    "classifier",
    "keyed",
    "keyed-log",
]


# Python warns of a file that an interrupt between ``open`` and ``with`` leaves to its
# destructor.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_model_learns_on_after_an_interrupt_at_any_bytecode(subject):
    failures = interrupts.random_interrupts(300, seed=1, only=subject, most=5)
    assert failures == []


# As above; and Python only prints an interrupt that hits a destructor or the callback
# of a weak reference.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_model_learns_on_after_an_interrupt_by_a_signal():
    handler = signal.signal(signal.SIGALRM, interrupts.raise_interrupt)
    try:
        failures = interrupts.random_interrupts(300, seed=2, signals=True, most=5)
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert failures == []


# Where an interrupt did harm once: before the block that undoes what was done, in it,
# and between the two changes of one round.
WINDOWS = [
    "rls/health",
    "rls-impute/update",
    "rls-new/update",
    "keyed/observe",
    "keyed-log/observe",
]
WINDOWS += ["classifier/update-new", "late/ask", "late/tell", "late-delay/tell"]


@pytest.mark.parametrize("case", WINDOWS)
def test_no_bytecode_of_a_short_call_is_a_window(case, tmp_path):
    campaign = interrupts.Campaign(tmp_path)
    subject, call = case.split("/")
    failures = []
    for target in range(1, campaign.bytecodes(subject, call) + 1):
        failure = campaign.play(subject, call, target)
        if failure is not None:
            failures.append(failure)
        if len(failures) == 5:
            break
    assert failures == []
