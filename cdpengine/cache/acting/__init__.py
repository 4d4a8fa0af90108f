"""ActionCache and its operations: learning, replaying, performing, and requests about it."""
