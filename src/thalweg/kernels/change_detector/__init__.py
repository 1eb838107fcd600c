"""The change detector's loop: its state, reference model, statistics and season."""
