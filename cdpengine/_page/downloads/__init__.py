"""Downloads, their files, and the folder that contains them."""
