"""Floor 5: the engine's face. Browser, Page, and the two ways to get them: launch and connect."""
