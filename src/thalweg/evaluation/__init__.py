"""Learners run, measured and compared on any stream."""

__all__: list[str] = []
