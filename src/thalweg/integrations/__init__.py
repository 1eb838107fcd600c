"""Where thalweg meets the outside: the mutable shell, and adapters to libraries."""

from thalweg.integrations.online import Online as Online

__all__ = ["Online"]
