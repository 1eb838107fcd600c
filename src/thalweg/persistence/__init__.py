"""Serialisation (serialization): saved models in a versioned file without pickle."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.persistence import state_check as state_check
    from thalweg.persistence.files import load as load
    from thalweg.persistence.files import save as save
    from thalweg.persistence.format import SavedModel as SavedModel
    from thalweg.persistence.format import dumps as dumps
    from thalweg.persistence.format import loads as loads

# What a path leads to is asked by commands whose help needs no learners.
__getattr__, __all__ = lazy_exports(__name__)
