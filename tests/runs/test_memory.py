"""How much memory there is, where the system does not list it."""

import os

from thalweg.runs import memory


def test_without_a_list_of_memory_all_that_is_built_in_counts(monkeypatch):
    def missing(self, encoding):
        raise FileNotFoundError

    monkeypatch.setattr(memory.Path, "read_text", missing)
    sizes = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    assert memory._available_bytes() == 4_096_000
