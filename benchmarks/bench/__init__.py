"""The speed of thalweg against other libraries', measured in one run."""
