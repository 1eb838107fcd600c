"""Linear predictions in the kernels' order of sums, so that calls agree with runs."""

from thalweg.kernels.compiler.jit import kernel


@kernel
def dot(x, theta, out):
    """x·θ for every target; shapes x (n,), theta (n, k), out (k,)."""
    for j in range(theta.shape[1]):
        p = theta.dtype.type(0)
        for i in range(x.size):
            p += x[i] * theta[i, j]
        out[j] = p


@kernel
def dot_rows(x, theta, out):
    """``dot`` of every row; shapes x (T, n), theta (n, k), out (T, k)."""
    for t in range(len(x)):
        for j in range(theta.shape[1]):
            p = theta.dtype.type(0)
            for i in range(theta.shape[0]):
                p += x[t, i] * theta[i, j]
            out[t, j] = p
