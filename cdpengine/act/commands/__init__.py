"""The verbs as commands of a command line: their names and help, and the parsing of arguments to requests."""
