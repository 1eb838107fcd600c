"""Forecasts of a target from its own past: the state that a Forecaster learns, and the
features that encoders make of it."""
