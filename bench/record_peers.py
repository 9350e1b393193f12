"""The servers that records are measured against: the Python port of PHP-CRUD-API's core, and PocketBase."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import blog
import databases
from peers import Peer, Request

SOURCES = Path(__file__).resolve().parent / "peers"


class PythonPort(Peer):
    """The founding text's program on bjoern: two processes that share one port (SO_REUSEPORT), each with the one
    connection to the database that it keeps."""

    name = "Python"

    def command(self, tables, keys, database=None, **options):
        one = f'"{sys.executable}" "{SOURCES / "python_port.py"}" {self.port} {database.port}'
        return ["sh", "-c", f"{one} & exec {one}"], {}

    def version(self) -> str:
        listed = subprocess.run([sys.executable, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
                                capture_output=True, text=True, check=True).stdout
        parts = dict(line.split("==") for line in listed.split() if "==" in line)
        return f"{sys.version.split()[0]} (bjoern {parts['bjoern']}, mysql-connector {parts['mysql-connector-python']})"


class PocketBase(Peer):
    """As it comes, with everybody let in. Its keys are text, so a row's number is written with 15 digits, as long as
    the keys it makes itself."""

    name = "PocketBase"
    who = {"identity": "bench@example.com", "password": "bench-bench-bench"}

    def __init__(self, log: Path, scratch: Path):
        super().__init__(log)
        self.binary, self.folder = scratch / "pocketbase", None

    def without_log(self) -> "PocketBase":
        """Another one on the same data. As it comes PocketBase writes every request into a second database."""
        other = PocketBase(self.log, self.binary.parent)
        other.name, other.folder = f"{self.name} without its log", self.folder.with_name("pocketbase-without-log")
        shutil.copytree(self.folder, other.folder)
        other.start({}, ready=Request("/api/health"))
        try:
            other.tell("/api/settings", {"logs": {"maxDays": 0}}, other.token(), "PATCH")
        finally:
            other.stop()
        return other

    def build(self) -> None:
        """Builds it, once for each version."""
        source = SOURCES / "pocketbase"
        stamp = self.binary.with_suffix(".mod")
        modules = (source / "go.mod").read_text()
        if self.binary.exists() and stamp.exists() and stamp.read_text() == modules:
            return
        go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
        if not go:
            raise databases.Missing("PocketBase needs Go (see bench/peers/pocketbase/go.mod), which is not installed")
        built = subprocess.run([go, "build", "-o", self.binary, "."], cwd=source, capture_output=True, text=True,
                               env={**os.environ, "CGO_ENABLED": "0"}, check=False)
        if built.returncode != 0:
            raise databases.Missing(f"PocketBase does not build: {built.stderr[-500:]}")
        stamp.write_text(modules)

    def command(self, tables, keys, **options):
        return [self.binary, "serve", "--http", f"127.0.0.1:{self.port}", "--dir", self.folder], {}

    def fill(self, folder: Path, tables: list[str]) -> None:
        """Makes the collections through its API, and puts the rows into its database while it is not running."""
        self.folder = folder
        databases.run([self.binary, "superuser", "upsert", *self.who.values(), "--dir", folder])
        self.start({}, ready=Request("/api/health"))
        try:
            token = self.token()
            for table in tables:
                self.tell("/api/collections", self.collection(table), token)
        finally:
            self.stop()
        database = sqlite3.connect(folder / "data.db")
        for table in tables:
            if table not in blog.ROWS:
                continue
            make, count = blog.ROWS[table]
            names = list(make(1))
            text = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
            rows = (make(number) | {"id": f"{number:015d}"} for number in range(1, count + 1))
            database.executemany(text, (tuple(row.values()) for row in rows))
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()

    @staticmethod
    def collection(table: str) -> dict:
        """The same columns and the same index."""
        columns = re.findall(r"(\w+) (integer|double precision|varchar)", blog.TABLES[table])
        indexes = [f"CREATE INDEX {table}_{column} ON {table} ({column})"
                   for of, column in blog.INDEXES if of == table]
        everybody = {f"{rule}Rule": "" for rule in ("list", "view", "create", "update", "delete")}
        fields = [{"name": name, "type": "text" if kind == "varchar" else "number"} for name, kind in columns]
        return {"name": table, "type": "base", "fields": fields, "indexes": indexes, **everybody}

    def token(self) -> dict:
        """The header of who may do everything."""
        return {"Authorization": self.tell("/api/collections/_superusers/auth-with-password", self.who, {})["token"]}

    def tell(self, path: str, body: dict, headers: dict, method: str = "POST") -> dict:
        headers = {"Content-Type": "application/json", **headers}
        status, _, answer = self.ask(Request(path, json.dumps(body), headers, method))
        if status != 200:
            raise SystemExit(f"PocketBase answers {status} to {path}: {answer[:500]!r}")
        return json.loads(answer)

    def count(self, table: str) -> int:
        return int(databases.run(["sqlite3", self.folder / "data.db", f"SELECT count(*) FROM {table}"]))

    def version(self) -> str:
        return re.search(r"pocketbase/pocketbase v(\S+)", (SOURCES / "pocketbase/go.mod").read_text())[1]
