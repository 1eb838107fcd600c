"""The Forecaster's kernels: several steps ahead, with regressions of every step.

forecaster_layout      every array of the state and of the workspace
forecaster_round       learn a value, then forecast: puts the following together
step_features          last values, seasonal lags, profiles
step_regressions       ridge regressions of a step, with memories and outlier weights
nonlinear_features     context, Fourier terms, products and hinges
nonlinear_regression   a regression on these, shared by neighbouring steps
recursive_forecast     the first step's regressions, iterated
analogues              what followed origins with a similar recent course
step_mixture           weights of all candidates for a step
step_pool              the mixture, pooled with forecasts that learn from few values
phase_spread           the size of errors at each phase of the season
covariates             past and future covariates
covariate_effects      the effects of future covariates, subtracted from the series
holiday_effects        the effects of public holidays on days of a grid
"""
