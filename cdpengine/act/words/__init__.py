"""The advice for errors, in the words of each client: see `act/words/wording.py`."""
