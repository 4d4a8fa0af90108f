"""Dialogs and file choosers: how they are answered, and by whom."""
