"""Recursive least squares with many settings on one stream, and their mixture.

    rounds      a chunk of rounds by every expert, then the mixture round by round
    choice      which experts are played side by side: whichever is faster
    together    eight experts side by side, one in each lane of a vector
    update      their factors: kernels/ud_factor.py in lanes
    hold        what keeps these from vanishing: kernels/windup.py in lanes
    group       where eight experts keep what they remember
    mixture     the weights

Experts that are not side by side are played by kernels/rls.py, one after the other.
Either way the same operations are done on the same numbers in the same order: results
agree to the last bit, and the choice is free. docs/decisions/007-the-bank.md
"""
