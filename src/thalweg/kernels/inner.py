"""How functions that only kernels call are compiled.

The compiler optimises a kernel together with all that it calls, and does so again for
whoever calls that: what lies four calls deep is compiled four times over. So steps of a
kernel that stand in one place are put there line by line before anything is compiled
(``step``); and what is called in several places is compiled once for kernels alone
(``inner``), without the code that takes arguments from Python, and is not kept on disk.
To Python both are what they were: an ``inner`` is the plain function.
"""

from numba import njit
from numba.extending import register_jitable

step = njit(inline="always")
inner = register_jitable(no_cpython_wrapper=True, no_cfunc_wrapper=True)
