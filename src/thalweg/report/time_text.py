"""Times as short as they can be read: no seconds and no hours where all are zero."""

from typing import Any

import numpy as np


def short_times(times: Any) -> list[str]:
    """Times (T,) as texts of equal exactness; numbers with ten digits at most."""
    if times.dtype.kind != "M":
        return [f"{value:.10g}" for value in times.tolist()]
    for unit in ("D", "m"):
        if (times == times.astype(f"datetime64[{unit}]")).all():
            break
    else:
        unit = "s"
    texts = np.datetime_as_string(times.astype(f"datetime64[{unit}]"))
    return [str(text).replace("T", " ") for text in texts]
