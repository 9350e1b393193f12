"""Drives the host as the server does: a control channel, a socket workers connect to, frames in both directions."""

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

HOST = Path(__file__).resolve().parent.parent / "host.py"
SECONDS_MAX = 60


def text(value):
    encoded = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<I", len(encoded)) + encoded


def frame(kind, payload):
    return struct.pack("<I", len(payload) + 1) + kind + payload


def call_frame(endpoint, arguments=None, method="POST", path="/", query="", headers=(), address="", body=b"", table=None):
    """The frame of a call; `arguments` is what is written as JSON, or text that is taken as it is; `table` the parameter
    that the body is for."""
    if arguments is None:
        arguments = b""
    elif not isinstance(arguments, (str, bytes)):
        arguments = json.dumps(arguments)
    fields = struct.pack("<I", len(headers)) + b"".join(text(name) + text(value) for name, value in headers)
    return frame(b"C" if table is None else b"T", b"".join((
        b"" if table is None else text(table),
        struct.pack("<i", endpoint), text(arguments), text(method), text(path), text(query), text(address), fields,
        text(body),
    )))


class Ended(Exception):
    """The other side closed its end."""


class Wire:
    """Frames over one socket."""

    def __init__(self, connection):
        connection.settimeout(SECONDS_MAX)
        self.connection = connection

    def read(self):
        """Kind and payload of the next frame."""
        length, = struct.unpack("<I", self._exactly(4))
        data = self._exactly(length)
        return data[:1], data[1:]

    def _exactly(self, count):
        pieces = []
        while count:
            try:
                piece = self.connection.recv(min(count, 1 << 20))
            except ConnectionResetError:
                raise Ended from None
            if not piece:
                raise Ended
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)


class Answer:
    """An answer taken apart."""

    def __init__(self, kind, payload):
        self.kind = kind
        if kind == b"X":
            self.why = payload[0]
            message, payload = _text(payload[1:])
            self.message = message.decode()
            self.detail = _text(payload)[0].decode()
            return
        self.status, count = struct.unpack_from("<HI", payload)
        payload, self.headers, self.fields = payload[6:], {}, []
        for _ in range(count):
            name, payload = _text(payload)
            value, payload = _text(payload)
            self.headers[name.decode()] = value.decode()
            self.fields.append((name.decode(), value.decode()))
        self.place, self.body = (payload[0], payload[1:]) if kind == b"A" else (None, b"")

    def json(self):
        return json.loads(self.body, parse_constant=_refuse)

    def __repr__(self):
        return repr(vars(self))


def _text(payload):
    length, = struct.unpack_from("<I", payload)
    return payload[4 : 4 + length], payload[4 + length :]


def _refuse(constant):
    raise ValueError(f"{constant} is not JSON")


class Worker(Wire):
    """The connection of one worker."""

    def __init__(self, connection):
        super().__init__(connection)
        kind, payload = self.read()
        assert kind == b"H", kind
        self.process, = struct.unpack("<I", payload)

    def call(self, endpoint, arguments=None, **rest):
        """One answer; the pieces of a stream are in `pieces`, and how it ended in `end`."""
        self.connection.sendall(call_frame(endpoint, arguments, **rest))
        return self.answer()

    def answer(self):
        answer = Answer(*self.read())
        if answer.kind == b"S":
            answer.pieces = []
            while True:
                kind, payload = self.read()
                if kind != b"D":
                    answer.end = kind if kind == b"E" else Answer(kind, payload)
                    break
                answer.pieces.append(payload)
        return answer


class Served:
    """A file that is served; a context manager."""

    def __init__(self, source, name="sample.py", beside=None, environment=None):
        self._folder = tempfile.TemporaryDirectory(prefix="salver-")
        self.folder = Path(self._folder.name)
        self.file = self.folder / name
        self.file.write_bytes(source if isinstance(source, bytes) else textwrap.dedent(source).encode())
        for other, text_beside in (beside or {}).items():
            (self.folder / other).write_text(text_beside)
        self.log = self.folder / "log"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / "socket"))
        self._listener.listen(64)
        self._listener.settimeout(SECONDS_MAX)
        ours, theirs = socket.socketpair()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(HOST), str(self.file), str(self.folder / "socket")],
                stdin=theirs, stdout=log, stderr=log, env={**os.environ, **(environment or {})},
            )
        theirs.close()
        self.control = Wire(ours)
        self.workers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.control.connection.close()
        self.process.wait(SECONDS_MAX)
        for worker in self.workers:
            worker.connection.close()
        self._listener.close()
        self._folder.cleanup()

    def offer(self):
        kind, payload = self.control.read()
        if kind != b"R":
            raise AssertionError(payload.decode())
        return json.loads(payload)

    def refusal(self):
        kind, payload = self.control.read()
        if kind != b"X":
            raise AssertionError(payload.decode())
        return payload.decode()

    def worker(self):
        self.fork(1)
        return self.accept()

    def fork(self, count):
        self.control.connection.sendall(frame(b"F", struct.pack("<I", count)))

    def kill(self, process):
        self.control.connection.sendall(frame(b"K", struct.pack("<I", process)))

    def accept(self):
        worker = Worker(self._listener.accept()[0])
        self.workers.append(worker)
        return worker

    def logged(self):
        return self.log.read_text()


class OneFile(unittest.TestCase):
    """Tests of one file, `SOURCE`, that share a worker."""

    SOURCE = ""

    @classmethod
    def setUpClass(cls):
        cls.served = Served(cls.SOURCE)
        offer = cls.served.offer()
        cls.endpoints = {each["function"]: each for each in offer["endpoints"]}
        cls.numbers = {each["function"]: at for at, each in enumerate(offer["endpoints"])}
        cls.worker = cls.served.worker()

    @classmethod
    def tearDownClass(cls):
        cls.served.__exit__()
