"""Failures of the system at any call: the calls are found out, not listed.

A profile function sees each call of a C function before it is made, and may raise
instead. Which calls there are follows from the code as it is: a test goes through them
by number until one number is not reached any more.
"""

import errno
import itertools
import os
import sqlite3
import sys

ERRORS = (errno.ENOSPC, errno.EIO, errno.EINTR, errno.EROFS)
PURE = {
    "fspath", "getpid", "strerror", "urandom", "get_terminal_size", "getcwd",
    "_path_normpath", "_path_splitroot",
}  # fmt: skip
"""Functions of ``os`` that ask nothing of a disk."""
FILE_TYPES = {
    "FileIO", "BufferedReader", "BufferedWriter", "BufferedRandom", "TextIOWrapper",
}  # fmt: skip
KILLED = 9
"""The exit code of a process that ended at a call."""


class Killed(BaseException):
    """Stands for whatever ends a call from outside, such as Ctrl-C."""


class FaultInjection:
    """Lets the call of this number fail: with an error, by ``Killed`` or by the end.

    ``files`` are parts of paths: only calls from functions in such files count.
    """

    def __init__(self, at, fault, files=("/thalweg/",)):
        self.at, self.fault, self.files = at, fault, files
        self.calls = []  # names of the calls so far

    @property
    def was_reached(self):
        return len(self.calls) > self.at

    def __enter__(self):
        sys.setprofile(self._look)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)

    def _look(self, frame, event, function):
        if event == "c_call" and is_system_call(function) and self._counts(frame):
            self.calls.append(function.__qualname__)
            if len(self.calls) == self.at + 1:
                self._fail(function)

    def _counts(self, frame):
        while frame is not None:
            if any(part in frame.f_code.co_filename for part in self.files):
                return True
            frame = frame.f_back
        return False

    def _fail(self, function):
        if self.fault == "exit":
            os._exit(KILLED)
        if self.fault == "kill":
            raise Killed
        if is_of_type(function, "sqlite3"):
            raise sqlite3.OperationalError("disk I/O error")
        raise OSError(self.fault, os.strerror(self.fault))


def is_system_call(function):
    """Whether a C function asks the system for something that a disk may refuse."""
    module = getattr(function, "__module__", None)
    if module == "posix":
        return function.__name__ not in PURE
    if is_of_type(function, "_io"):
        return type(function.__self__).__name__ in FILE_TYPES
    is_open = module in ("io", "_io") and function.__name__ == "open"
    return module == "fcntl" or is_open or is_of_type(function, "sqlite3")


def is_of_type(function, module):
    """Whether it is a method of a type of this module."""
    owner = getattr(function, "__self__", None)
    return type(owner).__module__ == module


def each_fault(faults):
    """(number of the call, fault), without an end; faults take turns."""
    return zip(itertools.count(), itertools.cycle(faults))


def exit_code_of(function):
    """The exit code of a forked process that calls the function: 0 if it returns."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
