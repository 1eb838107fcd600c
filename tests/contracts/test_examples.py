"""Every public class is run by the contract tests: each has example settings."""

import pytest

from tests.contracts.examples import DOMAINS, LEARNERS, LOSSES, public_classes
from thalweg import domains, learners, losses
from thalweg.domains import Domain
from thalweg.learners import Learner
from thalweg.losses import Loss

TABLES = [
    ("LEARNERS", LEARNERS, public_classes(learners, Learner)),
    ("LOSSES", LOSSES, public_classes(losses, Loss)),
    ("DOMAINS", DOMAINS, public_classes(domains, Domain)),
]


@pytest.mark.parametrize(
    "name, table, kind",
    [(name, table, kind) for name, table, kinds in TABLES for kind in kinds],
    ids=[kind.__name__ for _, _, kinds in TABLES for kind in kinds],
)
def test_every_public_class_has_an_example(name, table, kind):
    assert kind in table, (
        f"{kind.__name__} has no example: add one to {name} in "
        "tests/contracts/examples.py."
    )


@pytest.mark.parametrize(
    "name, table, kinds", TABLES, ids=[name for name, *_ in TABLES]
)
def test_every_example_is_of_a_public_class(name, table, kinds):
    assert set(table) <= set(kinds)
