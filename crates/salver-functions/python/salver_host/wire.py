"""Frames between the server and this process, as `wire.rs` tells them: written, read, and the fields of a call."""

import select
import struct

U16 = struct.Struct("<H")
U32 = struct.Struct("<I")
_I32_U32 = struct.Struct("<iI")

_unpack = U32.unpack_from
_endpoint = _I32_U32.unpack_from
# The length of the frame, its kind, the endpoint and the length of the arguments stand before them.
ARGUMENTS = 13
# Most calls are far smaller, and a larger buffer would have to be mapped anew for each.
_RECEIVE_BYTES = 64 * 1024


def frame(kind, payload):
    """A whole frame."""
    return U32.pack(len(payload) + 1) + kind + payload


def text(value):
    """A text of a payload."""
    encoded = value.encode("utf-8", "replace")
    return U32.pack(len(encoded)) + encoded


def fields(headers):
    """The fields of a payload: pairs of name and value."""
    return U32.pack(len(headers)) + b"".join([text(name) + text(value) for name, value in headers])


class Frames:
    """The frames that come in over a socket. Each is told with its length in front, so that none has to be copied."""

    def __init__(self, connection):
        self._connection = connection
        self._receive = connection.recv
        # A `recv` that waits is also woken, for nothing, when the other side has read: Linux tells both ends of a
        # connection that there is room again, and only who waits by `poll` can say that he does not care.
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        self._wait = poll.poll
        self._rest = b""

    def next(self):
        """The next frame, or `None` when the other side is gone."""
        data = self._rest
        if not data:
            self._wait()
            data = self._receive(_RECEIVE_BYTES)
        if len(data) >= 4 and _unpack(data)[0] + 4 == len(data):
            self._rest = b""
            return data
        return self._pieced(data)

    def _pieced(self, data):
        while len(data) < 4:
            more = self._receive(_RECEIVE_BYTES)
            if not more:
                return None
            data += more
        end = _unpack(data)[0] + 4
        if len(data) >= end:
            self._rest = data[end:]
            return data[:end]
        self._rest = b""
        whole = bytearray(end)
        whole[: len(data)] = data
        view, filled = memoryview(whole), len(data)
        while filled < end:
            count = self._connection.recv_into(view[filled:])
            if not count:
                return None
            filled += count
        return whole


def endpoint_of(call):
    """Which endpoint a call is for, and where its arguments end. They begin at [`ARGUMENTS`]."""
    endpoint, length = _endpoint(call, 5)
    return endpoint, ARGUMENTS + length


def table_of(frame):
    """The parameter that a frame `T` has its body for, and the call behind that, at the places it has in a `C`."""
    end = 9 + _unpack(frame, 5)[0]
    return str(frame[9:end], "utf-8"), memoryview(frame)[end - 5 :]


class Call:
    """All fields of a call, for what needs more than its arguments. They are read when the first of them is asked for.
    """

    def __init__(self, data):
        self._data = data

    def __getattr__(self, name):
        if name not in ("method", "path", "query", "headers", "address", "body"):
            raise AttributeError(name)
        self._at = endpoint_of(self._data)[1]
        self.method, self.path, self.query, self.address = self._text(), self._text(), self._text(), self._text()
        count = _unpack(self._data, self._at)[0]
        self._at += 4
        self.headers = {}
        for _ in range(count):
            field, value = self._text().lower(), self._text()
            self.headers[field] = f"{self.headers[field]}, {value}" if field in self.headers else value
        self.body = self._bytes()
        return getattr(self, name)

    def _bytes(self):
        start = self._at + 4
        self._at = start + _unpack(self._data, self._at)[0]
        return bytes(memoryview(self._data)[start : self._at])

    def _text(self):
        return self._bytes().decode("utf-8", "replace")
