"""Preparation of rounds for learners: missing values, late labels, and features of a
series' own past."""
