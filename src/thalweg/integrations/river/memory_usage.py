"""The memory of an estimator, for River's ``_memory_usage``."""

import gc
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
from river.base import Estimator

SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType)
"""Types whose references are not counted as the estimator's memory. River's own count
follows compiled functions, and so includes megabytes of the compiler."""


class MemoryUsage(Estimator):
    """An estimator whose memory is counted without the compiled kernels."""

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes of all that the estimator refers to."""
        size, known = 0, set[int]()
        pending: list[Any] = [self]
        while pending:
            parts = []
            for part in pending:
                if id(part) not in known and not isinstance(part, SHARED):
                    known.add(id(part))
                    parts.append(part)
                    size += sys.getsizeof(part)
            # The collector does not know what an array is a view of.
            bases = [part.base for part in parts if isinstance(part, np.ndarray)]
            pending = bases + gc.get_referents(*parts)
        return size
