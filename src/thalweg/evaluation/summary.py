"""The results of a study in plain sentences."""

import math

import numpy as np

from thalweg.evaluation.study import ChangeAlarm, Entry, Study, TrackerHistory
from thalweg.evaluation.telling_columns import telling_sentence
from thalweg.types import FloatArray

SMALL_DIFFERENCE = 0.01
"""Differences of error smaller than this part of it are not worth a verdict."""

FEW_ROWS = 200
"""Among fewer rows only large changes of the target are found (docs/change-alarms.md).
"""

PAST_LABELS = (
    "The Tracker also sees past labels, the last and those a season ago; fixed "
    "settings see the columns only. --lags gives them past labels too."
)
"""A note for tables that show both."""

MIN_SEASON_WEIGHT = 0.05
"""A season whose experts have a smaller weight on average is not mentioned."""

MIDNIGHT = "T00:00:00"
"""The time of day of rows that are days, which needs no mention."""


def summary(study: Study) -> list[str]:
    """A few sentences, the most important first. Persistence is always named."""
    if study.scored_rounds == 0:
        return ["No row was scored, so that nothing can be said, not even whether "
                "persistence is better."]  # fmt: skip
    sentences = [_headline(study), telling_sentence(study), _change_sentence(study)]
    sentences.append(_error_sentence(study))
    sentences.append(_winner_sentence(study))
    if study.history is not None:
        sentences += [_memory_sentence(study.history), _season_sentence(study.history)]
        sentences.append(_coverage_sentence(study.history))
    sentences.append(_bound_sentence(study))
    return [sentence for sentence in sentences if sentence]


def _headline(study: Study) -> str:
    """The typical error, in units of the target, beside the best simple baseline.

    That is the one of the least mean absolute error, which is what is reported.
    """
    own = study.tracker.absolute
    baselines = sorted(
        study.baselines, key=lambda entry: np.nan_to_num(entry.absolute, nan=np.inf)
    )
    best, count = baselines[0], len(baselines)
    if not (np.isfinite(own) and np.isfinite(best.absolute)):
        return ""
    who = _capitalise(_name_with_article(study.tracker))
    error = f"{who}'s typical error is {format_value(own)}"
    method = best.description or best.name
    rank = f"the best of {_count_words(count)} simple methods" if count > 1 else ""
    if own > (1 + SMALL_DIFFERENCE) * best.absolute:
        aside = f", {rank}," if rank else ""
        better = f"{method}{aside} is better here: {format_value(best.absolute)}"
        return f"{error}. {_capitalise(better)}."
    part = _format_part(own / best.absolute if best.absolute else 1.0)
    return f"{error}, {part} what {method} gives{f' ({rank})' if rank else ''}."


def format_value(value: float) -> str:
    """A value as people write it: two digits, or all before the point, no exponent."""
    if value == 0 or not 1e-5 <= abs(value) < 1e15:
        return f"{value:.2g}"
    decimals = max(1 - math.floor(math.log10(abs(value))), 0)
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _format_part(ratio: float) -> str:
    """A part of something: half of, 62 % of, about."""
    for name, part in (
        ("half of", 1 / 2),
        ("a third of", 1 / 3),
        ("a quarter of", 1 / 4),
    ):
        if abs(ratio - part) <= 0.03 * part:
            return name
    if ratio >= 1 - SMALL_DIFFERENCE:
        return "about"
    return "less than 1 % of" if ratio < 0.01 else f"{_format_percent(ratio)} of"


def _count_words(count: int) -> str:
    words = ("two", "three", "four", "five")
    return words[count - 2] if count - 2 < len(words) else f"{count}"


def _change_sentence(study: Study) -> str:
    """What forgetting gains, and what changed when."""
    gain, verdict = _forgetting_gain(study)
    changes = _alarm_clause(study)
    parts = (changes, verdict) if gain > SMALL_DIFFERENCE else (verdict, changes)
    words = "; ".join(part for part in parts if part)
    return f"{_capitalise(words)}." if words else ""


def _alarm_clause(study: Study) -> str:
    """How many changes there were, and what the last one was."""
    if study.history is None:
        return ""
    count, alarms = study.history.alarm_count, study.history.alarms
    if not count:
        if study.rounds < FEW_ROWS:
            few = f"among {study.rounds:,} rows only large ones can be"
            return f"no change of the target was found ({few})"
        return "no change of the target was found"
    last, largest = alarms[-1], study.history.largest_alarm
    when = onset_words(last)
    if count == 1:
        return f"one change was seen, at {when}: {last.text}"
    # Changes need not be evenly spaced, so that no frequency is told.
    seen = f"{count:,} changes were seen in {study.rounds:,} rows"
    text = f"{seen}, the last at {when}: {last.text}"
    if largest is not None:
        text += f", the largest at {onset_words(largest)}: {largest.text}"
    return text


def onset_words(alarm: ChangeAlarm) -> str:
    """The row in which a change began, and its time."""
    if alarm.onset_time is None:
        return f"row {alarm.onset:,}"
    return f"row {alarm.onset:,} ({alarm.onset_time.removesuffix(MIDNIGHT)})"


def _forgetting_gain(study: Study) -> tuple[float, str]:
    """The part of the error that forgetting saves, and a verdict on it.

    The best fixed discount below 1 is compared with discount 1. A part too small for a
    verdict is 0.
    """
    fixed = study.entries_of_role("fixed")
    forgetting = [entry for entry in fixed if (entry.discount or 1) < 1]
    undiscounted = [entry for entry in fixed if entry.discount == 1]
    if not (forgetting and undiscounted):
        return 0.0, ""
    gain = 1 - study.ratio(forgetting[0].name, undiscounted[0].name)
    discount = f"discount {forgetting[0].discount:g}"
    if not np.isfinite(gain) or gain < -SMALL_DIFFERENCE:
        return 0.0, "forgetting does not pay: to remember everything is better"
    if gain <= SMALL_DIFFERENCE:
        return 0.0, "forgetting changes little"
    return gain, f"forgetting saves {_format_percent(gain)} ({discount} against none)"


