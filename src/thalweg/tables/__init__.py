"""Tables from files and pipes, read in chunks, and encoders that make rounds of them.

>>> from thalweg import tables
>>> table = tables.read_table("stream.csv")  # doctest: +SKIP
>>> encoder = tables.Encoder(tables.Recipe(targets=("y",)))
>>> for chunk in table.chunks():  # doctest: +SKIP
...     model.run(*encoder.encode(chunk)[:2])

pyarrow is imported only when a file is opened that needs it, and the compiler only by
the encoder.
"""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.tables.chunk import Chunk as Chunk
    from thalweg.tables.encoder import EncodedRows as EncodedRows
    from thalweg.tables.encoder import Encoder as Encoder
    from thalweg.tables.encoder_state import EncoderState as EncoderState
    from thalweg.tables.file_formats import Format as Format
    from thalweg.tables.line_errors import LineErrors as LineErrors
    from thalweg.tables.recipe import Recipe as Recipe
    from thalweg.tables.table import Table as Table
    from thalweg.tables.table import read_table as read_table
    from thalweg.tables.timestamps import Timestamps as Timestamps

_MODULE_OF = {
    "Chunk": "chunk",
    "EncodedRows": "encoder",
    "Encoder": "encoder",
    "EncoderState": "encoder_state",
    "Format": "file_formats",
    "LineErrors": "line_errors",
    "Recipe": "recipe",
    "Table": "table",
    "Timestamps": "timestamps",
    "read_table": "table",
}

__all__ = sorted(_MODULE_OF)

__getattr__ = lazy_exports(__name__, _MODULE_OF)
