"""Preparation of rounds for learners: missing values, labels that arrive late."""
