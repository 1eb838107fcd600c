"""Measure how easily a stranger finds their way in the source tree.

    python tools/house.py             this tree
    python tools/house.py OTHER/src   this tree, and an earlier one before it

Prints sizes of files and functions, names that are used for several things, words that
nobody outside of this project uses, what first calls and commands load of the package,
and how many times each command reads its file. ``--names`` lists what is counted,
``--journeys`` the files whose functions each journey calls.
"""

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tempfile
import tokenize
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
    "base accuracy demo forecast reproduce".split()
)
"""File names that stand for one idea in every package that has them."""

WORDS = {
    "so many": r"\bso many\b",
    "anew": r"\banew\b",
    "told": r"\btold\b",
    "passed over": r"\bpass(?:ed|es|ing)? over\b",
    "of which": r"\bof which\b",
    "is said": r"\b(?:is|are) said\b",
    "names of the dialect": (
        r"\b(?:telling_columns|few_errors|step_limit|zero_limit|day_course"
        r"|clock_blocks|measured_key)\b"
    ),
}
"""Words and names that the field does not use for what they stand for here."""

JOURNEYS = {
    "first Online().update(array)": """
import numpy as np, thalweg as tw
watch(lambda: tw.Online().update(np.ones(3), 1.0))
""",
    "first Online(RLS).run": """
import numpy as np, thalweg as tw
rng = np.random.default_rng(0)
x, y = rng.normal(size=(50, 3)), rng.normal(size=50)
watch(lambda: tw.Online(tw.RecursiveLeastSquares(0.99)).run(x, y))
""",
    "first Forecaster.update": """
import thalweg as tw
watch(lambda: tw.Forecaster(horizon=3, season=7).update(1.0))
""",
    "thalweg run": """
from thalweg.cli.main import app
line = ["run", "stream.csv", "--target", "y", "--no-report"]
watch(lambda: app(line, standalone_mode=False))
""",
    "thalweg forecast": """
from thalweg.cli.main import app
line = ["forecast", "stream.csv", "--target", "y", "--no-report"]
watch(lambda: app(line, standalone_mode=False))
""",
    "thalweg compare": """
from thalweg.cli.main import app
line = ["compare", "stream.csv", "--target", "y", "--no-report"]
watch(lambda: app(line, standalone_mode=False))
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
LOADED = """
files = {getattr(module, "__file__", None) for module in sys.modules.values()}
ours = sorted(file for file in files if file and "/src/thalweg/" in file)
print(json.dumps({"touched": list(touched), "loaded": ours}))
"""

COMMANDS = {
    "run": "run FILE -t y",
    "run --horizon": "run FILE -t y --horizon 3",
    "run --key": "run FILE -t y --key k",
    "run, classes": "run FILE -t c",
    "forecast": "forecast FILE -t y --time time",
    "forecast --key": "forecast FILE -t y --key k",
    "compare": "compare FILE -t y",
}
READ = """
import atexit, os
def report():
    with open("/proc/self/io") as file:
        read = int(file.readline().split()[1])
    with open("read.txt", "w") as file:
        file.write(str(read))
atexit.register(report)
from thalweg.cli.program import main
main()
"""
ROWS = 1000


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


def code_lines(text: str) -> int:
    """The number of lines that hold more than docstrings, comments and blanks."""
    lines: set[int] = set()
    skipped = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT,
        tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER,
    }  # fmt: skip
    starts = True  # of a statement, where a string is a docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in skipped:
            starts = starts or token.type in (tokenize.NEWLINE, tokenize.INDENT)
        elif not (starts and token.type == tokenize.STRING):
            lines.update(range(token.start[0], token.end[0] + 1))
            starts = False
    return len(lines)


def size_table(source: Path) -> dict[str, str]:
    """Sizes, names and words, as rows of the table."""
    trees = modules(source)
    texts = {path: path.read_text() for path in sorted(source.rglob("*.py"))}
    lines = [len(text.splitlines()) for text in texts.values()]
    lengths = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in trees.values()
        for node in functions(tree)
    ]
    participles = [
        node.name
        for tree in trees.values()
        for node in functions(tree)
        if is_bare_participle(node.name)
    ]
    whole = "\n".join(texts.values())
    beside = [
        path.read_text()
        for folder in ("benchmarks", "tools")
        for path in (source.parent / folder).rglob("*.py")
    ]
    table = {
        "files": len(lines),
        "lines": sum(lines),
        "lines without docstrings, comments and blanks": sum(
            code_lines(text) for text in texts.values()
        ),
        "lines of imports": _import_lines(trees),
        "longest file, lines": max(lines),
        "longest function, lines": max(lengths),
        "file names used twice or more": len(repeats(file_names(trees))),
        "class names used twice or more": len(repeats(class_names(trees))),
        "functions named by a bare participle": len(participles),
        "lines of benchmarks/ and tools/": sum(len(t.splitlines()) for t in beside),
    }
    spoken = re.sub(r"\s*\n\s*#?\s*", " ", whole)
    counts = {
        f"words: {name}": len(re.findall(pattern, spoken, re.IGNORECASE))
        for name, pattern in WORDS.items()
    }
    table["words of the dialect"] = sum(counts.values())
    return {name: f"{count:,}" for name, count in {**table, **counts}.items()}


def _import_lines(trees: dict[str, ast.Module]) -> int:
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def journey_table(source: Path) -> dict[str, str]:
    """Modules of ours that each journey loads, and their lines."""
    table = {}
    for name, code in JOURNEYS.items():
        loaded = journey(source, code)["loaded"]
        lines = sum(len(Path(file).read_text().splitlines()) for file in loaded)
        table[f"{name}: modules, lines loaded"] = f"{len(loaded)}, {lines:,}"
    return table


def journey(source: Path, code: str) -> dict[str, list]:
    """The functions that a journey calls, in the order of first calls, and the modules
    that it loads."""
    program = f"{WATCH}{code}{LOADED}"
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder) / "stream.csv", 400)
        answer = run_python(source, program, [], folder)
    found: dict[str, list] = json.loads(answer.stdout.splitlines()[-1])
    return found


def write_rows(path: Path, rows: int) -> None:
    """A file of hours with two features, two keys and two classes."""
    lines = ["time,k,a,b,c,y"]
    for t in range(rows):
        day = f"2024-{1 + t // 24 // 28 % 12:02d}-{1 + t // 24 % 28:02d}"
        stamp = f"{day} {t % 24:02d}:00"
        a, b = t % 7, (3 * t) % 11 + 0.1 * (t % 5)
        kind = "yes" if a > 3 else "no"
        lines.append(f"{stamp},north,{a},{b:.60f},{kind},{a + t % 24:.60f}")
    path.write_text("\n".join(lines) + "\n")


def reading_table(source: Path) -> dict[str, str]:
    """How many times each command reads all of its file.

    What a command reads of everything, modules too, for twice the rows, less that for
    the rows once, in units of the bytes by which the file is larger.
    """
    table = {}
    for name, line in COMMANDS.items():
        read, size = [], []
        for rows in (ROWS, ROWS, 2 * ROWS):  # the first may compile, and reads more
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "rows.csv"
                write_rows(file, rows)
                command = line.replace("FILE", "rows.csv").split()
                run_python(source, READ, [*command, "--no-report"], folder)
                read.append(int((Path(folder) / "read.txt").read_text()))
                size.append(file.stat().st_size)
        times = (read[2] - read[1]) / (size[2] - size[1])
        table[f"thalweg {name}: readings of the file"] = f"{times:.1f}"
    return table


def run_python(
    source: Path, program: str, arguments: list[str], folder: str
) -> "subprocess.CompletedProcess[str]":
    """The outcome of a program that imports the package from ``source``."""
    answer = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin", "HOME": folder},
    )
    if answer.returncode:
        raise RuntimeError(answer.stdout + answer.stderr)
    return answer


def main() -> None:
    """Print the tables of this tree and of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="*", type=Path, help="another tree's src")
    parser.add_argument("--names", action="store_true", help="list what is counted")
    parser.add_argument("--journeys", action="store_true", help="list files called")
    parser.add_argument("--sizes", action="store_true", help="sizes and words alone")
    options = parser.parse_args()
    columns = []
    for source in [*(path.resolve() for path in options.source), HERE]:
        column = size_table(source)
        if not options.sizes:
            column |= journey_table(source) | reading_table(source)
        columns.append(column)
    for name in dict.fromkeys(name for column in columns for name in column):
        cells = (column.get(name, "-") for column in columns)
        print(f"{name:<56}" + "".join(f"{cell:>16}" for cell in cells))
    if options.names:
        _print_names(HERE)
    if options.journeys:
        for name, code in JOURNEYS.items():
            files = dict.fromkeys(file for file, _ in journey(HERE, code)["touched"])
            print(f"\n{name}:", *files, sep="\n  ")


def _print_names(source: Path) -> None:
    trees = modules(source)
    print("\nFile names used twice:", *repeats(file_names(trees)))
    print("\nClass names used twice:", *repeats(class_names(trees)))
    print("\nBare participles:")
    for name, tree in trees.items():
        bad = [node.name for node in functions(tree) if is_bare_participle(node.name)]
        if bad:
            print(f"  {name}:", *bad)
    print("\nWords of the dialect:")
    pattern = re.compile("|".join(WORDS.values()), re.IGNORECASE)
    for path in sorted(source.rglob("*.py")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if pattern.search(line):
                print(f"  {path.relative_to(source)}:{number}: {line.strip()}")


if __name__ == "__main__":
    main()
