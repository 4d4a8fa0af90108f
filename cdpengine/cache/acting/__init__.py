"""ActionCache and its operations: recording, replaying, performing, and requests about it."""
