"""An object store that counts what it sends: moto's S3 behind a proxy."""

import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import boto3

from databases import Missing
from peers import free_port

BUCKET = "bench"
CREDENTIALS = {"aws_access_key_id": "bench", "aws_secret_access_key": "bench-secret", "region_name": "us-east-1"}


class ObjectStore:
    """A running store with one object."""

    def __init__(self, log: Path):
        self.log, self.sent = log, 0
        self.listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> "ObjectStore":
        program = shutil.which("moto_server", path=Path(sys.executable).parent)
        if program is None:
            raise Missing("moto_server is not there; bench/requirements.txt lists it")
        self.port = free_port()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(self.port)], stdout=log, stderr=log)
        while self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.05)
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.listener.close()
        self.process.terminate()
        self.process.wait(30)

    def put(self, key: str, file: Path) -> None:
        """Stores a file, not through the proxy."""
        client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{self.port}", **CREDENTIALS)
        client.create_bucket(Bucket=BUCKET)
        client.upload_file(str(file), BUCKET, key)

    def settings(self) -> str:
        """Lines of a [[dataset]] whose object is in the store."""
        endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        return (f'store_endpoint = "{endpoint}"\nstore_region = "{CREDENTIALS["region_name"]}"\n'
                f'store_key_id = "{CREDENTIALS["aws_access_key_id"]}"\n'
                f'store_secret = "{CREDENTIALS["aws_secret_access_key"]}"\n')

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # It is closed.
                return
            server = socket.create_connection(("127.0.0.1", self.port))
            for source, target, counts in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.copy, args=(source, target, counts), daemon=True).start()

    def copy(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        try:
            while piece := source.recv(1 << 18):
                target.sendall(piece)
                if counts:
                    self.sent += len(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:  # One of the two has gone.
            pass
