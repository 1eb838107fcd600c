"""Tables from files and pipes, read in chunks, and encoders that make rounds of them.

>>> from thalweg import tables
>>> table = tables.read_table("stream.csv")  # doctest: +SKIP
>>> encoder = tables.Encoder(tables.Recipe(targets=("y",)))
>>> for chunk in table.chunks():  # doctest: +SKIP
...     model.run(*encoder.encode(chunk)[:2])

pyarrow is imported only when a file is opened that needs it.
"""

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

__all__ = [
    "Chunk",
    "EncodedRows",
    "Encoder",
    "EncoderState",
    "Format",
    "LineErrors",
    "Recipe",
    "Table",
    "Timestamps",
    "read_table",
]
