"""Solvers for the best comparator in hindsight."""
