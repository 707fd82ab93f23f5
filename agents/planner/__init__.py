"""Planning: candidates are tried in the same determinizations, and eliminated one after another.

candidates.py      the candidates: legal actions, or irreversible ones with the reversible moves before them
evaluation.py      verdicts on a candidate in a determinization, by the base and by the solver
elimination.py     which candidates have fallen behind, and which one wins
bases.py           any agent as base: `collins` and `tuned` in compiled code, all others in a batch of games
endgame.py         the solver's line once no card has to be guessed
agent.py           decisions, plans, and the agent
"""
