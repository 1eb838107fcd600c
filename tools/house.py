"""Measure how easily a stranger finds their way in the source tree.

    python tools/house.py             this tree
    python tools/house.py OTHER/src   this tree, and an earlier one before it

Prints sizes of files and functions, files that only one module imports, names that are
used for several things, functions named by a bare participle, what the five journeys
of docs/architecture.md touch, and how many files each of six changes has to edit.
"""

import argparse
import ast
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "src"

IRREGULAR_PARTICIPLES = frozenset(
    "begun born bound built chosen cut done drawn fed fit found forgotten given gone "
    "grown heard held hidden kept known laid learnt led left lent lost made meant met "
    "paid put read said seen sent set shown shut sold solved spent split spoken spread "
    "sprung stood taken taught thrown told understood worn written".split()
)
NOT_BARE = frozenset("bound cut fit mixed put read set speed split spread".split())
"""Of these words, some are verbs or nouns as well; ``streams.mixed`` names a kind of
drift, as its siblings ``abrupt`` and ``gradual`` do."""

SAME_IDEA = frozenset(
    # An algorithm has its definition, its kernel, its bound or its adversary under one
    # name, each in its package.
    "ader adaptive_lin_ucb directional error_intervals experts exponential_weights "
    "general_least_squares gradient lin_ucb logistic_tracker losses lower_bound newton "
    "ogd rls ucb "
    # The base class of a package; a command and what it runs.
    "base accuracy compare demo forecast reproduce".split()
)
"""File names that stand for one idea in every package that has them."""

# What whoever changes an idea has to edit, by patterns that hold for the earlier names
# as well: files in which a pattern is found, or every place for those of ``PLACES``.
CHANGES = {
    "files that state the covariance cap": r"\*\*\s*-\s*0\.75",
    "files that decide what a missing value means": (
        r"""[!=]= ?"(?:skip|impute|refuse)"|Literal\["refuse\""""
        r"""|\("refuse", "skip", "impute"\)"""
    ),
    "files in which late labels wait": (
        r"class (?:Lessons|DelayedLabels)\b|def _?(?:wait|push_pending)\("
        r"|\bt - delay\b|\.y\[: -delay"
    ),
    "places to edit for an array of the Tracker's state": (
        r"moments: (?:np\.ndarray|Annotated)|mean.*LANES, \(z \+ 2\) \* z \* LANES"
        r"|RECENT, LANES, \(z \+ 1\) \* LANES|int\(at\[9\]\), \(z|moments\.fill\("
        r"|moments\[:\] = 0"
    ),
    "files that number rows of the packed factor": (
        r"factor\[(?:\w+, )?n(?: \+ \d)?[,\]]|factor\[factor\.shape\[1\]"
        r"|\(n \+ 3, n\)|\(n \+ 3\) \* n|class UDFactor\b"
    ),
    "hand-written pairs that save and restore a run": (
        r"def (?:kept|told)\(self|def check_told\("
    ),
}
PLACES = frozenset({"places to edit for an array of the Tracker's state"})
"""Changes of which every place counts, as they lie in one file."""

JOURNEYS = {
    "first Online().update": """
import numpy as np, thalweg as tw
model = tw.Online()
watch(lambda: model.update(np.ones(3), 1.0))
""",
    "whole-array run": """
import numpy as np, thalweg as tw
rng = np.random.default_rng(0)
learner = tw.RecursiveLeastSquares(0.99)
block, loss = tw.Block(rng.normal(size=(50, 3)), rng.normal(size=50)), tw.SquaredError()
state = learner.init(np.zeros(3))
watch(lambda: learner.run(state, loss, block))
""",
    "thalweg run": """
from thalweg.cli.main import app
watch(lambda: app(["run", "stream.csv", "--target", "y"], standalone_mode=False))
""",
    "thalweg compare": """
from thalweg.cli.main import app
watch(lambda: app(["compare", "stream.csv", "--target", "y"], standalone_mode=False))
""",
    "regret.frontier": """
import numpy as np, thalweg as tw
stream = tw.streams.abrupt(300, 3, changes=4, seed=0)
frontier, loss = tw.regret.frontier, tw.SquaredError()
watch(lambda: frontier(stream.block, loss))
""",
}
WATCH = """
import contextlib, json, os, sys
touched = {}
def note(frame, event, _):
    name, file = frame.f_code.co_qualname, frame.f_code.co_filename
    is_function = frame.f_code.co_flags & 1  # neither a module nor the body of a class
    if event == "call" and "/thalweg/" in file and is_function:
        touched[os.path.realpath(file).split("/src/thalweg/")[-1], name] = None
def watch(call):
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit):
        sys.setprofile(note)
        try:
            call()
        finally:
            sys.setprofile(None)
"""


def modules(source: Path) -> dict[str, ast.Module]:
    """The syntax tree of every module, by its dotted name."""
    trees = {}
    for path in sorted(source.rglob("*.py")):
        name = ".".join(path.relative_to(source).with_suffix("").parts)
        trees[name.removesuffix(".__init__")] = ast.parse(path.read_text())
    return trees


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Every function and method below ``tree``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node


def importers(trees: dict[str, ast.Module]) -> Counter[str]:
    """How many modules import each module."""
    counts: Counter[str] = Counter()
    for tree in trees.values():
        names = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
        counts.update(names & set(trees))
    return counts


def is_bare_participle(name: str) -> bool:
    """Whether a function's name is one participle and nothing else."""
    word = name.strip("_")
    regular = word.endswith("ed") and len(word) > 4 and "_" not in word
    return word not in NOT_BARE and (regular or word in IRREGULAR_PARTICIPLES)


