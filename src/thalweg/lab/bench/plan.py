"""What a run of the bench shall measure, and for how long."""

from dataclasses import dataclass

from thalweg import checks
from thalweg.errors import InvalidParameterError

SECTIONS = {
    "call": "One call: predict, then learn",
    "array": "Whole arrays",
    "tracker": "The Tracker beside padasip",
    "bank": "N experts",
    "blocks": "Blocks of rounds",
    "rounds": "T rounds",
    "roofline": "What one core could do",
    "startup": "The first second of a process",
    "memory": "Memory of a long run",
}
SIZES = (2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Plan:
    """``only`` names sections; a repetition takes about ``budget`` seconds."""

    only: tuple[str, ...] = tuple(SECTIONS)
    sizes: tuple[int, ...] = SIZES
    repeats: int = 5
    budget: float = 0.1
    quick: bool = False

    def __post_init__(self) -> None:
        checks.require_interval(self, "repeats", "[1, inf)")
        checks.require_interval(self, "budget", "(0, inf)")
        for n in self.sizes:
            checks.require_argument("Plan", "sizes", n, "[1, 256]")
        for name in self.only:
            if name not in SECTIONS:
                raise InvalidParameterError(
                    f"The bench has the sections {', '.join(SECTIONS)}. "
                    f"Got {name!r} instead."
                )

    @classmethod
    def short(cls, only: tuple[str, ...], sizes: tuple[int, ...] | None) -> "Plan":
        """Under a minute: less of everything, and less to trust."""
        return cls(only, sizes or (4, 8, 16, 64), repeats=3, budget=0.02, quick=True)

    def upto(self, largest: int) -> tuple[int, ...]:
        """The sizes that are no larger."""
        return tuple(n for n in self.sizes if n <= largest)
