"""Memory of a run over a memory-mapped stream of 8 features, read in pieces.

python benchmarks/memory.py --rounds 1e7 --learner Tracker

The file, 72 bytes a round, is written to a temporary folder and deleted afterwards.
"""

import argparse

from thalweg.lab.bench.memory import memory


def main() -> None:
    """Print the peak after every power of ten."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=float, default=1e7)
    parser.add_argument("--learner", default="RecursiveLeastSquares")
    asked = parser.parse_args()
    found = memory(asked.learner, int(asked.rounds))
    print(f"{'rounds':>14}{'peak resident':>18}{'own':>12}   {asked.learner}")
    for _, rounds, peak, own in found:
        print(f"{rounds:>14,}{peak:>14.1f} MiB{own:>8.1f} MiB")


if __name__ == "__main__":
    main()
