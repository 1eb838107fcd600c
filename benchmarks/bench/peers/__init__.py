"""Peer libraries, one a file, each by the fastest way that its documentation shows."""
