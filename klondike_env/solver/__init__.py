"""Solving with all cards known."""
