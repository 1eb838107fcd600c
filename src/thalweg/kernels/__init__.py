"""Compiled inner loops (numba): arrays and numbers in, arrays updated in place.

jit, simd, layout, call_header   the compiler, SIMD vectors, packed buffers, headers
ud_factor, windup, directional   UD factorisation, covariance windup, forgetting
rls, rls_live                    recursive least squares on whole arrays, and by calls
rls_blocked, rls_bank            the same for large n, and for many settings at once
newton, gradient, losses         other learners on losses of a linear prediction
tracker                          the Tracker
logistic_tracker, logistic_live  its counterpart for labels 0 and 1, and by calls
lin_ucb, adaptive_lin_ucb, ucb   bandits: choices of actions and what they teach
error_intervals                  prediction intervals from the last errors of a model
hindsight                        comparators in hindsight
roofline_probes, ridge_regression, predict   measurements, a baseline, predictions
"""

from thalweg.kernels.jit import announce_compilation, place_cache

place_cache()
announce_compilation()
