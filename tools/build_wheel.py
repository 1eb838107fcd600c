"""Hatch's hook for the wheel: kernels compiled already, for a common processor.

The wheel is then one for this version of Python and this platform. THALWEG_PURE_WHEEL=1
makes one for all, as does a machine whose processor has no baseline: its kernels
compile at first use. An editable installation has none either.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIP = """
import sys
from pathlib import Path
from thalweg.cli.user_calls import ship_kernels
if __name__ == "__main__":
    ship_kernels(Path(sys.argv[1]))
"""
ARCHIVE = "thalweg/kernels/shipped_kernels.zip"
IS_PURE = os.environ.get("THALWEG_PURE_WHEEL") == "1"


class ShippedKernels(BuildHookInterface[Any]):
    """Compiles the kernels of the calls in src/thalweg/cli/user_calls.py."""

    def dependencies(self) -> list[str]:
        """Of a build: those of thalweg itself, which runs."""
        return [] if IS_PURE else self.metadata.core.dependencies

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say where the archive goes and what the wheel is for."""
        if version == "editable" or IS_PURE:
            return
        self.folder = TemporaryDirectory()
        archive = Path(self.folder.name, "shipped_kernels.zip")
        script = Path(self.folder.name, "ship.py")
        script.write_text(SHIP)
        sources = str(Path(self.root, "src"))
        command = [sys.executable, str(script), str(archive)]
        done = subprocess.run(command, env=os.environ | {"PYTHONPATH": sources})
        if done.returncode:
            self.app.display_warning("Kernels were not compiled: the wheel is pure.")
            return
        build_data["force_include"][str(archive)] = ARCHIVE
        build_data["pure_python"] = False
        build_data["tag"] = _tag()

    def finalize(self, *built: Any) -> None:
        """Remove the archive, which the wheel has."""
        if folder := getattr(self, "folder", None):
            folder.cleanup()


def _tag() -> str:
    """For this Python and platform. The kernels need no C library of a certain age."""
    platform = sysconfig.get_platform().replace("linux-", "manylinux_2_17_")
    python = "".join(map(str, sys.version_info[:2]))
    return f"cp{python}-none-{platform.replace('-', '_').replace('.', '_')}"
