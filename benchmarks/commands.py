"""Commands of ``python -m``, whose errors are sentences as those of ``thalweg``."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

from thalweg.cli.command_group import errors_as_sentences


class BenchmarkCommand(TyperCommand):
    """A command that ends with a sentence and an exit code where its input is wrong."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with errors_as_sentences():
            return super().invoke(ctx)


def make_app(command: Callable[..., None]) -> typer.Typer:
    """The program whose only command this is."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",  # paragraphs are filled, examples are not
    )
    app.command(cls=BenchmarkCommand)(command)
    return app
