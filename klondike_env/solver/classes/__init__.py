"""The class search: depth-first over positions that forget where face-up cards lie. Fast, for a few rules only.

Read card_numbering (cards as bits, so that building is a shift), moves (what a position is, and what can be done in
it), pruning (which moves need not be tried, with the proofs), visited (the table of positions searched), search (the
kernel, `ClassSearch` and `decide`), and line (the moves found as actions of the environment).
"""
