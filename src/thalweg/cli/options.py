"""Options that several commands share, and what they mean."""

import csv
import inspect
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg import runs
from thalweg.errors import InvalidParameterError, StorageError
from thalweg.imputer import POLICIES, POLICY_HELP, RUN_POLICY
from thalweg.runs.settings import OutputOptions
from thalweg.tables import LineErrors
from thalweg.tables.file_formats import FORMATS
from thalweg.tables.recipe import CODE_POLICIES as CODE_POLICIES
from thalweg.tables.sources import DECOMPRESSORS
from thalweg.tables.time_parts import joined_name

COLUMNS, OUTPUT = "Columns", "Output"
DECIMAL_MARKS = {"point": ".", "comma": ",", ".": ".", ",": ","}
"""What --decimal takes."""
MODEL_FILES = ("model.thalweg", "models.db")
"""Models that a command leaves in its folder."""
NONE, AUTO = "none", "auto"
"""What options take instead of a name: no such thing, or what the rows show."""


def _titles(is_text: bool) -> str:
    """The titles of some formats."""
    found = (one.title for one in FORMATS.values() if one.is_text == is_text)
    return ", ".join(found)


Source = Annotated[
    str,
    typer.Argument(
        help=f"{_titles(is_text=True)} (also {', '.join(DECOMPRESSORS)}), "
        f"{_titles(is_text=False)}; '-' is standard input, CSV or JSON lines unless "
        "--format says otherwise.",
        metavar="SOURCE",
    ),
]
Target = Annotated[
    list[str] | None,
    typer.Option(
        "--target", "-t", help="Column to predict. May be repeated.",
        rich_help_panel=COLUMNS, metavar="NAME",
    ),
]  # fmt: skip
Features = Annotated[
    str | None,
    typer.Option(
        help="Columns to predict from, such as a,b,c; all other columns, if not given; "
        "none: the past and the times alone.",
        rich_help_panel=COLUMNS, metavar="NAMES",
    ),
]  # fmt: skip
Text = Annotated[
    str | None,
    typer.Option(
        help="Columns that are text although their first row is a number.",
        rich_help_panel=COLUMNS, metavar="NAMES",
    ),
]  # fmt: skip
Time = Annotated[
    str | None,
    typer.Option(
        help="Column of times, which must not decrease; the first column of times, if "
        "not given, or none. Several are joined: Date,Time or Year,Month,Day,Hour. "
        "Times with offsets from UTC (all or none of them) are compared as moments.",
        rich_help_panel=COLUMNS, metavar="NAME",
    ),
]  # fmt: skip
Calendar = Annotated[
    str | None,
    typer.Option(
        help="Column of times from which hour, weekday and season become features, in "
        "local time: as it is written, or in the zone of an Arrow column. If not "
        "given, the time of year where rows are days; or none.",
        rich_help_panel=COLUMNS, metavar="NAME",
    ),
]  # fmt: skip
Lags = Annotated[
    str | None,
    typer.Option(
        help="Past values of the targets as features, in rows back, such as 1,2,24. "
        "If not given, a forecast by their own past and their mean at the same hour, "
        "weekday or month; or none.",
        rich_help_panel=COLUMNS, metavar="ROWS",
    ),
]  # fmt: skip
Delay = Annotated[
    int | None,
    typer.Option(
        help="Rows until a target is known: 0 if it is known at once.", min=0,
        rich_help_panel=COLUMNS, metavar="ROWS",
    ),
]  # fmt: skip
Missing = Annotated[
    str | None,
    typer.Option(
        help=f"{POLICY_HELP} If not given: {RUN_POLICY}.",
        rich_help_panel=COLUMNS, metavar="POLICY",
    ),
]  # fmt: skip
Categories = Annotated[
    int | None,
    typer.Option(
        help="Levels of a text column that are one-hot encoded (8).", min=1,
        rich_help_panel=COLUMNS, metavar="NUMBER",
    ),
]  # fmt: skip
Classify = Annotated[
    bool | None,
    typer.Option(
        "--classify/--regress",
        help="Predict classes or numbers. If not given, a target of text is "
        "classified, and one whose first rows hold 0 and 1 only.",
        rich_help_panel=COLUMNS,
        show_default=False,
    ),
]
Codes = Annotated[
    str | None,
    typer.Option(
        help="Numbers such as -999 and 9999 that lie far outside of all others of "
        "their column: missing (the default) or keep.",
        rich_help_panel=COLUMNS, metavar="POLICY",
    ),
]  # fmt: skip
Format = Annotated[
    str | None,
    typer.Option(
        help=f"{', '.join(FORMATS)}; by the name of SOURCE and by its content, if not "
        "given.",
        rich_help_panel=COLUMNS, metavar="FORMAT",
    ),
]  # fmt: skip
Key = Annotated[
    str | None,
    typer.Option(
        help="Columns that tell several series in one file apart, such as store,item: "
        "each has a model of its own. If not given, they are looked for where times "
        "repeat or go back; none: all rows are one series.",
        rich_help_panel=COLUMNS, metavar="NAMES",
    ),
]  # fmt: skip
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of text, such as latin-1. If not given: UTF-8, UTF-16 with a "
        "mark, or Windows-1252 where it is not UTF-8.",
        rich_help_panel=COLUMNS, metavar="NAME",
    ),
]  # fmt: skip
Header = Annotated[
    int | None,
    typer.Option(
        help="Line of CSV, or row of a workbook, that names the columns. If not given: "
        "the first one that is no title.", min=1,
        rich_help_panel=COLUMNS, metavar="LINE",
    ),
]  # fmt: skip
OnError = Annotated[
    str | None,
    typer.Option(
        help="What to do about a malformed line: stop (the default for files), or "
        "skip: report it, count it and leave it out (the default for pipes).",
        rich_help_panel=COLUMNS, metavar="ACTION",
    ),
]  # fmt: skip
DayFirst = Annotated[
    bool | None,
    typer.Option(
        "--dayfirst/--monthfirst", show_default=False,
        help="Whether the day or the month comes first in 01/02/2024; found out from "
        "the first rows, if not given.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal mark: point or comma. The other one, blanks and apostrophes "
        "then separate thousands. Found out from the first rows, if not given.",
        rich_help_panel=COLUMNS, metavar="MARK",
    ),
]  # fmt: skip
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object and nothing else.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
Report = Annotated[
    bool,
    typer.Option(
        " /--no-report",
        help="Write no HTML page.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Figures = Annotated[
    bool,
    typer.Option(
        "--figures", help="Save every chart as PNG, SVG and PDF as well.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip


@dataclass(frozen=True)
class RecipeOptions:
    """Which columns become what."""

    target: Target = None
    features: Features = None
    text: Text = None
    time: Time = None
    calendar: Calendar = None
    lags: Lags = None
    delay: Delay = None
    missing: Missing = None
    codes: Codes = None
    categories: Categories = None
    dayfirst: DayFirst = None
    decimal: Decimal = None

    def recipe(self) -> dict[str, Any]:
        """The settings of a Recipe that the command line gives, by name."""
        check_choice("--missing", self.missing, POLICIES)
        check_choice("--codes", self.codes, CODE_POLICIES)
        features, text, lags = self.features, self.text, self.lags
        settings = {
            "targets": tuple(dict.fromkeys(self.target)) if self.target else None,
            "features": names_or_none("--features", features) if features else features,
            "text": split_names("--text", text) if text else text,
            "lags": parse_lags(lags) if lags else lags,
            "time": time_name(self.time),
            "calendar": self.calendar,
            "delay": self.delay,
            "missing": self.missing,
            "codes": self.codes,
            "categories": self.categories,
            "dayfirst": self.dayfirst,
            "decimal": decimal_mark(self.decimal),
        }
        given = {key: value for key, value in settings.items() if value is not None}
        unwanted = [key for key in ("time", "calendar") if given.get(key) == NONE]
        return given | dict.fromkeys(unwanted)


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is read."""

    format: Format = None
    encoding: Encoding = None
    header: Header = None


@dataclass(frozen=True)
class ResultOptions:
    """What is written and printed besides the tables."""

    report: Report = True
    figures: Figures = False
    json: Json = False

    def outputs(self) -> OutputOptions:
        """The same for the work of a command."""
        return OutputOptions(self.report, self.figures, self.json)


GROUPS = (RecipeOptions, ReadingOptions, ResultOptions)


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups as parameters of its own.

    Typer makes an option of every parameter; a parameter that is a group of them stands
    for all its fields, in their order.
    """
    signature = inspect.signature(command)
    groups = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if parameter.annotation in GROUPS
    }
    expanded: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        own = inspect.signature(groups[name]).parameters if name in groups else {}
        expanded += own.values() if name in groups else [parameter]

    @wraps(command)
    def with_fields(**given: Any) -> None:
        for name, group in groups.items():
            fields = inspect.signature(group).parameters
            given[name] = group(**{field: given.pop(field) for field in fields})
        command(**given)

    parameters = [one.replace(kind=one.KEYWORD_ONLY) for one in expanded]
    with_fields.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters
    )
    with_fields.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_fields


def time_columns(time: str | None) -> tuple[str, ...]:
    """The columns that --time names, if it names several; they are joined."""
    names = () if time is None else split_names("--time", time)
    return names if len(names) > 1 else ()


def time_name(time: str | None) -> str | None:
    """The column of times that --time names, or the one that several are joined to."""
    names = () if time is None else split_names("--time", time)
    return joined_name(names) if names else None


def parse_lags(text: str) -> Any:
    """The numbers in ``1,2,24``; ``none`` says that there are none."""
    words: dict[str, Any] = {NONE: (), AUTO: AUTO}
    return words[text] if text in words else split_whole_numbers("--lags", text)


def decimal_mark(decimal: str | None) -> str | None:
    """The decimal mark that --decimal names, if it is given."""
    check_choice("--decimal", decimal, tuple(DECIMAL_MARKS))
    return None if decimal is None else DECIMAL_MARKS[decimal]


def check_resume(
    command: str, source: str, target: list[str] | None, resume: Path | None
) -> None:
    """Raise unless there is a file to resume; the message says how to start."""
    if resume is None or resume.is_file():
        return
    if resume.is_dir():
        found = next((f for n in MODEL_FILES if (f := resume / n).is_file()), None)
        if found is not None:
            raise StorageError(
                f"{resume} is a folder. Its model is a file: --resume {found}."
            )
    elif resume.exists():
        return  # What is wrong with it, its reader says.
    names = "".join(f" -t {shlex.quote(name)}" for name in target or ["NAME"])
    looked = resume / MODEL_FILES[0] if resume.is_dir() else resume
    raise StorageError(
        f"There is no model {looked} to resume. Start without --resume: thalweg "
        f"{command} {shlex.quote(source)}{names}."
    )


def target_task(classify: bool | None) -> Any:
    """What is to be predicted: classes, numbers, or what the first rows suggest."""
    return "auto" if classify is None else "classify" if classify else "regress"


def open_source(
    given: str, time: str | None, reading: "ReadingOptions", on_error: str | None = None
) -> "runs.Source":
    """The table that a command reads, and how it is read."""
    check_choice("--on-error", on_error, ("stop", "skip"))
    is_pipe = given == "-" or (Path(given).exists() and not Path(given).is_file())
    skips = is_pipe if on_error is None else on_error == "skip"
    settings = {
        "format": table_format(reading.format),
        "encoding": reading.encoding,
        "header": reading.header,
        "errors": LineErrors(_print_remark) if skips else None,
    }
    return runs.Source(given, settings, time_columns(time))


def _print_remark(sentence: str) -> None:
    typer.echo(sentence, err=True)


def table_format(format: str | None) -> Any:
    """The format, after a check that it exists."""
    check_choice("--format", format, (*FORMATS,))
    return format


def check_choice(option: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Raise unless the value of an option is one of the choices, or not given."""
    if value is not None and value not in choices:
        *others, last = choices
        raise InvalidParameterError(
            f"{option} takes {', '.join(others)} or {last}. Got {value!r} instead."
        )


def split_key(text: str | None) -> tuple[str, ...] | None:
    """The columns of a key; (): there is to be none, None: they are to be found."""
    if text is None:
        return None
    return names_or_none("--key", text)


def names_or_none(option: str, text: str) -> tuple[str, ...]:
    """The names in ``a,b,c``; none at all of ``none``."""
    return () if text.strip().lower() == NONE else split_names(option, text)


def split_season(text: str | None) -> tuple[int, ...] | None:
    """One or two seasons, in rows."""
    if text is None:
        return None
    periods = split_whole_numbers("--season", text)
    if len(periods) > 2:
        raise InvalidParameterError(
            f"--season takes one number of rows or two, such as 24,168. Got {text!r} "
            f"instead."
        )
    return periods


def check_horizon(horizon: int) -> None:
    """Raise unless there is something to forecast."""
    if horizon < 1:
        raise InvalidParameterError(
            f"--horizon takes the number of rows to forecast, from 1 on. Got {horizon} "
            f"instead."
        )


def check_interval(interval: float | None) -> float | None:
    """The share of values that bands are to hold, if it is one."""
    if interval is not None and not 0 < interval < 1:
        raise InvalidParameterError(
            f"--interval takes a share between 0 and 1, such as 0.9. Got {interval} "
            f"instead."
        )
    return interval


def split_names(option: str, text: str) -> tuple[str, ...]:
    """The names in ``a,b,c``; one that holds a comma stands in quotation marks."""
    names = next(csv.reader([text]), [])
    return _check_distinct(option, tuple(name.strip() for name in names))


def split_whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """The numbers in ``1,2,24``."""
    numbers = text.split(",")
    if all(number.strip().isdecimal() and int(number) > 0 for number in numbers):
        return _check_distinct(option, tuple(map(int, numbers)))
    raise InvalidParameterError(
        f"{option} takes whole numbers from 1 on, such as 1,2,24. Got {text!r} instead."
    )


def _check_distinct(option: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    for value in values:
        if values.count(value) > 1:
            raise InvalidParameterError(f"{option} names {value} more than once.")
    return values
