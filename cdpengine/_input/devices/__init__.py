"""Input devices of one page: mouse, keyboard and touch, with keyboard layouts."""
