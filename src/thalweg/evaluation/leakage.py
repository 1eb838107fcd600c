"""Target leakage: columns of the same row that nearly determine the target.

Also known as: look-ahead. A total and its parts, or a closing price and the highest and
lowest one of the day, become known together. When the one is to be forecast, the others
are not known yet.
"""

from thalweg.evaluation.study import Study

LARGE_GAIN = 0.5
"""Limit of the Tracker's error, in units of the best simple method's, for a warning."""
MAIN_SHARE = 0.5
"""Minimum share of all effects on forecasts that columns of the same row have."""
MAX_NAMED = 3
"""Limit of the number of columns named in the warning."""


def leaking_columns(study: Study) -> tuple[str, ...]:
    """Columns of the same row that cause a large gain, the largest effect first."""
    effects = study.effects or {}
    own = {name: effects[name] for name in study.column_features if name in effects}
    best = min((one.absolute for one in study.baselines), default=0.0)
    is_large = study.tracker.absolute < LARGE_GAIN * best
    if not is_large or sum(own.values()) <= MAIN_SHARE * sum(effects.values()):
        return ()
    return tuple(sorted(own, key=lambda name: -own[name]))


def leakage_sentence(study: Study) -> str:
    """A warning that names these columns, and what to do; empty without any."""
    names = leaking_columns(study)
    if not names:
        return ""
    *others, last = map(repr, names[:MAX_NAMED])
    listed = f"{', '.join(others)} and {last}" if others else last
    explain = "explains" if len(names) == 1 else "explain"
    those = "it is" if len(names) == 1 else "they are"
    return (
        f"{listed} of the same row {explain} most of {study.target}. If {those} known "
        f"only together with it, this is no forecast: name the columns to use, or "
        f"none, with --features."
    )
