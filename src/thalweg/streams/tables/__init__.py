"""Tables from files and pipes, in chunks, and recipes that make rounds of them.

>>> from thalweg.streams import tables
>>> table = tables.read("stream.csv")  # doctest: +SKIP
>>> encoder = tables.Encoder(tables.Recipe(targets=("y",)))
>>> for chunk in table.chunks():  # doctest: +SKIP
...     model.run(*encoder.encode(chunk)[:2])

pyarrow is imported only when a file is opened that needs it.
"""

from thalweg.streams.tables.chunk import Chunk as Chunk
from thalweg.streams.tables.encoder import Encoded as Encoded
from thalweg.streams.tables.encoder import Encoder as Encoder
from thalweg.streams.tables.recipe import Recipe as Recipe
from thalweg.streams.tables.table import Format as Format
from thalweg.streams.tables.table import Table as Table
from thalweg.streams.tables.table import read as read

__all__ = ["Chunk", "Encoded", "Encoder", "Format", "Recipe", "Table", "read"]
