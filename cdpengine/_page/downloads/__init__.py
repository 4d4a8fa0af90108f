"""Downloads, the files they become, and the folder that holds them."""
