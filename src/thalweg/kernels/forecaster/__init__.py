"""The Forecaster's kernels: several steps ahead, with regressions of every step.

forecaster_layout      every array of the state and of the workspace
forecaster_round       learn a value, then forecast: puts the following together
step_features          last values, seasons before, profiles
step_regressions       ridge regressions of a step, with memories and outlier weights
nonlinear_features     context, waves, products and hinges
nonlinear_regression   a regression on these, shared by neighbouring steps
recursive_forecast     the first step's regressions, again and again
analogues              what followed origins whose recent course was like today's
step_mixture           weights of all candidates for a step
step_pool              the mixture, pooled with forecasts that learn from few values
given_features         features that users give
known_effects          the effects of features known in advance, taken away first
"""
