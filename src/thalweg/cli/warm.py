"""``thalweg warm``: compile all kernels now, rather than at their first use."""

from typing import Annotated

import typer

from thalweg import cli


def warm(
    native: Annotated[
        bool,
        typer.Option(
            "--native",
            help="Compile for this processor also what came compiled with thalweg, for "
            "processors of its kind.",
        ),
    ] = False,
) -> None:
    """Compile all kernels on all processors, so that later processes start at once.

    Kernels that are compiled already take no time. Where they are kept is printed: in
    NUMBA_CACHE_DIR, beside the code, in the user's cache or the temporary folder.
    """
    for number, made in enumerate(cli.make_calls(native), start=1):
        typer.echo(f"{number:2} of {len(cli.CALLS)} {made.seconds:6.1f} s  {made.name}")
    folder = cli.compiled_folder()
    typer.echo(f"Compiled kernels are in {folder}." if folder else "No folder is safe.")
