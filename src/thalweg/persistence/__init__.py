"""What a model has learnt, kept: files without pickle, and many models by key."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.persistence.files import load as load
    from thalweg.persistence.files import save as save
    from thalweg.persistence.format import Saved as Saved
    from thalweg.persistence.format import dumps as dumps
    from thalweg.persistence.format import loads as loads
    from thalweg.persistence.keyed import KeyedModels as KeyedModels

_HOME = {
    "KeyedModels": "keyed",
    "Saved": "format",
    "dumps": "format",
    "load": "files",
    "loads": "format",
    "save": "files",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    # Loaded on first use: KeyedModels needs a lock that only POSIX systems have.
    if name in _HOME:
        return getattr(import_module(f"thalweg.persistence.{_HOME[name]}"), name)
    raise AttributeError(f"module 'thalweg.persistence' has no attribute {name!r}")
