"""The column search: depth-first, for any rules.

Read card_numbering (cards as bits, in order of ranks), nodes (what a node is), reach (the talon), any_tail and
whole_runs (the moves, for the two rules by which runs move), safe and earliest (two of the prunings), pruning (all of
them), depth_first (the kernel), column_search (`ColumnSearch`, which divides its nodes among several orders of moves),
and replay (the moves found as actions of the environment).
"""
