"""The servers that are measured. A peer knows how to start its server on a free port and how it spells a request."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

# Words that stand for numbers in a request, as what they are made of in Lua and in Python: `n` counts up over all
# requests, `m` goes through 0 .. 999 999 in an order without pattern (7919 has no common divisor with a million).
NUMBERS = {
    "n": ("%09d", "n"),
    "m": ("%d", "m"),
    "id": ("%d", "m + 1"),
    "id15": ("%015d", "m + 1"),
    "of500": ("%d", "m % 500 + 1"),
    "of10000": ("%d", "m % 10000 + 1"),
    "of50000": ("%d", "m % 50000 + 1"),
}
WORD = re.compile("{(" + "|".join(NUMBERS) + ")}")


def numbers(n: int) -> dict[str, int]:
    """What the words stand for in request number `n`."""
    return {word: eval(sum_, {"n": n, "m": n * 7919 % 1_000_000}) for word, (_, sum_) in NUMBERS.items()}


@dataclass(frozen=True)
class Request:
    """One HTTP request. The words of `NUMBERS`, in braces, stand in `path` and `body` for numbers that differ from
    request to request."""

    path: str
    body: str | None = None
    headers: dict = field(default_factory=dict)
    method: str = ""

    def __post_init__(self):
        if not self.method:
            object.__setattr__(self, "method", "GET" if self.body is None else "POST")

    def numbered(self, n: int) -> "Request":
        """Request number `n`."""
        values = numbers(n)
        fill = lambda text: text and WORD.sub(lambda word: NUMBERS[word[1]][0] % values[word[1]], text)
        return Request(fill(self.path), fill(self.body), self.headers, self.method)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Peer:
    """A running server: a process, or several in one process group."""

    name = "peer"
    scheme = "http"

    def __init__(self, log: Path):
        self.log, self.port, self.process = log, 0, None

    def command(self, tables: dict[str, Path], keys: dict[str, str], **options) -> tuple[list[str], dict]:
        """The command line, and additions to the environment."""
        raise NotImplementedError

    def spell(self, request: Request) -> Request:
        """The request in this server's own words."""
        return request

    def start(self, tables, keys=None, ready: Request | None = None, **options) -> float:
        """Starts the server; the seconds from exec to the first 200 for `ready`."""
        self.port = free_port()
        command, environment = self.command(tables, keys or {}, **options)
        with open(self.log, "ab") as log:
            started = time.perf_counter()
            self.process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=log, stderr=log,
                                            start_new_session=True)
        while True:
            if self.process.poll() is not None:
                raise SystemExit(f"{self.name} did not start; see {self.log}\n  {' '.join(map(str, command))}")
            try:
                if ready is None or self.ask(ready)[0] == 200:
                    return time.perf_counter() - started
            except OSError:
                pass
            if time.perf_counter() - started > 300:
                raise SystemExit(f"{self.name} was not ready after 300 s; see {self.log}")
            time.sleep(0.002)

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.process = None

    def ask(self, request: Request) -> tuple[int, str, bytes]:
        """Status, content type and body of one answer."""
        request = self.spell(request)
        if self.scheme == "https":
            # A certificate of its own, made for the measurement.
            trusting = ssl._create_unverified_context()  # noqa: S323
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=300, context=trusting)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(request.method, request.path, request.body, request.headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("content-type", ""), answer.read()
        finally:
            connection.close()

    def memory_mb(self, field_name: str = "VmRSS") -> float:
        """Resident memory now (VmRSS) or at its highest (VmHWM), of all processes together."""
        total = 0
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if os.getpgid(int(process.name)) == self.process.pid:
                    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
                    total += int(status.get(field_name, "0").split()[0])
            except OSError:  # It ended meanwhile.
                pass
        return total / 1024 if total else float("nan")


class Salver(Peer):
    name = "Salver"

    def __init__(self, log: Path, binary: Path):
        super().__init__(log)
        self.binary = binary

    def command(self, tables, keys, databases=None, streams=None, functions=None, more="", **options):
        config = self.log.with_name(f"salver-{self.port}.toml")
        text = ""
        for name, path in tables.items():
            key = f'key = ["{keys[name]}"]\n' if name in keys else ""
            text += f'[[dataset]]\nname = "{name}"\nsource = "{path}"\n{key}\n'
        for name, url in (databases or {}).items():
            text += f'[[database]]\nname = "{name}"\nurl = "{url}"\nwritable = true\n\n'
        for section, entries in (("stream", streams), ("function", functions)):
            for name, settings in (entries or {}).items():
                # What JSON calls a text, a number or a list of them, TOML does too.
                lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
                text += f'[[{section}]]\nname = "{name}"\n{lines}\n'
        config.write_text(text + more)
        listen = f"127.0.0.1:{self.port}"
        return [self.binary, "serve", "--config", config, "--listen", listen, "--log", "error"], {}

    def version(self) -> str:
        return subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]


class Roapi(Peer):
    """ROAPI has no keys; its key-value stores answer one column, and only for text."""

    name = "ROAPI"

    def __init__(self, log: Path, binary: Path):
        super().__init__(log)
        self.binary = binary

    def command(self, tables, keys, in_memory=True, **options):
        # All three listeners always start; the other two get ports that nobody asks.
        command = [self.binary, "--addr-http", f"127.0.0.1:{self.port}", "--addr-postgres", f"127.0.0.1:{free_port()}",
                   "--addr-flight-sql", f"127.0.0.1:{free_port()}"]
        for name, path in tables.items():
            command += ["--table", f"{name}={path}" + ("" if in_memory else ",format=parquet,use_memory_table=false")]
        return command, {"RUST_LOG": "error"}

    def version(self) -> str:
        return subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
