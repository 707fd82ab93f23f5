"""The rule list `tuned`: moves, scores by evolved weights, and pair scores by features for moves that score close."""
