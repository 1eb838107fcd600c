"""Compiled inner loops (numba): arrays and numbers in, arrays updated in place.

compiler, call_header            compilation, SIMD vectors, packed buffers; headers
ud_factor, windup, directional   UD factorisation, covariance windup, forgetting
cholesky                         factors of small matrices
rls, rls_live                    recursive least squares on whole arrays, and by calls
rls_blocked, rls_bank            the same for large n, and for many settings at once
newton, gradient, losses         other learners on losses of a linear prediction
tracker, forecaster              the Tracker, and the Forecaster (several steps ahead)
change_detector                  alarms of changes in a stream
exponential_smoothing, forecast_pool, forecast_weights   simple forecasts, their pool
logistic_tracker, logistic_live  its counterpart for labels 0 and 1, and by calls
class_frequencies, tempered_mixture   probabilities of classes, and their mixture
lin_ucb, adaptive_lin_ucb, ucb   bandits: choices of actions, and learning from rewards
error_intervals                  prediction intervals from the last errors of a model
hindsight                        comparators in hindsight
predict                          predictions
"""

from thalweg.kernels.compiler.jit import announce_compilation

announce_compilation()
