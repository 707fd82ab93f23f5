"""The rule list `tuned`: evolved weights, and a table of pairs of features for close plays."""
