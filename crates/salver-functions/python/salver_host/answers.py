"""Answers: what a function returned, or raised, as the frames that tell it."""

import collections.abc
import mimetypes
import os
import pathlib
import types

import salver
from salver_host import json_text, tables
from salver_host.wire import U16, U32, fields, frame, text

_JSON = "application/json"
_STREAMS = (types.GeneratorType, types.AsyncGeneratorType, collections.abc.Iterator, collections.abc.AsyncIterator)

_WHOLE, _PATH = b"\x00", b"\x01"
RAISED, OUT_OF_MEMORY, WRONG_ARGUMENT = 0, 1, 2


def head(status, headers):
    """Status and header fields of an answer."""
    return U16.pack(status) + fields(headers)


# What stands before the JSON of nearly every answer.
_PLAIN_HEAD = b"A" + head(200, [("content-type", _JSON)]) + _WHOLE
_PLAIN_BYTES = len(_PLAIN_HEAD)


def plain(body, length=U32.pack, before=_PLAIN_HEAD, before_bytes=_PLAIN_BYTES):
    """The answer that JSON text is."""
    return length(before_bytes + len(body)) + before + body


class Stream:
    """An answer in pieces: the frame it begins with, what gives the pieces, and what writes each."""

    def __init__(self, begin, pieces, write):
        self.begin, self.pieces, self.write = begin, pieces, write


def answer(value, call):
    """The frame, or the [`Stream`], that tells what a function returned to `call`."""
    if isinstance(value, salver.Response):
        return _of_response(value, call)
    return _of_value(value, call, 200, [], None)


def _of_response(response, call):
    headers = _own(response.headers)
    named = [each for name, each in headers if name == "content-type"]
    headers = [pair for pair in headers if pair[0] != "content-type"]
    content_type = response.content_type or (named[0] if named else None)
    body = response.body
    if isinstance(body, str):
        content_type = content_type or "text/plain; charset=utf-8"
        return _whole(response.status, headers, content_type, body.encode("utf-8", "replace"))
    if body is None:
        return frame(b"A", head(response.status, headers) + _WHOLE)
    return _of_value(body, call, response.status, headers, content_type)


def _own(headers):
    """The fields of headers, as pairs. A list of values is a field for each."""
    return [
        (str(name).lower(), str(each)) for name, values in headers.items()
        for each in (values if isinstance(values, (list, tuple, set, frozenset)) else (values,))
    ]


def _of_value(value, call, status, headers, content_type):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _whole(status, headers, content_type or "application/octet-stream", value)
    if isinstance(value, pathlib.PurePath):
        return _file(status, headers, content_type, value)
    if isinstance(value, _STREAMS):
        return _stream(value, call, status, headers, content_type)
    if tables.is_table(value) and _accepts(call, tables.ARROW_STREAM):
        stream = tables.arrow_stream(value)
        if stream is not None:
            return _whole(status, headers, content_type or tables.ARROW_STREAM, stream)
    if tables.is_figure(value):
        media_type = "image/svg+xml" if _accepts(call, "image/svg+xml") else "image/png"
        return _whole(status, headers, content_type or media_type, tables.picture(value, media_type))
    return _whole(status, headers, content_type or _JSON, json_text.write(value))


def _whole(status, headers, content_type, body):
    before = b"A" + head(status, [("content-type", content_type), *headers]) + _WHOLE
    return b"".join((U32.pack(len(before) + len(body)), before, body))


def _file(status, headers, content_type, path):
    whole = os.path.abspath(path)
    if not os.path.isfile(whole):
        raise FileNotFoundError(f"the function returned the path {str(path)!r}, and there is no such file")
    media_type = content_type or mimetypes.guess_type(whole)[0] or "application/octet-stream"
    return frame(b"A", head(status, [("content-type", media_type), *headers]) + _PATH + os.fsencode(whole))


def _stream(pieces, call, status, headers, content_type):
    if content_type and content_type.partition(";")[0] not in ("text/event-stream", "application/x-ndjson"):
        write = _as_it_is
    elif (content_type or "").startswith("text/event-stream") or (
        not content_type and _accepts(call, "text/event-stream")
    ):
        content_type, write = content_type or "text/event-stream", _event
        headers = [("cache-control", "no-cache"), *headers]
    else:
        content_type, write = content_type or "application/x-ndjson", _line
    return Stream(frame(b"S", head(status, [("content-type", content_type), *headers])), pieces, write)


def _as_it_is(piece):
    if isinstance(piece, str):
        return piece.encode("utf-8", "replace")
    return piece if isinstance(piece, (bytes, bytearray, memoryview)) else json_text.write(piece)


def _line(piece):
    return json_text.write(piece) + b"\n"


def _event(piece):
    return b"data: " + json_text.write(piece) + b"\n\n"


def _accepts(call, media_type):
    return media_type in call.headers.get("accept", "").lower()


def problem(error):
    """What an [`salver.HTTPError`] is answered with: the shape of all of Salver's errors."""
    told = {"code": error.status, "error": error.error, "message": error.message}
    if error.hint is not None:
        told["hint"] = error.hint
    headers = {"cache-control": "no-store"}
    if error.status in (429, 503):
        headers["retry-after"] = "1"
    own = _own(error.headers)
    headers = [*((name, value) for name, value in headers.items() if name not in dict(own)), *own]
    return _whole(error.status, headers, _JSON, json_text.write(told))


def failure(why, message, detail):
    """The frame of a call that failed."""
    return frame(b"X", bytes([why]) + text(message) + text(detail))
