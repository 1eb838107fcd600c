"""The command line: one module per command, which holds its options and its help.

The work of a command is imported when the command runs, not when its help is shown.
"""
