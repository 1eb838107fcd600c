"""What CSV and JSON lines have in common: blocks of records, one chunk a block."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import chain

from thalweg.tables.chunk import Chunk
from thalweg.tables.records import Block, Complete, Pieces, blocks
from thalweg.tables.sources import Source


class TextReader(ABC):
    """Text that is read block by block. Its first record names the columns."""

    columns: tuple[str, ...]
    rows = None  # nobody knows before the end

    def __init__(self, source: Source, pieces: Pieces, complete: Complete) -> None:
        self.fraction = source.fraction
        self.close = source.close
        parts = blocks(pieces, complete)
        self._blocks = chain([self._open(next(parts))], parts)

    @abstractmethod
    def _open(self, first: Block) -> Block:
        """Set ``columns`` from the first block, and return what is left of it."""

    @abstractmethod
    def _chunk(self, block: Block, first_row: int) -> Chunk | None:
        """The rows of a block; None if it has none."""

    def chunks(self) -> Iterator[Chunk]:
        """The rows in the order they arrive."""
        row = 0
        for block in self._blocks:
            chunk = self._chunk(block, row)
            if chunk is not None:
                yield chunk
                row += len(chunk)
