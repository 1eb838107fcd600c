"""Work that makes many objects at once, and no reference cycles among them."""

import gc
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def without_collection(work: Callable[[], Result]) -> Result:
    """The result of ``work()``; meanwhile no reference cycles are looked for.

    Each look goes through the objects of thousands of models, and tuples for all of
    them make Python look often: a tenth of the time of a batch.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        return work()
    finally:
        if was_enabled:
            gc.enable()
