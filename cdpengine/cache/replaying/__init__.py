"""An entry is carried out on a page: targets are found, steps are done, what they led to is waited for."""
