"""Drives a server: wrk for many small requests, a bare socket for one large answer."""

import json
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass

from peers import Peer, Request

# Prints what wrk measured as one line of JSON.
DONE = """
function done(summary, latency)
  local e = summary.errors
  print(string.format('RESULT {"requests": %d, "duration_us": %d, "p50_us": %d, "p99_us": %d, "not_2xx": %d, ' ..
    '"broken": %d, "bytes": %d}', summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.status, e.connect + e.read + e.write + e.timeout, summary.bytes))
end
"""

# Every request its own numbers: `n` counts up over all threads and rounds of a run, `m` goes through 0 .. 999 999 in
# an order without pattern (7919 has no common divisor with a million).
NUMBERED = """
local threads = 0
function setup(thread) thread:set("slot", threads); threads = threads + 1 end
function init() n = %(start)d + slot * 20000000 end
function request()
  n = n + 1
  local m = (n * 7919) %% 1000000
  return wrk.format(nil, %(path)s, nil, %(body)s)
end
"""


@dataclass
class Round:
    """What one run of wrk measured."""

    per_second: float
    p50_ms: float
    p99_ms: float
    not_2xx: int
    broken: int


def lua(text: str | None) -> str:
    """A Lua expression for a text with `{n}` and `{m}` in it."""
    if text is None:
        return "nil"
    parts = []
    for piece in text.replace("{n}", "\0n\0").replace("{m}", "\0m\0").split("\0"):
        number = {"n": 'string.format("%09d", n)', "m": 'string.format("%d", m)'}.get(piece)
        parts.append(number or json.dumps(piece))
    return " .. ".join(parts)


def numbered(request: Request) -> bool:
    """Whether requests are to differ."""
    return "{n}" in request.path + (request.body or "")


def script(request: Request, start: int) -> str:
    text = f"wrk.method = {json.dumps(request.method)}\n"
    for name, value in request.headers.items():
        text += f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}\n"
    if numbered(request):
        text += NUMBERED % {"start": start, "path": lua(request.path), "body": lua(request.body)}
    else:
        text += f"wrk.body = {lua(request.body)}\n"
    return text + DONE


def wrk(peer: Peer, request: Request, seconds: int, connections: int, start: int) -> Round:
    """One run of wrk."""
    request = peer.spell(request)
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script(request, start))
        file.flush()
        path = "/" if numbered(request) else request.path
        command = [shutil.which("wrk") or "wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--latency",
                   "-s", file.name, f"http://127.0.0.1:{peer.port}{path}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if line is None:
        raise SystemExit(f"wrk failed: {done.stdout}{done.stderr}")
    found = json.loads(line.removeprefix("RESULT "))
    return Round(found["requests"] / (found["duration_us"] / 1e6), found["p50_us"] / 1e3, found["p99_us"] / 1e3,
                 found["not_2xx"], found["broken"])


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
