"""The classes a file may name: thalweg's own, fixed when thalweg is imported.

A name that is read from a file is looked up here and nowhere else. Whatever a room
lists in its ``__all__`` is picked up, and with a learner its state.
"""

import inspect
from types import ModuleType
from typing import Any, get_args

from thalweg import domains, learners, losses
from thalweg.domains import Domain
from thalweg.learners import Learner
from thalweg.losses import Functions, Loss


def _listed(room: ModuleType, base: type[Any]) -> dict[str, type[Any]]:
    named = {name: getattr(room, name) for name in room.__all__}
    return {
        name: found
        for name, found in named.items()
        if inspect.isclass(found)
        and issubclass(found, base)
        and not inspect.isabstract(found)
        # Its settings are Python functions, which no file can hold.
        and found is not Functions
    }


def state_of(learner: type[Learner[Any]]) -> type[Any]:
    """The state class S of a learner that was declared as ``Learner[S]``."""
    (base,) = (b for b in vars(learner)["__orig_bases__"] if get_args(b))
    (state,) = get_args(base)
    return state  # type: ignore[no-any-return]


LEARNERS = _listed(learners, Learner)
SETTINGS = {**LEARNERS, **_listed(losses, Loss), **_listed(domains, Domain)}
"""Classes of frozen settings, by their public names."""
STATES = {state_of(found).__name__: state_of(found) for found in LEARNERS.values()}
"""Classes of states, by name."""
