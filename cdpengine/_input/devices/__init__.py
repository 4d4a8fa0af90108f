"""Input devices: mouse, keyboard and touch of one page, with the keys of each layout."""
