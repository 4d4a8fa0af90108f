"""HTTP requests that the program sends itself, with the state of a browser context: `context.request`."""
