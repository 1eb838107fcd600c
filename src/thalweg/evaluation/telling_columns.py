"""Whether columns of the same row tell the target so well that it may be no forecast.

Also known as: target leakage, look-ahead. A total beside its parts, or a closing price
beside the highest and the lowest one of the day, are known together. Whoever forecasts
the one does not know the others yet.
"""

from thalweg.evaluation.study import Study

LARGE_GAIN = 0.5
"""Errors below this part of the best simple method's are looked into."""
MAIN_SHARE = 0.5
"""Share of what moves the forecasts that must be due to columns of the same row."""
MAX_NAMED = 3


def telling_columns(study: Study) -> tuple[str, ...]:
    """The columns of the same row that a large gain is due to, by their effects."""
    effects = study.effects or {}
    own = {name: effects[name] for name in study.column_features if name in effects}
    best = min((one.absolute for one in study.baselines), default=0.0)
    is_large = study.tracker.absolute < LARGE_GAIN * best
    if not is_large or sum(own.values()) <= MAIN_SHARE * sum(effects.values()):
        return ()
    return tuple(sorted(own, key=lambda name: -own[name]))


def telling_sentence(study: Study) -> str:
    """A sentence on these columns, and what to do; empty where there are none."""
    names = telling_columns(study)
    if not names:
        return ""
    *others, last = map(repr, names[:MAX_NAMED])
    listed = f"{', '.join(others)} and {last}" if others else last
    tell = "tells" if len(names) == 1 else "tell"
    those = "it is" if len(names) == 1 else "they are"
    return (
        f"{listed} of the same row {tell} most of {study.target}. If {those} known "
        f"only together with it, this is no forecast: name the columns to use, or "
        f"none, with --features."
    )
