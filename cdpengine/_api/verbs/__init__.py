"""The verbs of a page, in groups: each a class that works on the page's core, and that Page is made of."""
