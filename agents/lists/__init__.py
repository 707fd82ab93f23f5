"""Rule lists, a fast player of one of them, and the random player that they are compared with."""
