"""A worker: answers the calls that come over its connection, one after the other, until the server closes it."""

import asyncio
import inspect
import os
import socket
import sys
import traceback

import salver
from salver_host import answers, batch, faults, gathered, json_text, wire

_END = object()
_CALL, _BATCH, _TABLE = ord("C"), ord("B"), ord("T")


def run(path, endpoints):
    """Connects to the server and answers its calls."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    connection.sendall(wire.frame(b"H", wire.U32.pack(os.getpid())))
    Worker(connection, endpoints).serve()


class Worker:
    """What answers calls."""

    def __init__(self, connection, endpoints):
        self._send = connection.sendall
        self._frames = wire.Frames(connection)
        self._endpoints = endpoints
        self._loop = None

    def serve(self):
        """Answers calls until the connection ends. Here is what most calls need; all else is in other functions."""
        receive, send, endpoints = self._frames.next, self._send, self._endpoints
        endpoint_of, begin = wire.endpoint_of, wire.ARGUMENTS
        writer, plain = json_text.DIRECT.get, answers.plain
        while True:
            call = receive()
            if call is None:
                return
            if call[4] != _CALL:
                self._other(call)
                continue
            number, end = endpoint_of(call)
            if number < 0:
                send(answers.failure(answers.RAISED, "the file is not an application", ""))
                continue
            endpoint, arguments = endpoints[number], None
            try:
                arguments = endpoint.read(call[begin:end].decode()) if end > begin else {}
                if endpoint.converts:
                    endpoint.convert(arguments)
                if endpoint.completed:
                    endpoint.complete(arguments, wire.Call(call))
                value = endpoint.function(**arguments)
                write = writer(type(value))
                answer = None if write is None else plain(write(value))
            except BaseException as error:
                send(failure(endpoint, error, arguments))
                continue
            if answer is None:
                self._answer(endpoint, wire.Call(call), value)
            else:
                send(answer)

    def _other(self, frame):
        if frame[4] == _TABLE:
            self._with_table(*wire.table_of(frame))
        else:
            self._send(self._batch(frame) if frame[4] == _BATCH else self._gathered(frame))

    def _batch(self, call):
        try:
            return batch.answer(self._endpoints, call, self._awaited)
        except SystemExit as error:
            _end(error)

    def _gathered(self, call):
        endpoint, rows, arguments = gathered.read(call, self._endpoints)
        try:
            endpoint.convert(arguments, True)
            endpoint.complete(arguments, None)
            value = endpoint.function(**arguments)
            if inspect.isawaitable(value):
                value = self._awaited(value)
            return gathered.written(value, rows)
        except BaseException as error:
            return failure(endpoint, error, arguments)

    def _with_table(self, parameter, data):
        number, end = wire.endpoint_of(data)
        endpoint, call, arguments = self._endpoints[number], wire.Call(data), None
        try:
            arguments = endpoint.read(str(data[wire.ARGUMENTS : end], "utf-8") or "{}")
            endpoint.convert(arguments)
            arguments[parameter] = endpoint.table(parameter, call.body)
            endpoint.complete(arguments, call)
            value = endpoint.function(**arguments)
        except BaseException as error:
            self._send(failure(endpoint, error, arguments))
            return
        self._answer(endpoint, call, value)

    def _answer(self, endpoint, call, value):
        try:
            if inspect.isawaitable(value):
                value = self._awaited(value)
            made = answers.answer(value, call)
        except BaseException as error:
            made = failure(endpoint, error)
        if isinstance(made, answers.Stream):
            self._stream(endpoint, made)
        else:
            self._send(made)

    def _awaited(self, value):
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(value)

    def _stream(self, endpoint, stream):
        # The first piece is made before anything is sent, so that an error until then is answered as one.
        before = stream.begin
        while True:
            try:
                piece = self._next(stream.pieces)
                data = None if piece is _END else stream.write(piece)
            except BaseException as error:
                self._send(failure(endpoint, error, begun=before != stream.begin))
                return
            if data is None:
                self._send(before + wire.frame(b"E", b""))
                return
            self._send(b"".join((before, wire.U32.pack(len(data) + 1), b"D", data)))
            before = b""

    def _next(self, pieces):
        if hasattr(pieces, "__next__"):
            return next(pieces, _END)
        try:
            return self._awaited(pieces.__anext__())
        except StopAsyncIteration:
            return _END


def failure(endpoint, error, arguments=None, begun=False):
    """The frame that tells what a call with `arguments` raised. `begun`: a part of the answer is sent already."""
    if isinstance(error, SystemExit):
        _end(error)
    if isinstance(error, salver.HTTPError) and not begun:
        return answers.problem(error)
    if isinstance(error, MemoryError):
        traceback.clear_frames(error.__traceback__)  # They hold what filled the memory.
        message = f"the function `{endpoint.name}` needs more memory than it may have"
        return answers.failure(answers.OUT_OF_MEMORY, message, faults.detail(error))
    if isinstance(error, batch.Unfit):
        return answers.failure(answers.RAISED, f"the function `{endpoint.name}` gave no column of values", str(error))
    if isinstance(error, TypeError) and arguments is not None and faults.in_call(error):
        error = endpoint.misfit(error, arguments)
    if isinstance(error, faults.ArgumentFault):
        return answers.failure(answers.WRONG_ARGUMENT, str(error), f"in a call of {endpoint.name}: {error}")
    message = f"the function `{endpoint.name}` of `{endpoint.file}` raised an error"
    return answers.failure(answers.RAISED, message, faults.detail(error))


def _end(error):
    """Ends this process as `sys.exit` in a script does; the server sees the connection end."""
    code = error.code
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    end(code or 0)


def end(code):
    """Ends this process, without what the file registered for the end of the interpreter: the zygote's is still there.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code & 0xFF)
