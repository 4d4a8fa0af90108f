"""Recognition of the scenario and the instruction in a sentence."""
