"""The class search: depth-first, over classes of positions that differ only in where face-up cards lie.

It is fast, but knows a few rules only.

Read card_numbering (cards as bits, so that building is a shift), moves (what a node is, and the moves from it),
pruning (which moves need not be tried, with the proofs), visited (the table of positions searched), search (the
kernel, `ClassSearch` and `decide`), and line (the moves found as actions of the environment).
"""
