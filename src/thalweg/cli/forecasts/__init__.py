"""What ``thalweg forecast`` needs: the scan of a file, the forecasts, their files."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.cli.forecasts.file_scan import NO_TIME as NO_TIME
    from thalweg.cli.forecasts.file_scan import ColumnOptions as ColumnOptions
    from thalweg.cli.forecasts.forecast_command import (
        forecast_after_run as forecast_after_run,
    )
    from thalweg.cli.forecasts.forecast_command import forecast_table as forecast_table
    from thalweg.cli.forecasts.forecast_command import open_source as open_source
    from thalweg.cli.forecasts.forecast_plan import ForecastOptions as ForecastOptions
    from thalweg.cli.forecasts.key_advice import advise_on_key as advise_on_key
    from thalweg.cli.forecasts.key_detection import detect_key as detect_key
    from thalweg.cli.forecasts.key_detection import key_sentence as key_sentence
    from thalweg.cli.forecasts.measured_key import (
        refuse_measured_key as refuse_measured_key,
    )
    from thalweg.cli.forecasts.newest_first import OrderOptions as OrderOptions
    from thalweg.cli.forecasts.newest_first import (
        newest_first_time as newest_first_time,
    )
    from thalweg.cli.forecasts.standard_input import (
        spool_standard_input as spool_standard_input,
    )
    from thalweg.tables.format_detection import FormatSettings as FormatSettings

_MODULE_OF = {
    "ColumnOptions": "file_scan",
    "ForecastOptions": "forecast_plan",
    "FormatSettings": "file_scan",
    "NO_TIME": "file_scan",
    "OrderOptions": "newest_first",
    "detect_key": "key_detection",
    "advise_on_key": "key_advice",
    "key_sentence": "key_detection",
    "forecast_after_run": "forecast_command",
    "forecast_table": "forecast_command",
    "newest_first_time": "newest_first",
    "refuse_measured_key": "measured_key",
    "open_source": "forecast_command",
    "spool_standard_input": "standard_input",
}

__all__ = sorted(_MODULE_OF)

# `thalweg forecast --help` needs no models.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
