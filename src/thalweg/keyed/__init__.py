"""A model for each key, in one file that survives a crash."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.keyed.keyed_models import KeyedModels as KeyedModels

_MODULE_OF = {"KeyedModels": "keyed_models"}

__all__ = sorted(_MODULE_OF)

# KeyedModels needs a lock that only POSIX systems have.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
