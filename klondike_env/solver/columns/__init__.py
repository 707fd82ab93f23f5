"""Search over explicit columns, for any rules."""
