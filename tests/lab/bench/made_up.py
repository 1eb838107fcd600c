"""Results that nobody measured."""

from thalweg.lab.bench.found import Found, Memory, Row, Verdict


def row(section: str, name: str, n: int, ns: float, size: int = 0) -> Row:
    return Row(section, name, n, size, ns, 0.9 * ns, 1.2 * ns)


def found(factor: float = 1.0) -> Found:
    """One row a section, all times ``factor`` as long."""
    return Found(
        rows=[
            row("call", "thalweg predict + update", 8, 500.0 * factor),
            row("call", "padasip predict + adapt", 8, 5000.0 * factor),
            row("array", "thalweg run", 8, 50.0 * factor),
            row("bank", "bank of RLS", 8, 100.0 * factor, size=4),
            row("rounds", "thalweg run", 8, 60.0 * factor, size=10_000),
            row("startup", "import thalweg", 0, 1e7 * factor),
        ],
        verdicts=[Verdict("padasip predict + adapt", 8, 1e-12, "agrees")],
        memory=[Memory("RecursiveLeastSquares", 100_000, 200.0, 90.0)],
        missing=["polars-ols"],
        about={"thalweg": "0"},
    )
