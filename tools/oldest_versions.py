"""Print the lowest version of each dependency that pyproject.toml allows.

    python tools/oldest_versions.py io > oldest.txt
    pip install --constraint oldest.txt '.[io]'

Arguments name extras; what the package itself needs is always among them.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
LOWER_BOUND = re.compile(r"([\w.-]+)\s*(?:>=|==)\s*([\w.]+)")


def oldest_versions(project: dict, extras: list[str]) -> list[str]:
    """A line of pip's constraints for each dependency, with its lower bound."""
    optional = project["optional-dependencies"]
    lines = []
    for dependency in [*project["dependencies"], *sum(map(optional.get, extras), [])]:
        match = LOWER_BOUND.match(dependency)
        if match is None:
            raise ValueError(f"{dependency!r} of pyproject.toml has no lower bound.")
        lines.append(f"{match[1]}=={match[2]}")
    return lines


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    print(*oldest_versions(project, sys.argv[1:]), sep="\n")
