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
    from thalweg.tables.cell_formats import FormatSettings as FormatSettings
    from thalweg.tables.chunk import Chunk as Chunk
    from thalweg.tables.encoder import EncodedRows as EncodedRows
    from thalweg.tables.encoder import Encoder as Encoder
    from thalweg.tables.encoder_state import EncoderState as EncoderState
    from thalweg.tables.malformed_rows import LineErrors as LineErrors
    from thalweg.tables.recipe import Recipe as Recipe
    from thalweg.tables.scan import Scan as Scan
    from thalweg.tables.scan import scan_table as scan_table
    from thalweg.tables.scanned_columns import NO_TIME as NO_TIME
    from thalweg.tables.scanned_columns import ScanOptions as ScanOptions
    from thalweg.tables.sources import (
        spool_standard_input as spool_standard_input,
    )
    from thalweg.tables.table import Table as Table
    from thalweg.tables.table import read_table as read_table
    from thalweg.tables.timestamps import Timestamps as Timestamps

__getattr__, __all__ = lazy_exports(__name__)
