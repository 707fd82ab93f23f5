"""Rule lists, the fast player of one of them, and the chance player that they are compared with."""
