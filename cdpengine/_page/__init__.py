"""One page's state and its documents: targets, tabs, frames, nodes and what belongs to them."""
