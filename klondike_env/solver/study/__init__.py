"""Many deals: how many can be won, and labels kept of them."""
