"""Memory of a run over a memory-mapped stream of 8 features, read a part at a time.

python benchmarks/memory.py --rounds 1e7 --learner Tracker

The file, 72 bytes a round, is written to a temporary folder and deleted afterwards.
"""

import argparse

from thalweg.lab.bench.processes import measure_memory


def main() -> None:
    """Print the peak after every power of ten."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=float, default=1e7)
    parser.add_argument("--learner", default="RecursiveLeastSquares")
    options = parser.parse_args()
    uses = measure_memory(options.learner, int(options.rounds))
    print(f"{'rounds':>14}{'peak resident':>18}{'own':>12}   {options.learner}")
    for _, rounds, peak, own in uses:
        print(f"{rounds:>14,}{peak:>14.1f} MiB{own:>8.1f} MiB")


if __name__ == "__main__":
    main()
