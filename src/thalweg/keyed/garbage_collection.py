"""Work that makes many objects at once, and no reference cycles among them."""

import gc
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def without_collection(work: Callable[[], Result]) -> Result:
    """The result of ``work()``, without garbage collection in the meantime.

    Each collection visits the objects of thousands of models, and tuples for all of
    them trigger it often: a tenth of the time of a batch.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        return work()
    finally:
        if was_enabled:
            gc.enable()
