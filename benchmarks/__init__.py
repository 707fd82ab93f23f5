"""Speed, ours and that of peers that are installed, measured side by side: what `klondike bench` runs."""
