"""Many deals: how many of them can be won, and verdicts that are kept.

Read many (`solve_many`, on many cores or machines), labels (verdicts that come with the package), winnability (the
published study, repeated), and report (its table and its picture).
"""
