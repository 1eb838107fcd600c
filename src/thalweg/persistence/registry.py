"""The classes that a file may name: thalweg's own, fixed when thalweg is imported.

A name that is read from a file is looked up here and nowhere else. Whatever a package
lists in its ``__all__`` is picked up, and with a learner its state. Names that files of
earlier versions hold are mapped to the names of today.
"""

import inspect
from types import ModuleType
from typing import Any, get_args

from thalweg import domains, learners, losses
from thalweg.domains import Domain
from thalweg.learners import Learner
from thalweg.losses import Functions, Loss


def _subclasses(package: ModuleType, base: type[Any]) -> dict[str, type[Any]]:
    """The public, concrete subclasses of ``base`` in a package, by name."""
    public = {name: getattr(package, name) for name in package.__all__}
    return {
        name: value
        for name, value in public.items()
        if inspect.isclass(value)
        and issubclass(value, base)
        and not inspect.isabstract(value)
        # The settings of Functions are Python functions, which no file can hold.
        and value is not Functions
    }


def state_of(learner: type[Learner[Any]]) -> type[Any]:
    """The state class S of a learner that was declared as ``Learner[S]``."""
    (base,) = (b for b in vars(learner)["__orig_bases__"] if get_args(b))
    (state,) = get_args(base)
    return state  # type: ignore[no-any-return]


LEARNERS = _subclasses(learners, Learner)
SETTINGS = {
    **LEARNERS, **_subclasses(losses, Loss), **_subclasses(domains, Domain)
}  # fmt: skip
"""Classes of frozen settings, by their public names."""
STATES = {state_of(kind).__name__: state_of(kind) for kind in LEARNERS.values()}
"""Classes of states, by name."""
RENAMED_CLASSES = {
    "OddsTracker": "LogisticTracker",
    "OddsState": "LogisticTrackerState",
}
"""Names of classes in files of earlier versions, and what they are called today."""
RENAMED_FIELDS = {
    "RecursiveLeastSquares": {"pull": "leaky"},
    "GradientState": {"mass": "discounted_count"},
    "HistoryState": {"births": "active_from"},
}
"""By class: names of settings and of states' fields in earlier files, and of today."""
