"""Experiments behind the commands accuracy, bench, demo and reproduce.

No package but the command line uses them.
"""
