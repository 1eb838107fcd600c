"""``make dist``: the sdist and wheels, and what holds of them in bare environments.

    python tools/dist.py [FOLDER] [--python PATH ...] [--quick]

Builds the sdist, from it a wheel for all and, for each Python, one with compiled
kernels, and checks their descriptions. Each wheel is then installed with nothing else:
with the newest versions of what it needs, with the oldest, and as the wheel for all
(``--quick``: the newest alone). There, as a user who may write to nothing but an empty
folder, without a home and, where the system allows it, without a network, the README's
first lines, a run of a CSV file and ``thalweg demo`` have to work. The seconds that
each takes, the first time and the second (those of processors in brackets), are printed
as a table.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PURE = {"THALWEG_PURE_WHEEL": "1"}
UNPRIVILEGED = 65534
SMALL_TABLE = "\n".join(["day,y", *(f"2024-01-{d:02},{d % 7}" for d in range(1, 32))])
IMPORT = "import numpy as np, thalweg as tw; x = np.ones(3); "
FIRST_PREDICTIONS = {
    "least squares": "m = tw.Online(tw.RecursiveLeastSquares()); m.update(x, 1.0); "
    "m.predict(x)",
    "Online": "m = tw.Online(); m.update(x, 1.0); m.predict(x)",
    "Classifier": "m = tw.Classifier(); m.update(x, 1); m.predict(x)",
    "Forecaster": "tw.Forecaster(3).update(np.arange(9.0)).forecast()",
    "KeyedModels": "tw.KeyedModels('m.db').observe('a', x, 1.0, 0)",
}


def main() -> None:
    """Build, install, check, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", action="append", help="one for each wheel")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    folder = options.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        wheels = build(folder, options.python or [sys.executable], Path(work))
        rows = []
        for python, compiled, pure in wheels:
            rows.append(check(python, compiled, "newest", Path(work)))
            if not options.quick:
                rows.append(check(python, compiled, "oldest", Path(work)))
                rows.append(check(python, pure, "newest", Path(work)))
    print_table(rows)


def build(folder: Path, pythons: list[str], work: Path) -> list[tuple[str, Path, Path]]:
    """Python, its wheel and the wheel for all; the sdist beside them."""
    tools = environment(
        sys.executable, work / "tools", "build", "twine", "check-jsonschema"
    )
    execute(tools / "python", "-m", "build", "--sdist", "-o", folder, ROOT)
    [sdist] = folder.glob("*.tar.gz")
    wheel = ("-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, sdist)
    execute(tools / "python", *wheel, **PURE)
    [pure] = folder.glob("*-py3-none-any.whl")
    wheels = []
    for python in pythons:
        known = set(folder.glob("*.whl"))
        bare = environment(python, work / f"build-{len(wheels)}")
        execute(bare / "python", *wheel, THALWEG_PURE_WHEEL="0")
        [compiled] = set(folder.glob("*.whl")) - known
        wheels.append((python, compiled, pure))
    execute(tools / "twine", "check", "--strict", *folder.iterdir())
    schema = ("--builtin-schema", "vendor.github-workflows")
    workflows = (ROOT / ".github/workflows").iterdir()
    execute(tools / "check-jsonschema", *schema, *workflows)
    return wheels


def check(python: str, wheel: Path, versions: str, work: Path) -> dict[str, str]:
    """One row of the table: an environment, and the seconds of each check in it."""
    place = Path(tempfile.mkdtemp(dir=work))
    place.chmod(0o755)
    constraint: list[object] = []
    if versions == "oldest":
        script = [sys.executable, str(ROOT / "tools/oldest_versions.py")]
        text = subprocess.check_output(script, text=True)
        (place / "oldest.txt").write_text(text)
        constraint = ["--constraint", place / "oldest.txt"]
    binaries = environment(python, place / "env", wheel, *constraint)
    version = subprocess.check_output([python, "-V"], text=True).split()[1]
    row = {"wheel": "-".join(wheel.stem.split("-")[2:]), "Python": version}
    row |= {"versions": versions, "installed": f"{megabytes(place / 'env')} MB"}
    readme = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert readme is not None
    program, interpreter = str(binaries / "thalweg"), str(binaries / "python")
    checks = {
        name: [interpreter, "-c", IMPORT + code]
        for name, code in FIRST_PREDICTIONS.items()
    }
    checks["README"] = [interpreter, "-c", readme[1]]
    checks["run"] = [program, "run", "small.csv", "-t", "y"]
    checks["forecast"] = [program, "forecast", "small.csv", "-t", "y"]
    checks["demo"] = [program, "demo"]
    for name, command in checks.items():
        row[name] = ", ".join(seconds(command, place) for _ in range(2))
        shutil.rmtree(place / "temporary")  # with the kernels that it has compiled
    return row


def seconds(command: list[str], place: Path) -> str:
    """Wall and processor time of a command that has to work where little is allowed."""
    user = ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}"]
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    confined = [*user, "--clear-groups"] if is_root and shutil.which("setpriv") else []
    without_network = ["unshare", "--net"]
    if shutil.which("unshare") and not subprocess.call([*without_network, "true"]):
        confined = [*without_network, *confined]
    work, temporary = place / "work", place / "temporary"
    for folder in (work, temporary):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
    (work / "small.csv").write_text(SMALL_TABLE)
    bare = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    begin, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [*confined, *command], cwd=work, capture_output=True, text=True,
        env={**bare, "TMPDIR": str(temporary)},
    )  # fmt: skip
    taken, after = time.perf_counter() - begin, os.times()
    busy = sum(after[2:4]) - sum(before[2:4])
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return f"{taken:.1f} ({busy:.1f})"


def environment(python: str, folder: Path, *packages: object) -> Path:
    """The programs of a new environment that has only these."""
    execute(python, "-m", "venv", folder)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    if packages:
        execute(binaries / "python", "-m", "pip", "install", "--quiet", *packages)
    return binaries


def execute(*command: object, **changes: str) -> None:
    """Run a command that has to work."""
    words = [str(part) for part in command]
    subprocess.run(words, env=os.environ | changes, check=True)


def megabytes(environment: Path) -> str:
    """Size of thalweg as it is installed."""
    [package] = environment.rglob("site-packages/thalweg")
    size = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
    return f"{size / 1e6:.1f}"


def print_table(rows: list[dict[str, str]]) -> None:
    """The rows in Markdown."""
    print("", *rows[0], "", sep="|")
    print("", *("---" for _ in rows[0]), "", sep="|")
    for row in rows:
        print("", *row.values(), "", sep="|")


if __name__ == "__main__":
    main()
