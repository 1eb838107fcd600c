"""Commands that are imported when they are called: ``thalweg --help`` stays quick."""

from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from thalweg.cli.console import EXIT_INTERRUPTED
from thalweg.cli.saying import say
from thalweg.errors import ThalwegError

FOUND_IN = {"pandas": "make data, which brings the real streams too"}
"""How to install what does not come alone."""


class Command(NamedTuple):
    """A command, of the name of the module it is in and of the function there."""

    summary: str  # the first line of its docstring, without the full stop
    panel: str  # under which heading of the help it stands


class LazyGroup(TyperGroup):
    """Shows its commands by their summaries, and imports the one that is called."""

    known: ClassVar[dict[str, Command]]

    def __init__(self, **settings: Any) -> None:
        shown = {
            name: TyperCommand(name, help=one.summary, rich_help_panel=one.panel)
            for name, one in self.known.items()
        }
        super().__init__(**settings | {"commands": shown})

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else _loaded(name), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what is wrong with its input is said in one sentence."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _complain("Stopped.")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:  # whoever read our output has gone: typer's to handle
            raise
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("thalweg"):
                raise
            package = error.name.partition(".")[0]
            how = FOUND_IN.get(package, f"pip install {package}")
            _complain(f"This needs {package}. Install it: {how}.")
        except ThalwegError as error:
            _complain(str(error))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _complain(f"{where}{error.strerror or error}.")
        raise typer.Exit(2)


def _loaded(name: str) -> Any:
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",  # paragraphs are filled, examples are not
    )
    app.command(name)(getattr(import_module(f"thalweg.cli.{name}"), name))
    return typer.main.get_command(app)


def _complain(sentence: str) -> None:
    console = Console(stderr=True)
    if not console.is_terminal:
        console.width = len(sentence) + 1  # in one line, for others to search
    say(console, sentence, style="red")