def _error_sentence(study: Study) -> str:
    """The Tracker beside persistence, the best baseline and the best fixed setting."""
    name, base = study.tracker.name, study.persistence.name
    who = _capitalise(_name_with_article(study.tracker))
    ratio = study.ratio(name, base)
    if not np.isfinite(ratio):
        return _explain_missing_ratio(study, ratio)
    text = f"{who}'s squared error is {_format_multiple(ratio)} persistence's"
    best = study.best_baseline
    best_ratio = study.ratio(name, best.name)
    if not np.isfinite(best_ratio):
        return f"{text}; {best.name} makes no error at all and cannot be beaten."
    if best is not study.persistence:
        text += f", {_format_multiple(best_ratio)} that of {best.name}"
    if fixed := study.entries_of_role("fixed"):
        fixed_ratio = study.ratio(name, fixed[0].name)
        text += f" and {_format_multiple(fixed_ratio)} that of {fixed[0].name}"
        text += ", the best fixed setting in hindsight"
    if best_ratio > 1 + SMALL_DIFFERENCE:
        rule = best.description or "which says again what it last saw"
        text += f": here {best.name}, {rule}, is better"
    return f"{text}."


def _explain_missing_ratio(study: Study, ratio: float) -> str:
    if np.isnan(ratio):
        who = _capitalise(_name_with_article(study.tracker))
        return f"{who}'s error or persistence's is not a number."
    return "Persistence makes no error at all here, and cannot be beaten."


def _winner_sentence(study: Study) -> str:
    best, own = study.ranked_entries()[0], study.tracker
    count = len(study.entries)
    if best is own:
        return f"No other of the {count} learners has a smaller error."
    if count == 2:
        return ""
    text = f"The least error of all {count} learners is that of {best.name}"
    ratio = study.ratio(best.name, own.name)
    if 0 < ratio < 1 - SMALL_DIFFERENCE:
        text += f", {_format_ratio(ratio)} of {_name_with_article(own)}'s"
    elif ratio > 0:
        text += f", if only by {_format_small_percent(1 - ratio)}"
    return f"{text}."


def _memory_sentence(history: TrackerHistory) -> str:
    median, low, high = _memory_quantiles(history, np.array([0.5, 0.1, 0.9]))
    if not median > 0:
        return ""
    if median < 2:
        return "Typically only the last row counts."
    typical, shortest, longest = map(_round_to_two_digits, (median, low, high))
    text = f"Typically about the last {typical:,} rows count"
    if longest > 1.5 * shortest:
        text += f", between {shortest:,} and {longest:,} most of the time"
    return f"{text}."


def _season_sentence(history: TrackerHistory) -> str:
    weight = history.weights.get("season")
    if (
        history.season <= 1
        or weight is None
        or not np.nan_to_num(weight.mean).mean() > MIN_SEASON_WEIGHT
    ):
        return ""
    return f"It sees a season of {history.season:,} rows."


def _coverage_sentence(history: TrackerHistory) -> str:
    if not history.coverage:
        return ""
    nominal, measured = min(history.coverage, key=lambda pair: abs(pair[0] - 0.9))
    return (
        f"Its {_format_percent(nominal)} intervals held the value "
        f"{_format_percent(measured)} of the time."
    )


def _bound_sentence(study: Study) -> str:
    bounded = [one for one in study.regrets if one.bound is not None]
    broken = sum(one.measured > (one.bound or 0.0) for one in bounded)
    if not bounded:
        return ""
    if broken:
        return f"{broken} of {len(bounded)} measured regrets exceed their bounds."
    if len(bounded) == 1:
        return "The regret that has a bound stays below it."
    return f"All {len(bounded)} regrets that have a bound stay below it."


def _memory_quantiles(history: TrackerHistory, levels: FloatArray) -> FloatArray:
    """Quantiles of the effective memory over rounds; a bucket counts by its width."""
    curve = history.memory
    known = np.isfinite(curve.mean)
    if not known.any():
        return np.zeros(len(levels))
    order = np.argsort(curve.mean[known])
    width = np.diff(curve.last_round, prepend=0)[known][order]
    share = np.cumsum(width) / width.sum()
    return np.asarray(curve.mean[known][order][np.searchsorted(share, levels)])


def _name_with_article(entry: Entry) -> str:
    return "the Tracker" if entry.name == "Tracker" else entry.name


def _capitalise(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _format_multiple(ratio: float) -> str:
    if f"{ratio:.2f}" == "1.00":
        return "about"
    return f"{_format_ratio(ratio)} of" if ratio < 1 else f"{ratio:.2f} times"


def _format_ratio(ratio: float) -> str:
    """A ratio with two digits that say something: it is never 0.00."""
    if ratio < 0.01:
        return "less than 0.01"
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _format_small_percent(part: float) -> str:
    return "less than 0.1 %" if part < 0.001 else f"{100 * part:.1f} %"


def _format_percent(part: float) -> str:
    return f"{100 * part:.0f} %"


def _round_to_two_digits(rounds: float) -> int:
    """A number of rounds; no alarm is more exact than two significant digits."""
    return round(float(f"{max(rounds, 1.0):.2g}"))
