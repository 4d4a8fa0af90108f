"""Floor 4: actions on nodes by real input events: geometry, actionability, mouse, keyboard, text entry."""
