"""Planning: candidates are tried in the same determinizations, and eliminated one after another.

candidates.py      what competes: legal actions, or irreversible ones with the reversible moves before them
evaluation.py      verdicts on a candidate in a determinization, by its base and by the solver
elimination.py     who has fallen behind, and who wins
bases.py           any agent as base: lists in compiled code, all others side by side in a batch of games
endgame.py         the solver's line once nothing is left to guess
agent.py           decisions, plans, and the agent
"""
