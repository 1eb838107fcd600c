"""Recursive least squares over recorded rounds, many of them at a time.

    blocked            blocks where they are safe, ``kernels/rls.py`` where they are not
    block_limits       when nothing that acts round by round could act within a block
    information_form   a block without a retained ridge, by Gaussian elimination
    covariance_form    a block with one, as rows that are still to enter the covariance
    triangular         matrix products, and from the packed factor to either form

docs/derivations/blocked-rls.md has the mathematics.
"""
