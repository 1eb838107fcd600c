"""Tables from files and pipes, in chunks, and recipes that make rounds of them.

>>> from thalweg import tables
>>> table = tables.read("stream.csv")  # doctest: +SKIP
>>> encoder = tables.Encoder(tables.Recipe(targets=("y",)))
>>> for chunk in table.chunks():  # doctest: +SKIP
...     model.run(*encoder.encode(chunk)[:2])

pyarrow is imported only when a file is opened that needs it.
"""

from thalweg.tables.chunk import Chunk as Chunk
from thalweg.tables.encoder import Encoded as Encoded
from thalweg.tables.encoder import Encoder as Encoder
from thalweg.tables.recipe import Recipe as Recipe
from thalweg.tables.table import Format as Format
from thalweg.tables.table import Table as Table
from thalweg.tables.table import read as read

__all__ = ["Chunk", "Encoded", "Encoder", "Format", "Recipe", "Table", "read"]
