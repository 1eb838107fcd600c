"""Recursive least squares over recorded rounds, many of them at a time.

    rounds        blocks where they are safe, ``kernels/rls.py`` where they are not
    safe          when nothing that acts round by round could act within a block
    plain         a block without a ridge to keep, in information form
    eliminate     its inner loop
    kept          a block with one, in covariance form
    lazy          the covariance, with the rows that are still to enter it
    accumulate    its inner loops
    triangles     from the packed factor to either form

docs/derivations/blocks.md has the mathematics.
"""
