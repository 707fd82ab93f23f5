"""Boards for people to look at, drawn from views, so that hidden cards stay hidden."""
