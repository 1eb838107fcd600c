"""What kernels are made with: numba behind one door, SIMD vectors, packed buffers.

jit                the decorators, and numba's switches and private interfaces
inner_compiler     compilation of functions that only kernels call
kernel_cache       machine code on disk and in a wheel, by a digest of its sources
cache_folder       where on disk: a folder that this user alone can write to
compilation_lock   processes that start together compile each kernel once
simd               vectors of eight float64 numbers
layout             one declaration of all arrays packed into a buffer
record             the fields of a buffer as kernels see them
"""
