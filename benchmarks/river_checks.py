"""How many of River's own checks each estimator for River passes.

python -m benchmarks.river_checks
"""

from typing import Any

from river import checks

from thalweg.integrations import river as estimators


def count_checks(estimator: Any) -> tuple[int, list[str], set[str]]:
    """How many checks pass, which fail, and which are left out."""
    passes, failures, skips = 0, [], estimator._unit_test_skips()
    for check in checks.yield_checks(estimator):
        if check.__name__ in skips:
            continue
        try:
            check(estimator.clone())
            passes += 1
        except Exception as error:
            failures.append(f"{check.__name__}: {error!r:.200}")
    return passes, failures, skips


def main() -> None:
    """Print a line for each estimator, and one for each failure."""
    for name in estimators.__all__:
        kind = getattr(estimators, name)
        for settings in kind._unit_test_params():
            passes, failures, skips = count_checks(kind(**settings))
            title = name + (f" {settings}" if settings else "")
            print(
                f"{title:45} {passes:3} passed, {len(failures)} failed, "
                f"{len(skips)} left out"
            )
            for failure in failures:
                print(f"    {failure}")


if __name__ == "__main__":
    main()
