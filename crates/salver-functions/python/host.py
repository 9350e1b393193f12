"""Serves the functions of a Python file: `python3 host.py FILE SOCKET`, with the control channel as standard input.

The server writes this file, `salver.py` and `salver_host/` into one directory and starts the interpreter with it. What
is said over the channel and the socket is told in `wire.rs`.
"""

import sys

from salver_host import zygote

if __name__ == "__main__":
    zygote.main(sys.argv[-2], sys.argv[-1])
