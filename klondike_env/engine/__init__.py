"""The rules of the game, compiled.

From the bottom up, each module using those before it:

- facts: `state` is the record of a game, `actions` numbers the actions, `card_sets` holds sets of cards as bits,
  `setup` holds what stays fixed while games are played;
- reading: `talon` is the only model of drawing, `queries` answers all questions about a position;
- playing: `dealing` starts a game, `legal` finds the legal actions, `apply` plays one, `scoring` adds its points,
  `repeats` remembers positions, `outcome` ends a game and `finish` plays a decided game to its end;
- many games: `batch` steps them, `threads` shares the work, `sampling` plays at random;
- knowledge: `views` writes what a player knows of a game, `determinize` fills in the rest at random;
- saving: `saving` turns a game into bytes, `restore` prepares a record to be played on, and `faults` says what
  makes a record impossible.

`jit` compiles all of it.
"""
