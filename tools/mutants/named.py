"""Mutants that are always run: each stands for a defect that once went unnoticed."""

from tools.mutants.sites import Mutation

NAMED = {
    "noise test 100 times laxer": (
        "kernels/ud_factor.py", "_is_noise", "abs(f) <= 4 *", "abs(f) <= 400 *",
    ),
    "noise test 100 times stricter": (
        "kernels/ud_factor.py", "_is_noise", "abs(f) <= 4 *", "abs(f) <= 0.04 *",
    ),
    "forget without its floor": (
        "kernels/ud_factor.py", "forget",
        "max(gamma, min_forgetting_factor(np.finfo(factor.dtype).eps))", "gamma",
    ),
    "restored ridge is always the floor": (
        "kernels/windup.py", "restore_ridge",
        "ridge * min(gamma ** (-0.5 * unexcited / turns), 2.0)", "ridge",
    ),
    "restart thresholds times 10": (
        "kernels/tracker/restart.py", "", "= 100.0, 1000.0", "= 1000.0, 10000.0",
    ),
    "interval quantile off by one": (
        "kernels/tracker/prediction_interval.py", "interval_offsets",
        "math.floor(share * (count + 1) - (0.5 - share) * excess)",
        "math.floor(share * (count + 1) - (0.5 - share) * excess) + 1",
    ),
    "keyed offset is the last one": (
        "keyed/cache.py", "KeyedCache.flush",
        "*(model.seq for model in models)", "*(model.seq for model in models[-1:])",
    ),
    "resume without truncation": (
        "runs/prediction_file.py", "PredictionFile._open",
        "file.truncate(self.size)", "pass",
    ),
    "missed rows of a live page are one off": (
        "serve/live_feed.py", "Watcher.add", "len(self.rows) == MAX_ROWS",
        "len(self.rows) >= MAX_ROWS - 1",
    ),
    "pieces of a forecast begin at the same place": (
        "evaluation/forecast_run.py", "ForecastRun.play",
        "first = self._play_piece(", "self._play_piece(",
    ),
    "schema of a foreign file is trusted": (
        "keyed/store.py", "KeyedStore._prepare",
        "trusted_schema = OFF", "trusted_schema = ON",
    ),
}  # fmt: skip
"""File, function, the text that is replaced (it occurs once), and its replacement."""


def named_mutations(texts: dict[str, str]) -> list[Mutation]:
    """The named mutants, in the files' present text."""
    mutants = []
    for name, (file, function, old, new) in NAMED.items():
        text = texts[file]
        if text.count(old) != 1:
            raise ValueError(
                f"The named mutant {name!r} replaces {old!r} in {file}, which occurs "
                f"there {text.count(old)} times. It must occur once: mend named.py."
            )
        start = text.index(old)
        line = text.count("\n", 0, start) + 1
        mutants.append(
            Mutation(
                file, function, line, "named", start, start + len(old), old, new, name
            )
        )
    return mutants
