"""ActionCache, and what it does: recording, replaying, performing, and requests about it."""
