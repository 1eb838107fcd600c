"""Exit codes of errors, many times over and under load: each must be 2.

``python benchmarks/error_exits.py --exits 1000`` makes files that cannot be run, in
every format, and runs ``thalweg run`` on one after the other while two busy loops keep
the machine from ever being idle. Prints how often each code came, and exits with 1 if
any was not 2.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROWS = 40_000
"""Enough for pyarrow's threads to be at work when the error comes."""
SECONDS = 300


def write_files(folder: Path) -> list[list[str]]:
    """The arguments of runs that fail, each in another way."""
    lines = [f"{k % 97},{k % 89},{k}\n" for k in range(ROWS)]
    text = "a,b,y\n" + "".join(lines)
    (folder / "good.csv").write_text(text)
    (folder / "cell.csv").write_text(text + "x,1,2\n")
    (folder / "ragged.csv").write_text(text + "1,2\n")
    (folder / "constant.csv").write_text("a,y\n" + "1,1\n" * 1000)
    rows = [f'{{"a": {k % 97}, "y": {k}}}\n' for k in range(ROWS)]
    (folder / "cell.jsonl").write_text("".join(rows) + '{"a": "x", "y": 1}\n')
    return [
        ["none.csv", "-t", "y"],
        ["good.csv", "-t", "z"],
        ["good.csv"],
        ["good.csv", "-t", "y", "--missing", "drop"],
        ["cell.csv", "-t", "y"],
        ["ragged.csv", "-t", "y"],
        ["constant.csv", "-t", "y"],
        ["cell.jsonl", "-t", "y"],
    ]


def count_codes(exits: int, folder: Path) -> Counter[int]:
    """How often each exit code came."""
    cases, codes = write_files(folder), Counter[int]()
    for k in range(exits):
        command = [sys.executable, "-m", "thalweg.cli", "run", *cases[k % len(cases)]]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=SECONDS, check=False
        )
        codes[done.returncode] += 1
        if done.returncode != 2:
            print(command, done.returncode, done.stderr.decode()[-2000:], flush=True)
        if (k + 1) % 50 == 0:
            print(f"{k + 1} exits: {dict(codes)}", flush=True)
    return codes


def main() -> None:
    """Count exit codes beside busy loops."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--exits", type=int, default=1000)
    parser.add_argument("--busy", type=int, default=2, help="busy loops beside")
    options = parser.parse_args()
    loop = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(loop) for _ in range(options.busy)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            codes = count_codes(options.exits, Path(folder))
    finally:
        for process in busy:
            process.kill()
    print(f"Exit codes of {options.exits} errors: {dict(codes)}")
    sys.exit(0 if set(codes) == {2} else 1)


if __name__ == "__main__":
    main()
