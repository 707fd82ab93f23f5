"""The rules of the game, compiled.

From the bottom up, each module using those before it:

- facts: `state` is the record of a game, `actions` numbers what can be done, `card_sets` holds cards as bits,
  `setup` what stays fixed while games are played;
- reading: `talon` is the one model of drawing, `queries` all questions about a position;
- playing: `dealing` starts a game, `legal` finds what may be done, `apply` does it, `scoring` pays for it,
  `repeats` remembers positions, `outcome` ends a game and `finish` plays a decided one to its end;
- many games: `batch` steps them, `threads` shares the work, `sampling` plays at random;
- knowledge: `views` is what a player knows of a game, `determinize` guesses the rest;
- keeping: `saving` turns a game into bytes, `restore` plays on from a record, and `faults` says what makes a
  record impossible.

`jit` compiles all of it.
"""
