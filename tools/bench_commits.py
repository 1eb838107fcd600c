"""Compare the speed of two source trees: alternating runs of ``thalweg bench``.

    python tools/bench_commits.py EARLIER/src [--runs 7]

Needs an interpreter that has the peers (``make bench-env``). Each run prints the ratios
of its own promises against named peers; the table has the median ratio of either tree
and by how much the later one is faster (+) or slower (-). Runs alternate, so that a
busy neighbour slows both.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "src"
SIZES = "4,8,16,32,64"
"""The numbers of features that the promises name; blocks have sizes of their own."""
SECTIONS = ("call", "array", "tracker", "blocks", "roofline")
ROW = re.compile(r"^ (?P<what>\S.*?\S)\s{2,}(?P<sign>[≥≤])\s+\S+\s+(?P<ratio>[\d.,]+) ")


def measure(source: Path, folder: Path, sections: list[str]) -> dict[str, float]:
    """The ratios that one run of the bench prints; below 1/x where less is better."""
    only = [word for section in sections for word in ("--only", section)]
    only += ["--sizes", SIZES]
    outputs = ["--json", f"{folder}/bench.json", "--figure", f"{folder}/bench.png"]
    answer = subprocess.run(
        [sys.executable, "-m", "thalweg.cli", "bench", *only, *outputs],
        env={**os.environ, "PYTHONPATH": str(source)},
        cwd=source.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [match for line in answer.stdout.splitlines() if (match := ROW.match(line))]
    return {
        f"{row['what']} ({row['sign']})": float(row["ratio"].replace(",", ""))
        for row in rows
    }


def main() -> None:
    """Run both trees in turn, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("earlier", type=Path, help="the src of the earlier tree")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=Path("out"))
    parser.add_argument("--only", action="append", choices=SECTIONS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    trees = [options.earlier.resolve(), HERE]
    runs: list[list[list[float]]] = [[], []]
    for number in range(options.runs):
        for tree, ratios in zip(trees, runs, strict=True):
            table = measure(tree, folder, options.only or list(SECTIONS))
            ratios.append(list(table.values()))
        print(f"run {number + 1} of {options.runs}", file=sys.stderr, flush=True)
    # By position: the sentences may differ between the trees, their order does not.
    earlier, later = (
        [statistics.median(column) for column in zip(*ratios, strict=True)]
        for ratios in runs
    )
    print(f"{'ratio':<58}{'earlier':>9}{'later':>9}{'faster':>9}")
    for what, before, after in zip(table, earlier, later, strict=True):
        faster = after / before if "≥" in what else before / after
        print(f"{what:<58}{before:>9.3g}{after:>9.3g}{100 * (faster - 1):>+8.1f}%")


if __name__ == "__main__":
    main()
