"""Many deals: how many of them can be won, and the labels, verdicts that are kept for later use.

Read many (`solve_many`, on many cores or machines), labels (verdicts that come with the package), winnability (the
published study, repeated), and report (its table and its picture).
"""
