"""Names of a package that are imported on first use (PEP 562).

So ``import thalweg`` loads neither numba nor scipy, and the help of a command only what
it shows.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, module_of: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of ``package``, which has each name in one of its modules.

    ``module_of`` gives the module of each name, or the name itself for a module.
    """

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{module_of[name]}")
        return module if module_of[name] == name else getattr(module, name)

    return load