def repeats(names: list[str]) -> list[str]:
    """The names that occur twice or more."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def class_names(trees: dict[str, ast.Module]) -> list[str]:
    """The name of every class, with that of its library where it is an adapter."""
    return [
        library_of(name) + node.name
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]


def file_names(trees: dict[str, ast.Module]) -> list[str]:
    """The name of every file that is no package, likewise."""
    packages = {name.rpartition(".")[0] for name in trees}
    files = [name for name in trees if name not in packages]
    return [library_of(name) + name.rpartition(".")[2] for name in files]


def library_of(name: str) -> str:
    """``"river."`` for a module of thalweg.integrations.river; ``""`` for all others.

    The same estimator has the same name in every library.
    """
    below = name.partition("integrations.")[2]
    return below.partition(".")[0] + "." if below else ""


def size_table(source: Path) -> dict[str, str]:
    """Sizes and names, as rows of the table."""
    trees = modules(source)
    lines = [len(path.read_text().splitlines()) for path in source.rglob("*.py")]
    lengths = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in trees.values()
        for node in functions(tree)
    ]
    counts = importers(trees)
    packages = {name.rpartition(".")[0] for name in trees}
    once = [name for name in trees if counts[name] == 1 and name not in packages]
    participles = [
        node.name
        for tree in trees.values()
        for node in functions(tree)
        if is_bare_participle(node.name)
    ]
    return {
        "files": str(len(lines)),
        "median file, lines": f"{statistics.median(lines):.0f}",
        "longest file, lines": str(max(lines)),
        "median function, lines": f"{statistics.median(lengths):.0f}",
        "longest function, lines": str(max(lengths)),
        "files imported by one module only": str(len(once)),
        "file names used twice or more": str(len(repeats(file_names(trees)))),
        "class names used twice or more": str(len(repeats(class_names(trees)))),
        "functions named by a bare participle": str(len(participles)),
    }


def change_table(source: Path) -> dict[str, list[str]]:
    """For each change, the files that have to be edited."""
    table: dict[str, list[str]] = {change: [] for change in CHANGES}
    for path in sorted(source.rglob("*.py")):
        text = _code(path)
        for change, pattern in CHANGES.items():
            count = len(re.findall(pattern, text))
            count = count if change in PLACES else min(count, 1)
            table[change] += [str(path.relative_to(source / "thalweg"))] * count
    return table


def _code(path: Path) -> str:
    """The file without comments and docstrings."""
    text = re.sub(r'"""[\s\S]*?"""', "", path.read_text())
    return re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)


def journey_table(source: Path) -> dict[str, str]:
    """Functions, files and packages that each journey touches."""
    table = {}
    for name, code in JOURNEYS.items():
        journey(source, code)  # so that kernels come from the disk cache below
        touched = journey(source, code)
        files = {file for file, _ in touched}
        packages = {file.split("/")[0].removesuffix(".py") for file in files}
        table[name] = f"{len(touched)} / {len(files)} / {len(packages)}"
    return table


def journey(source: Path, code: str) -> list[tuple[str, str]]:
    """The files and functions that a journey calls, in the order of first calls."""
    program = f"{WATCH}{code}\nprint(json.dumps(list(touched)))"
    with tempfile.TemporaryDirectory() as folder:
        rows = (f"{t},{t % 7},{(3 * t) % 11 + 0.1 * t}" for t in range(400))
        text = "\n".join(["a,b,y", *rows])
        (Path(folder) / "stream.csv").write_text(text + "\n")
        answer = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            cwd=folder,
            env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin", "HOME": folder},
        )
    if answer.returncode:
        raise RuntimeError(answer.stderr)
    return [tuple(call) for call in json.loads(answer.stdout.splitlines()[-1])]


def main() -> None:
    """Print the tables of this tree and of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="*", type=Path, help="another tree's src")
    parser.add_argument("--names", action="store_true", help="list what is counted")
    parser.add_argument("--journeys", action="store_true", help="list files touched")
    options = parser.parse_args()
    trees = [*(path.resolve() for path in options.source), HERE]
    columns = []
    for source in trees:
        edits = change_table(source)
        column = size_table(source)
        for name, counts in journey_table(source).items():
            column[f"{name}: functions / files / packages"] = counts
        for change, files in edits.items():
            column[change] = str(len(files))
        columns.append(column)
    for name in columns[0]:
        print(f"{name:<62}" + "".join(f"{column[name]:>18}" for column in columns))
    if options.names:
        _print_names(HERE)
    if options.journeys:
        for name, code in JOURNEYS.items():
            files = dict.fromkeys(file for file, _ in journey(HERE, code))
            print(f"\n{name}:", *files, sep="\n  ")


def _print_names(source: Path) -> None:
    trees = modules(source)
    counts = importers(trees)
    packages = {name.rpartition(".")[0] for name in trees}
    print("\nImported by one module only:")
    for name in trees:
        if counts[name] == 1 and name not in packages:
            print(f"  {name}")
    print("\nFile names used twice:", *repeats(file_names(trees)))
    print("\nClass names used twice:", *repeats(class_names(trees)))
    print("\nBare participles:")
    for name, tree in trees.items():
        bad = [node.name for node in functions(tree) if is_bare_participle(node.name)]
        if bad:
            print(f"  {name}:", *bad)
    for change, files in change_table(source).items():
        print(f"\n{change}:", *files)


if __name__ == "__main__":
    main()
