"""A group of commands that are imported on first use: ``thalweg --help`` is quick."""

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from thalweg.errors import ThalwegError
from thalweg.report.console import EXIT_INTERRUPTED, print_sentence
from thalweg.tables.optional_packages import EXTRAS

MIN_COLUMNS = 20
"""A narrower terminal shows no word whole; the usual 80 columns are better."""
SUBSTITUTES = {
    "•": "*", "·": "*", "×": "x", "−": "-", "–": "-", "—": "-", "…": "...", "±": "+/-",
    "≤": "<=", "≥": ">=", "≈": "~", "→": "->", "√": "sqrt", "²": "^2", "⁶": "^6",
    "³": "^3", "‖": "|", "’": "'", "“": '"', "”": '"', "α": "alpha", "β": "beta",
    "γ": "gamma", "ε": "epsilon", "η": "eta", "θ": "theta", "λ": "lambda", "μ": "mu",
    "µ": "u",
}  # fmt: skip
"""What stands for characters of ours in an encoding that lacks them, such as ASCII."""


def prepare_streams() -> None:
    """Let results be written in any encoding and at any width."""
    codecs.register_error("thalweg", _substitute)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where it is closed
            stream.reconfigure(errors="thalweg")
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) < MIN_COLUMNS:
        del os.environ["COLUMNS"]


def _substitute(error: UnicodeError) -> tuple[str | bytes, int]:
    """What stands for characters that cannot be encoded; names of users are escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text, end = error.object, error.start + 1
    if text[error.start] in SUBSTITUTES:
        return SUBSTITUTES[text[error.start]], end
    first = UnicodeEncodeError(error.encoding, text, error.start, end, error.reason)
    return codecs.backslashreplace_errors(first)


VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What OpenBLAS and MKL read when they are loaded, with NumPy and SciPy."""


def use_one_thread() -> None:
    """Let linear algebra run in one thread, unless the user has said how many.

    Its other threads wait actively for the next product, which costs more processor
    time than the product: of ``thalweg compare`` two thirds on two cores, and more on
    more. Has no effect, and changes nothing, once NumPy is loaded.
    """
    if "numpy" not in sys.modules:
        for name in VARIABLES:
            os.environ.setdefault(name, "1")


MEMORY_ADVICE = (
    "Use fewer columns (--features), lags or categories, or a shorter delay."
)


class CommandInfo(NamedTuple):
    """What the help shows of a command, whose module and function have its name."""

    summary: str  # the first line of its docstring, without the full stop
    panel: str  # the heading of the help under which it stands


class LazyGroup(TyperGroup):
    """Shows the summaries of its commands, and imports only the one that is called."""

    command_infos: ClassVar[dict[str, CommandInfo]]

    def __init__(self, **settings: Any) -> None:
        placeholders = {
            name: TyperCommand(name, help=info.summary, rich_help_panel=info.panel)
            for name, info in self.command_infos.items()
        }
        super().__init__(**settings | {"commands": placeholders})

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run the program, whatever its standard streams can take."""
        prepare_streams()
        return super().main(*args, **settings)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        if name is not None:
            use_one_thread()
        return name, None if name is None else _load_command(name), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error in its input becomes one sentence."""
        with errors_as_sentences():
            return super().invoke(ctx)


@contextmanager
def errors_as_sentences() -> Iterator[None]:
    """Ends the command with a sentence and an exit code where its input is wrong."""
    try:
        yield
        return
    except KeyboardInterrupt:
        _print_error("Stopped.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except BrokenPipeError:  # the reader of our output has gone: typer handles it
        raise
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("thalweg"):
            raise
        package = error.name.partition(".")[0]
        extra = EXTRAS.get(package)
        wanted = f"'thalweg[{extra}]'" if extra else package
        _print_error(f"This needs {package}. Install it: pip install {wanted}.")
    except ThalwegError as error:
        _print_error(str(error))
    except MemoryError as error:
        _print_error(f"There is not enough memory{_reason(error)}. {MEMORY_ADVICE}")
    except OSError as error:
        prefix = f"{error.filename}: " if error.filename else ""
        _print_error(f"{prefix}{error.strerror or error}.")
    raise typer.Exit(2)


def _load_command(name: str) -> Any:
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",  # paragraphs are filled, examples are not
    )
    app.command(name)(getattr(import_module(f"thalweg.cli.{name}"), name))
    return typer.main.get_command(app)


def _reason(error: Exception) -> str:
    text = str(error).rstrip(".")
    return f": {text}" if text else ""


def _print_error(sentence: str) -> None:
    console = Console(stderr=True)
    if not console.is_terminal:
        console.width = len(sentence) + 1  # one line, which can be searched for
    print_sentence(console, sentence, style="red")
