"""A model for each key, in one file that survives a crash."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.keyed.keyed_models import KeyedModels as KeyedModels

# KeyedModels needs a lock that only POSIX systems have.
__getattr__, __all__ = lazy_exports(__name__)
