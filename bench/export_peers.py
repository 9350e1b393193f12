"""Those that exports are measured against: DuckDB and chDB with two threads, each a process that writes the rows to a
pipe; and a process that has the very bytes of an answer in memory and sends them through a socket."""

import fcntl
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import export_client
from databases import Missing

SOURCES = Path(__file__).resolve().parent / "peers"
PIPE_BYTES = 1 << 20

# Serves a file from memory to as many connections as come, one after the other.
MEMORY = """
import socket, sys
bytes_ = memoryview(open(sys.argv[1], "rb").read())
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    with listener.accept()[0] as connection:
        connection.sendall(bytes_)
"""


class Engine:
    """A program that writes a file's rows to its standard output."""

    def __init__(self, name: str, module: str):
        self.name, self.module = name, module

    def version(self) -> str:
        try:
            return metadata.version(self.module)
        except metadata.PackageNotFoundError as missing:
            raise Missing(f"{self.module} is not installed; see bench/requirements.txt") from missing

    def write(self, file: Path, form: str, seen=None) -> tuple[float, int]:
        """Seconds from telling it to begin to the end of what it writes, and the bytes of that. Starting Python,
        loading the engine and opening the file first do not count."""
        command = [sys.executable, SOURCES / f"{self.module}_export.py", file, form]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            if process.stderr.readline() != b"ready\n":
                raise RuntimeError(f"{self.name}: {process.stderr.read()[-500:]!r}")
            started = time.perf_counter()
            process.stdin.write(b"\n")
            process.stdin.close()
            total = export_client.drained(process.stdout.fileno(), seen)
            seconds = time.perf_counter() - started
            if process.wait(60) != 0:
                raise RuntimeError(f"{self.name}: {process.stderr.read()[-500:]!r}")
            return seconds, total
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()


ENGINES = {"DuckDB": Engine("DuckDB", "duckdb"), "chDB": Engine("chDB", "chdb")}


class Memory:
    """The socket that serves bytes from memory."""

    def __init__(self, file: Path):
        self.process = subprocess.Popen([sys.executable, "-c", MEMORY, file], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def read(self) -> tuple[float, int]:
        return export_client.bare(self.port)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
