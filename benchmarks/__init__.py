"""Speed, ours and that of peers that are installed, measured side by side: `python -m benchmarks`."""
