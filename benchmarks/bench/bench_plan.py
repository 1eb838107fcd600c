"""The plan of a bench: what it measures, and for how long."""

from dataclasses import dataclass

from thalweg import checks
from thalweg.errors import InvalidParameterError

SECTIONS = {
    "call": "One call: predict, then learn",
    "array": "Whole arrays",
    "tracker": "The Tracker and padasip",
    "bank": "N experts",
    "blocks": "Blocks of rounds",
    "rounds": "T rounds",
    "roofline": "What one core could do",
    "startup": "The first second of a process",
    "memory": "Memory of a long run",
}
SIZES = (2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class BenchPlan:
    """Which sections are measured, for which numbers of features, how thoroughly.

    A repetition takes about ``budget`` seconds of processor time.
    """

    sections: tuple[str, ...] = tuple(SECTIONS)
    sizes: tuple[int, ...] = SIZES
    repeats: int = 5
    budget: float = 0.1
    quick: bool = False

    def __post_init__(self) -> None:
        checks.require_interval(self, "repeats", "[1, inf)")
        checks.require_interval(self, "budget", "(0, inf)")
        for n in self.sizes:
            checks.require_argument("BenchPlan", "sizes", n, "[1, 256]")
        for name in self.sections:
            if name not in SECTIONS:
                raise InvalidParameterError(
                    f"The bench has the sections {', '.join(SECTIONS)}. "
                    f"Got {name!r} instead."
                )

    @classmethod
    def quick_plan(
        cls, sections: tuple[str, ...], sizes: tuple[int, ...] | None
    ) -> "BenchPlan":
        """Under a minute: fewer sizes and repetitions, and less to trust."""
        sizes = sizes or (4, 8, 16, 64)
        return cls(sections, sizes, repeats=3, budget=0.02, quick=True)

    def sizes_up_to(self, max_features: int) -> tuple[int, ...]:
        """The sizes that are no larger."""
        return tuple(n for n in self.sizes if n <= max_features)
