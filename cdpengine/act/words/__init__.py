"""What errors advise, in the words of each client: see `act/words/wording.py`."""
