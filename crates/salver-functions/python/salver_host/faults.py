"""What goes wrong in a file's code, told as it should be read: without the frames of this host."""

import os
import traceback

_OURS = (os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.__file__), "asyncio"))
# Of a longer one the end says most.
_DETAIL_CHARACTERS_MAX = 16 * 1024


class ArgumentFault(Exception):
    """An argument is not right; says which."""


def detail(error):
    """The traceback of an error."""
    written = "".join(traceback.format_exception(type(error), error, _theirs(error.__traceback__)))
    return written.strip()[-_DETAIL_CHARACTERS_MAX:]


def last_lines(error):
    """Why a file could not be loaded: the error, and where in the file it was."""
    lines = detail(error).splitlines()
    return "\n".join(lines[-20:])


def in_call(error):
    """Whether an error was raised by the call itself, and not within the function."""
    return _theirs(error.__traceback__) is None


def _theirs(frames):
    while frames is not None and os.path.dirname(frames.tb_frame.f_code.co_filename).startswith(_OURS):
        frames = frames.tb_next
    return frames
