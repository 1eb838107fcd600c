"""The command line: one module per command, which holds its options and its help.

The work of a command is imported when the command runs, not when its help is shown.
"""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.cli.user_calls import CALLS as CALLS
    from thalweg.cli.user_calls import compiled_folder as compiled_folder
    from thalweg.cli.user_calls import make_calls as make_calls

__getattr__, __all__ = lazy_exports(__name__)
