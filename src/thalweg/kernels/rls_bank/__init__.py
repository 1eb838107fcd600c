"""A bank of recursive least squares: many settings on one stream, and their mixture.

    bank                  a chunk of rounds by every expert, then the mixture
    lane_state            the states of eight experts, one in each SIMD lane
    lane_update           their UD factors
    lane_windup           their covariance cap
    exponential_weights   the weights

docs/decisions/compiled-kernels.md says why.
"""
