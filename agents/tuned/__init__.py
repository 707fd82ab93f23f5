"""The rule list `tuned`: moves, their scores by evolved weights, and pair scores where scores are close."""
