"""Times as short as they can be read: no seconds and no hours where all are zero.

Rows that are months, quarters or years apart are written 1960-12, 1960-Q4 and 1960.
"""

from typing import Any, Literal

import numpy as np

PeriodUnit = Literal["month", "quarter", "year"]
_MONTHS_OF: dict[PeriodUnit, int] = {"month": 1, "quarter": 3, "year": 12}


def period_unit(times: Any) -> PeriodUnit | None:
    """Whether rows at these times are months, quarters or years; None: neither.

    All are the first day of a month, or all the last, each of another month. Quarters
    begin in January, April, July and October, and years in January.
    """
    times = np.asarray(times)
    if times.dtype.kind != "M" or len(times) < 2 or np.isnat(times).any():
        return None
    days, months = times.astype("datetime64[D]"), times.astype("datetime64[M]")
    if (times != days).any() or len(np.unique(months)) < len(months):
        return None
    ends = (months + 1).astype("datetime64[D]") - 1
    is_start = bool((days == months.astype("datetime64[D]")).all())
    if not is_start and (days != ends).any():
        return None
    # The month after a period that ends is the first of the next one.
    numbers = months.astype(np.int64) + (0 if is_start else 1)
    units: tuple[PeriodUnit, ...] = ("year", "quarter", "month")
    return next(unit for unit in units if (numbers % _MONTHS_OF[unit] == 0).all())


def short_times(times: Any, earlier: Any = None) -> list[str]:
    """Times (T,) as texts of equal exactness; numbers with ten digits at most.

    ``earlier``: times of rows before, which tell with them whether rows are months.
    """
    if times.dtype.kind != "M":
        return [f"{value:.10g}" for value in times.tolist()]
    known = times if earlier is None else np.concatenate([earlier, times])
    period = period_unit(known)
    if period is not None:
        return [_period_text(time, period) for time in times]
    for unit in ("D", "m"):
        if (times == times.astype(f"datetime64[{unit}]")).all():
            break
    else:
        unit = "s"
    texts = np.datetime_as_string(times.astype(f"datetime64[{unit}]"))
    return [str(text).replace("T", " ") for text in texts]


def _period_text(time: np.datetime64, unit: PeriodUnit) -> str:
    month = time.astype("datetime64[M]")
    if unit == "month":
        return str(month)
    year = str(time.astype("datetime64[Y]"))
    quarter = int(month.astype(np.int64)) % 12 // 3 + 1
    return year if unit == "year" else f"{year}-Q{quarter}"
