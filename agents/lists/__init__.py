"""Rule lists, and the chance player they are compared with."""
