"""The command: ``python -m tools.mutants``."""

import argparse
from pathlib import Path

from tools.mutants.baseline import COMPILED, PLAIN, Baseline
from tools.mutants.campaign import (
    Results,
    all_mutants,
    load_equivalents,
    mutant_diff,
    package_of,
    run_campaign,
    table,
)
from tools.mutants.selection import TESTS

RESULTS = {"all": "results.jsonl", "fast": "results-fast.jsonl"}
"""Files of results, by the tier of the tests that ran."""
TREE = Path(__file__).resolve().parent.parent.parent


def parse_options() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants")
    parser.add_argument("--list", action="store_true", help="print what is drawn")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument(
        "--package", action="append", choices=[*TESTS], help="only these packages"
    )
    parser.add_argument("--only", default="", help="only mutants with this in the name")
    parser.add_argument(
        "--again",
        action="append",
        default=[],
        choices=["survived", "timed out", "killed", "error"],
        help="run those with this result again, as after new tests",
    )
    parser.add_argument(
        "--survey",
        choices=["changed", "all", "none"],
        default="changed",
        help="which files of tests are surveyed first",
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help="kernels as plain Python only",
    )
    parser.add_argument(
        "--tier",
        choices=["fast", "all"],
        default="all",
        help="whose tests may notice: make test alone, or make test-all too",
    )
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    """Draw, run what has no result yet, and print the table and the survivors."""
    options = parse_options()
    folder = TREE / "out" / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    baseline = Baseline(TREE, folder)
    baseline.refresh()
    results = Results(folder / RESULTS[options.tier])
    packages = options.package or [*TESTS]
    mutants = [
        mutation
        for mutation in all_mutants(baseline.texts)
        if package_of(mutation) in packages and options.only in mutation.name
    ]
    if options.list:
        for one in mutants:
            print(f"{one.name}  line {one.line}  {one.kind}: {one.old!r} → {one.new!r}")
        return
    if not options.report:
        pending = []
        for mutation in mutants:
            result = results.get(mutation, baseline.texts[mutation.file])
            if result is None or result["status"] in options.again:
                pending.append(mutation)
        touched = sorted({package_of(mutation) for mutation in pending})
        if options.survey != "none":
            baseline.survey(touched, options.survey == "all", options.workers)
        modes = [PLAIN] if options.plain else [PLAIN, COMPILED]
        run_campaign(baseline, pending, results, options.workers, modes, options.tier)
    print_report(baseline, mutants, results)


def print_report(baseline: Baseline, mutants: list, results: Results) -> None:
    """Print the survivors, then the table."""
    equivalents = load_equivalents()
    for mutation in mutants:
        text = baseline.texts[mutation.file]
        result = results.get(mutation, text)
        if result is not None and result["status"] in ("survived", "error"):
            reason = equivalents.get(mutation.name, "")
            label = f"equivalent: {reason}" if reason else result["status"]
            print(f"\n{mutation.name} ({label})\n{mutant_diff(mutation, text)}")
    print("\n" + table(mutants, baseline.texts, results))


if __name__ == "__main__":
    main()
