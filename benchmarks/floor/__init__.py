"""Floors: the least code that can do a job, so that every figure stands beside what is physically possible here."""
