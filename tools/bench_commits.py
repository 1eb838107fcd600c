"""Compare the speed of two source trees: alternating runs of ``benchmarks.bench``.

    python tools/bench_commits.py EARLIER/src [--runs 7]

Needs an interpreter that has the peers (``make bench-env``). Each run prints the ratios
of its own promises against named peers; the first table has the median ratio of either
tree and by how much the later one is faster (+) or slower (-). Runs alternate, so that
a busy neighbour slows both. A ratio changes with the peer's time too, so the second
table has our own times: the lowest of all runs, which a neighbour disturbs least.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "src"
SIZES = "4,8,16,32,64"
"""The numbers of features that the promises name; blocks have sizes of their own."""
OWN = ("thalweg", "Tracker", "round by round", "blocked")
"""How the names of what is ours begin."""
SECTIONS = ("call", "array", "tracker", "blocks", "roofline")
ROW = re.compile(r"^ (?P<what>\S.*?\S)\s{2,}(?P<sign>[≥≤])\s+\S+\s+(?P<ratio>[\d.,]+) ")


Times = dict[tuple[str, str, int, int], float]
"""Nanoseconds a round by section, name, number of features and size."""


def measure(
    source: Path, folder: Path, sections: list[str]
) -> tuple[dict[str, float], Times]:
    """The ratios that one run of the bench prints, and all times."""
    only = [word for section in sections for word in ("--only", section)]
    only += ["--sizes", SIZES]
    outputs = ["--json", f"{folder}/bench.json", "--figure", f"{folder}/bench.png"]
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench", *only, *outputs],
        env={**os.environ, "PYTHONPATH": str(source)},
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [match for line in answer.stdout.splitlines() if (match := ROW.match(line))]
    ratios = {
        f"{row['what']} ({row['sign']})": float(row["ratio"].replace(",", ""))
        for row in rows
    }
    timings = json.loads((folder / "bench.json").read_text())["timings"]
    keys = ("section", "name", "n", "size")
    return ratios, {tuple(t[key] for key in keys): t["ns"] for t in timings}


def print_times(runs: list[list[Times]]) -> None:
    """The lowest time of either tree, for what is ours and in both."""
    earlier, later = (
        {key: min(run[key] for run in times) for key in times[0]} for times in runs
    )
    print(f"\n{'microseconds a round':<58}{'earlier':>9}{'later':>9}{'times':>9}")
    for key, before in earlier.items():
        section, name, n, size = key
        if key in later and name.startswith(OWN):
            what = f"{section}: {name}, n = {n}" + (f", {size}" if size else "")
            print(
                f"{what:<58}{before / 1e3:>9.3g}{later[key] / 1e3:>9.3g}"
                f"{later[key] / before:>9.3f}"
            )


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
    times: list[list[Times]] = [[], []]
    for number in range(options.runs):
        for tree, ratios, own in zip(trees, runs, times, strict=True):
            table, here = measure(tree, folder, options.only or list(SECTIONS))
            ratios.append(list(table.values()))
            own.append(here)
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
    print_times(times)


if __name__ == "__main__":
    main()
