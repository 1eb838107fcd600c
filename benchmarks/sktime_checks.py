"""Count which of sktime's own checks our forecaster passes.

    make test-sktime

An expected failure is printed with its reason; any other ends the script with status 1.
"""

import sys
import warnings
from collections import Counter

import sktime
from sktime.utils.estimator_checks import check_estimator

from thalweg.integrations.sktime import TrackerForecaster

EXPECTED: dict[str, str] = {}
"""Reasons by the name of a check."""


def main() -> int:
    """Run all checks, print the counts and return how many failed unexpectedly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            TrackerForecaster, raise_exceptions=False, verbose=False
        )
    failures = {name: result for name, result in results.items() if result != "PASSED"}
    unexpected = [name for name in failures if name.partition("[")[0] not in EXPECTED]
    print(
        f"sktime {sktime.__version__}, TrackerForecaster: {len(results)} checks, "
        f"{len(results) - len(failures)} passed, "
        f"{len(failures) - len(unexpected)} failed as expected, "
        f"{len(unexpected)} failed"
    )
    kinds = Counter(name.partition("[")[0] for name in results)
    print(", ".join(f"{name} {count}" for name, count in sorted(kinds.items())))
    for name, result in failures.items():
        reason = EXPECTED.get(name.partition("[")[0], repr(result))
        print(f"    {name}: {reason:.300}")
    return len(unexpected)


if __name__ == "__main__":
    sys.exit(main() > 0)
