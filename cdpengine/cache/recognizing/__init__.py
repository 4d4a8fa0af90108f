"""Recognizing: which scenario a sentence is about, and whether it asks for anything."""
