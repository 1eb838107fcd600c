"""The Tracker's kernels: one round of experts, rules and bookkeeping.

tracker_layout       every array of the state, the workspace and the buffer
entry                the one kernel that Python calls
round                predict, then learn: puts the following together
ridge_experts        60 ridge regressions with 10 forgetting factors
autoregressive       10 more, with the last three labels as features
distributed_lag      5 more, with the features of the round before as well
solve                L D Lᵀ factors of all of one kind at once
clipping             limits of predictions, also after an outlier
adashare             exponential weights with fixed share, with a proven bound
boa, mlpoly, softmax,
cauchy               other rules that weigh the experts
mixture              from predictions of experts to one forecast
external_forecast    a column of x that is a forecast of y, pooled with the mixture
curvature            a correction of the committee, learnt on random hinges
seasonality          the past rounds, and the season of the labels
prediction_interval  quantiles of recent errors
pending_labels       rounds whose labels come late
restart              a new start after an extreme shock
replay               a fresh state plays the last rounds, and takes over if better
diagnostics          weights, slope, memory and interval, recorded on request
"""
