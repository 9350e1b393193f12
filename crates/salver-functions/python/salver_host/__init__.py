"""The process that runs a file of Python functions for the server: it loads the file once, forks workers from it, and
these answer calls."""
