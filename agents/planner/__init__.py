"""Planning: candidates tried on the same determinizations, and dropped one after another."""
