"""The column search: depth-first over positions with their columns, for any rules.

Read card_numbering (cards as bits, in order of ranks), nodes (what a position is), reach (the talon), any_tail and
whole_runs (the moves, for the two ways to move runs), safe and earliest (two of the prunings), pruning (all of them),
depth_first (the kernel), column_search (`ColumnSearch`, which shares nodes among several orders of moves), and replay
(the moves found as actions of the environment).
"""
