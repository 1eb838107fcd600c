"""Names of a package that are imported on first use (PEP 562).

So ``import thalweg`` loads neither numba nor scipy, and the help of a command only what
it shows.
"""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

IMPORT = re.compile(r"^ *from (\S+) import (?:\(\s*)?(\w+) as \2\b", re.MULTILINE)


def exported_names(package: str) -> list[str]:
    """The ``__all__`` of ``package``: what it imports under its own name."""
    return sorted(_exports(package))


def lazy_exports(package: str) -> tuple[Callable[[str], Any], list[str]]:
    """The ``__getattr__`` and the ``__all__`` of ``package``.

    Its names are those that its source imports ``if TYPE_CHECKING``, each under its own
    name, which type checkers and editors read: they are written down once.
    """
    module_of = _exports(package)

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if module_of[name] == package:
            return import_module(f"{package}.{name}")
        return getattr(import_module(module_of[name]), name)

    return load, sorted(module_of)


def _exports(package: str) -> dict[str, str]:
    """The module of each name that a package exports, as its source says."""
    source = vars(sys.modules[package])["__spec__"].loader.get_source(package)
    return {name: module for module, name in IMPORT.findall(source)}
