"""Trained networks as agents."""
