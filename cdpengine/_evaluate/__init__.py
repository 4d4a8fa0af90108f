"""Floor 4: the page's JavaScript, evaluated where it can be given up on."""
