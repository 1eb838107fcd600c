"""What users hold and mutate: one model, or thousands of models by key."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.models.keyed import KeyedModels as KeyedModels
    from thalweg.models.online import Online as Online

_MODULES = {"KeyedModels": "keyed", "Online": "online"}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    # Loaded on first use: KeyedModels needs a lock that only POSIX systems have.
    if name in _MODULES:
        return getattr(import_module(f"thalweg.models.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'thalweg.models' has no attribute {name!r}")
