"""The rules of the game, compiled.

`state` is the record of a game, `actions` names what can be done, `stock`, `legal` and `apply` are
the rules, `outcome` ends a game, `scoring` books points, `repeats` remembers positions, `batch`
steps many games at once and `games` wraps it for Python. `views` is what a player may know, and
`determinize` guesses the rest. `saving` makes games bytes, `restore` goes on from records and `faults`
says what makes one impossible.
"""
