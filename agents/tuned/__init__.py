"""The rule list `tuned`: moves, their scores by evolved weights, their features, and pair scores for close moves."""
