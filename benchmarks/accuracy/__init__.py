"""The Tracker's and the Forecaster's errors, and those of rivals."""
