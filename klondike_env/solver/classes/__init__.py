"""Search over classes of positions: what lies where is forgotten where face-up cards are free to move."""
