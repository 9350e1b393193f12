"""Drives a server: wrk for many small requests, a bare socket for one large answer, one request with a large body."""

import http.client
import json
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from peers import NUMBERS, WORD, Peer, Request

# Prints what wrk measured as one line of JSON.
DONE = """
function done(summary, latency)
  local e = summary.errors
  print(string.format('RESULT {"requests": %d, "duration_us": %d, "p50_us": %d, "p99_us": %d, "not_2xx": %d, ' ..
    '"broken": %d, "bytes": %d}', summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.status, e.connect + e.read + e.write + e.timeout, summary.bytes))
end
"""

# Every request its own numbers, over all threads and rounds of a run. The second thread begins half a million later, so
# that `m` is not the same in both.
NUMBERED = """
local threads = 0
function setup(thread) thread:set("slot", threads); threads = threads + 1 end
function init() n = %(start)d + slot * 20500000 end
function request()
  n = n + 1
  local m = (n * 7919) %% 1000000
%(request)s
end
"""


@dataclass
class Round:
    """What one run of wrk measured."""

    per_second: float
    p50_ms: float | None
    p99_ms: float | None
    not_2xx: int = 0
    broken: int = 0
    requests: int = 0


def lua(text: str | None) -> str:
    """A Lua expression for a text with words of `NUMBERS` in it."""
    if text is None:
        return "nil"
    pieces = WORD.split(text)  # text, word, text, word, ... text
    for at in range(0, len(pieces), 2):
        pieces[at] = json.dumps(pieces[at])
    for at in range(1, len(pieces), 2):
        pieces[at] = 'string.format("%s", %s)' % NUMBERS[pieces[at]]
    return " .. ".join(pieces)


def numbered(request: Request) -> bool:
    """Whether requests are to differ."""
    return WORD.search(request.path + (request.body or "")) is not None


def whole(request: Request) -> str:
    """Lua that makes the bytes of a request in one go: wrk.format takes several times as long, on the processors of
    the server."""
    headers = {"Host": "127.0.0.1", **request.headers}
    head = " HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    line = f"{lua(request.method + ' ' + request.path)} .. {json.dumps(head)}"
    if request.body is None:
        return f'  return {line} .. "\\r\\n"'
    return f"""  local body = {lua(request.body)}
  return {line} .. "Content-Length: " .. #body .. "\\r\\n\\r\\n" .. body"""


def script(request: Request, start: int, every_ms: int = 0) -> str:
    pause = f"function delay() return {every_ms} end\n" if every_ms else ""
    if numbered(request):
        return pause + NUMBERED % {"start": start, "request": whole(request)} + DONE
    text = f"wrk.method = {json.dumps(request.method)}\nwrk.body = {lua(request.body)}\n"
    for name, value in request.headers.items():
        text += f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}\n"
    return pause + text + DONE


def wrk(peer: Peer, request: Request, seconds: int, connections: int, start: int, every_ms: int = 0) -> Round:
    """One run of wrk, whose connections wait so long after each answer."""
    request = peer.spell(request)
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script(request, start, every_ms))
        file.flush()
        path = "/" if numbered(request) else request.path
        threads = min(2, connections)
        command = [shutil.which("wrk") or "wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency",
                   "-s", file.name, f"{peer.scheme}://127.0.0.1:{peer.port}{path}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if line is None:
        raise SystemExit(f"wrk failed: {done.stdout}{done.stderr}")
    found = json.loads(line.removeprefix("RESULT "))
    return Round(found["requests"] / (found["duration_us"] / 1e6), found["p50_us"] / 1e3, found["p99_us"] / 1e3,
                 found["not_2xx"], found["broken"], found["requests"])


def download(peer: Peer, request: Request) -> tuple[float, int]:
    """Seconds until the last byte of one answer, and its bytes on the wire (head and chunk marks included)."""
    request = peer.spell(request)
    body = (request.body or "").encode()
    head = f"{request.method} {request.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    head += f"content-length: {len(body)}\r\n\r\n" if body else "\r\n"
    buffer = bytearray(1 << 20)
    started = time.perf_counter()
    with socket.create_connection(("127.0.0.1", peer.port), timeout=300) as connection:
        connection.sendall(head.encode() + body)
        count = connection.recv_into(buffer)
        if not buffer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{peer.name}: {bytes(buffer[:200])!r}")
        total = count
        while count := connection.recv_into(buffer):
            total += count
    return time.perf_counter() - started, total


def upload(peer: Peer, request: Request, file: Path) -> tuple[float, int, bytes]:
    """Sends a file as the streamed body of one request; the seconds until the last byte of the answer, its status and
    body."""
    def pieces():
        with open(file, "rb") as source:
            while piece := source.read(1 << 16):
                yield piece

    started = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", peer.port, timeout=300)
    try:
        # Without a length http.client sends the pieces as chunks.
        connection.request("POST", request.path, pieces(), request.headers)
        answer = connection.getresponse()
        body = answer.read()
        return time.perf_counter() - started, answer.status, body
    finally:
        connection.close()
