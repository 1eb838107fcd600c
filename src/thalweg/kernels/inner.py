"""How functions that only kernels call are compiled.

The compiler optimises a kernel together with all that it calls, and does so again for
whoever calls that: what lies four calls deep is compiled four times over. So what is
called in one place is put there line by line before anything is compiled (``step``),
unless it is long; all else is compiled once, for kernels alone (``inner``), without the
code that takes arguments from Python, and is not kept on disk.

Neither counts references to arrays: a kernel's arrays are held by its caller. To Python
an ``inner`` is the plain function it was.
"""

from numba import njit
from numba.extending import register_jitable

step = njit(inline="always", _nrt=False)
inner = register_jitable(no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
