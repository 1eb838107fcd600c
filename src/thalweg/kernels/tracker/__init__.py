"""The Tracker's kernels: one round of experts, rules and bookkeeping.

tracker_layout       every array of the state, the workspace and the buffer
entry                the one kernel that Python calls
round                predict, then learn: puts the following together
ridge_experts        70 ridge regressions with 10 forgetting factors
solve                L D Lᵀ factors of all of them at once
adashare             exponential weights with fixed share, with a proven bound
boa, mlpoly, softmax other rules that weigh the experts
mixture              from predictions of experts to one forecast
seasonality          the past rounds, and the season of the labels
prediction_interval  quantiles of recent errors
pending_labels       rounds between their forecast and a label that comes late
restart              a new start after a shock out of all proportion
replay               a fresh state plays the last rounds, and takes over if better
diagnostics          weights, slope, memory and interval, recorded on request
"""
