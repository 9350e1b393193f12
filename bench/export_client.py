"""The client of exports: bare sockets and pipes, so that little but the server's work is measured."""

import json
import os
import re
import socket
import time

BUFFER_BYTES = 1 << 20


class Answer(Exception):
    """An answer that isn't the one that was asked for."""


def head_of(method: str, path: str, body: bytes, close: bool) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", f"connection: {'close' if close else 'keep-alive'}"]
    if body:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def whole(port: int, path: str) -> tuple[float, int]:
    """Reads one answer to its end; the seconds that took, and its bytes on the wire."""
    buffer = bytearray(BUFFER_BYTES)
    started = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=300) as connection:
        connection.sendall(head_of("GET", path, b"", close=True))
        total = connection.recv_into(buffer)
        if not buffer.startswith(b"HTTP/1.1 200"):
            raise Answer(f"{path}: {bytes(buffer[:300])!r}")
        while count := connection.recv_into(buffer):
            total += count
    return time.perf_counter() - started, total


def bare(port: int) -> tuple[float, int]:
    """Reads from a socket until its end."""
    buffer, total = bytearray(BUFFER_BYTES), 0
    started = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=300) as connection:
        while count := connection.recv_into(buffer):
            total += count
    return time.perf_counter() - started, total


def drained(pipe: int, seen=None) -> int:
    """Reads a pipe to its end; its bytes."""
    buffer, total = bytearray(BUFFER_BYTES), 0
    while count := os.readv(pipe, [buffer]):
        total += count
        if seen:
            seen(memoryview(buffer)[:count])
    return total


class KeepAlive:
    """One connection, and one answer with a known length after the other."""

    def __init__(self, port: int):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=300)
        self.buffer = bytearray(4 << 20)

    def ask(self, method: str, path: str, body: bytes = b"") -> memoryview:
        """The body of the answer, which stays as it is until the next is asked for."""
        self.connection.sendall(head_of(method, path, body, close=False))
        view, count, end = memoryview(self.buffer), 0, -1
        while end < 0:
            got = self.connection.recv_into(view[count:])
            if not got:
                raise Answer(f"{method} {path}: the connection was closed")
            count += got
            end = self.buffer.find(b"\r\n\r\n", 0, count)
        head = bytes(view[:end])
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        if not head.startswith(b"HTTP/1.1 2") or not length:
            raise Answer(f"{method} {path}: {bytes(view[:count])[:500]!r}")
        start, stop = end + 4, end + 4 + int(length[1])
        if stop > len(self.buffer):
            raise Answer(f"{method} {path}: {stop} bytes are more than was thought")
        while count < stop:
            count += self.connection.recv_into(view[count:stop], stop - count, socket.MSG_WAITALL)
        return view[start:stop]

    def close(self) -> None:
        self.connection.close()


# The members beside `result`; `error` is what ArangoDB's form has and ours may have.
MORE = re.compile(rb'"hasMore":(true|false)')
ID = re.compile(rb'"id":"(\d+)"')


def outside(body: memoryview, what: re.Pattern) -> bytes | None:
    """A member that stands before or behind the rows."""
    found = None
    for found in what.finditer(bytes(body[-300:])):
        pass
    found = found or what.search(bytes(body[:100]))
    return found[1] if found else None


def first_batch(port: int, name: str, rows: int) -> tuple[float, list]:
    """Seconds from connecting to the last byte of the first batch of an export, and its rows."""
    started = time.perf_counter()
    client = KeepAlive(port)
    try:
        body = client.ask("POST", f"/api/export?collection={name}", json.dumps({"batchSize": rows}).encode())
        seconds = time.perf_counter() - started
        found = json.loads(bytes(body))
        if "id" in found:
            client.ask("DELETE", f"/api/export/{found['id']}")
        return seconds, found["result"]
    finally:
        client.close()


def by_batches(port: int, name: str, rows: int) -> tuple[float, int, int]:
    """Seconds for a whole export batch by batch, how many batches it had, and their bytes."""
    client = KeepAlive(port)
    try:
        started = time.perf_counter()
        body = client.ask("POST", f"/api/export?collection={name}", json.dumps({"batchSize": rows}).encode())
        batches, total = 1, len(body)
        identity = outside(body, ID)
        path = f"/api/export/{identity.decode()}" if identity else ""
        while outside(body, MORE) == b"true":
            body = client.ask("PUT", path)
            batches += 1
            total += len(body)
        return time.perf_counter() - started, batches, total
    finally:
        client.close()


def slow_readers(port: int, path: str, readers: int, seconds: float, watch) -> int:
    """Opens `readers` downloads, takes 16 KiB of each in a second and calls `watch` each time; the bytes it read."""
    buffer, total, connections = bytearray(16 << 10), 0, []
    try:
        for _ in range(readers):
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
            connection.sendall(head_of("GET", path, b"", close=True))
            connection.setblocking(False)
            connections.append(connection)
        until = time.perf_counter() + seconds
        while (now := time.perf_counter()) < until:
            for connection in connections:
                try:
                    total += connection.recv_into(buffer)
                except BlockingIOError:
                    pass
            watch()
            time.sleep(max(0.0, now + 1 - time.perf_counter()))
        return total
    finally:
        for connection in connections:
            connection.close()
