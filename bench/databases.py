"""The databases that records are measured on. Each runs on its own folder and port, with the settings it comes with
but for memory and the number of connections, and holds the tables of blog.py. Everything goes through the databases'
own command-line programs."""

import getpass
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import blog
from export_client import drained
from load import Round
from peers import free_port

CONNECTIONS_MAX = 300


class Missing(Exception):
    """A program that is not installed; xtask/setup.sh bench brings all of them on Debian."""


class Database:
    """A running database."""

    name = "database"
    loader = "its own bulk loader"
    key = ""  # how a primary key is spelled that counts up by itself

    def __init__(self, folder: Path):
        self.folder, self.port, self.process = folder, 0, None
        self.url = ""

    def start(self) -> None:
        """Makes an empty database and starts its server, if it has one."""

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait(60)
        self.process = None

    def sql(self, text: str) -> str:
        """Runs statements; what they print."""
        raise NotImplementedError

    def load(self, table: str, file: Path) -> float:
        """Loads a CSV file with the database's own bulk loader; the seconds it took."""
        raise NotImplementedError

    def fill(self, data: Path) -> None:
        """Makes the tables and what is in them."""
        self.sql(blog.schema(self.key))
        for table in ("posts", "comments", "tags", "post_tags", "items"):
            self.load(table, blog.as_csv(data, table))
        self.sql(blog.indexes())

    def empty(self, table: str) -> None:
        self.sql(f"TRUNCATE TABLE {table}")

    def count(self, table: str) -> int:
        return int(self.sql(f"SELECT count(*) FROM {table}"))

    def at(self, port: int) -> str:
        """The address of this database when something stands before its port."""
        return self.url.replace(f":{self.port}/", f":{port}/")

    def wait(self) -> None:
        """Until the server answers."""
        for _ in range(600):
            if self.process.poll() is not None:
                break
            try:
                self.sql("SELECT 1")
                return
            except RuntimeError:
                time.sleep(0.1)
        raise SystemExit(f"{self.name} did not start; see {self.folder}.log")

    def spawn(self, command: list, **options) -> None:
        with open(f"{self.folder}.log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, **options)


class Sqlite(Database):
    name = "SQLite"
    loader = "sqlite3 .import"
    key = "integer PRIMARY KEY"

    def start(self) -> None:
        program("sqlite3")
        self.folder.mkdir()
        self.path = self.folder / "blog.db"
        self.url = f"sqlite:{self.path}"
        self.sql("PRAGMA journal_mode = wal")

    def sql(self, text: str) -> str:
        return run(["sqlite3", "-bail", "-cmd", ".timeout 60000", self.path, text])

    def empty(self, table: str) -> None:
        self.sql(f"DELETE FROM {table}; PRAGMA wal_checkpoint(truncate)")

    def load(self, table: str, file: Path) -> float:
        return timed(["sqlite3", "-bail", "-cmd", ".timeout 60000", self.path, f".import --csv {file} {table}"])

    def version(self) -> str:
        return run(["sqlite3", "--version"]).split()[0]


class Postgres(Database):
    name = "PostgreSQL"
    loader = r"psql \copy"
    key = "serial PRIMARY KEY"

    def start(self) -> None:
        self.folder.mkdir()
        # PostgreSQL's server does not run as root; the package's own user does it then.
        owner = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        if owner:
            shutil.chown(self.folder, **owner)
        data = self.folder / "data"
        run([postgres("initdb"), "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", data],
            cwd=self.folder, **owner)
        self.port = free_port()
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/bench"
        self.base = "postgres"
        self.spawn([postgres("postgres"), "-D", data, "-p", str(self.port), "-k", self.folder,
                    "-c", "listen_addresses=127.0.0.1", "-c", f"max_connections={CONNECTIONS_MAX}",
                    "-c", "shared_buffers=512MB"], cwd=self.folder, **owner)
        self.wait()
        self.sql("CREATE DATABASE bench")
        self.base = "bench"

    def stop(self) -> None:
        if self.process:
            self.process.send_signal(2)  # Cuts off the connections that are left; SIGTERM would wait for them.
        super().stop()

    def client(self) -> list:
        return ["psql", "-X", "-qAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U",
                "postgres", "-d", self.base]

    def sql(self, text: str) -> str:
        return run([*self.client(), "-c", text])

    def load(self, table: str, file: Path) -> float:
        return timed([*self.client(), "-c", f"\\copy {table} from '{file}' with (format csv)"])

    def copied(self, table: str) -> tuple[float, int]:
        """Seconds until `psql` has copied a table out, from its start on, and the bytes."""
        started = time.perf_counter()
        command = [*self.client(), "-c", f"COPY {table} TO STDOUT"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            total = drained(process.stdout.fileno())
        if process.returncode != 0:
            raise RuntimeError(f"psql could not copy {table}")
        return time.perf_counter() - started, total

    def fill(self, data: Path) -> None:
        super().fill(data)
        bench = [postgres("pgbench"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        run([*bench, "-i", "-q", "-s", str(blog.POSTS // 100_000), "bench"])  # as many rows as there are posts
        self.sql("VACUUM ANALYZE")
        self.bench = bench

    def pgbench(self, seconds: int, connections: int, mode: str) -> Round:
        """What `pgbench -S` reaches: one row by its key, for each transaction."""
        said = run([*self.bench, "-S", "-n", "-M", mode, "-c", str(connections), "-j", "2", "-T", str(seconds),
                    "bench"])
        failed = int(re.search(r"number of failed transactions: (\d+)", said)[1])
        done = int(re.search(r"number of transactions actually processed: (\d+)", said)[1])
        return Round(float(re.search(r"tps = ([\d.]+)", said)[1]), None, None, broken=failed, requests=done)

    def version(self) -> str:
        return run([postgres("postgres"), "--version"]).split()[2]


class Mariadb(Database):
    """With the user, password and database of the Python port's text."""

    name = "MariaDB"
    loader = "LOAD DATA LOCAL INFILE"
    key = "integer AUTO_INCREMENT PRIMARY KEY"
    owner = "php-crud-api"

    def start(self) -> None:
        self.folder.mkdir()
        data = self.folder / "data"
        run([program("mariadb-install-db"), "--no-defaults", f"--datadir={data}", f"--user={getpass.getuser()}",
             "--auth-root-authentication-method=normal", "--skip-test-db"])
        self.port = free_port()
        self.url = f"mysql://{self.owner}:{self.owner}@127.0.0.1:{self.port}/{self.owner}"
        self.spawn([program("mariadbd"), "--no-defaults", f"--datadir={data}", f"--user={getpass.getuser()}",
                    f"--port={self.port}", f"--socket={self.folder}/socket", f"--pid-file={self.folder}/pid",
                    "--bind-address=127.0.0.1", "--skip-name-resolve", "--local-infile=1",
                    f"--max-connections={CONNECTIONS_MAX}", "--innodb-buffer-pool-size=512M",
                    "--character-set-server=utf8mb4"])
        self.client = ["mariadb", "--no-defaults", f"--socket={self.folder}/socket", "--user=root"]
        self.wait()
        self.sql(f"CREATE DATABASE `{self.owner}`; CREATE USER `{self.owner}`@`%` IDENTIFIED BY '{self.owner}';"
                 f"GRANT ALL ON `{self.owner}`.* TO `{self.owner}`@`%`")
        self.client = ["mariadb", "--no-defaults", "--local-infile=1", "--host=127.0.0.1", f"--port={self.port}",
                       f"--user={self.owner}", f"--password={self.owner}", self.owner]

    def sql(self, text: str) -> str:
        return run([*self.client, "--batch", "--skip-column-names", "--execute", text])

    def load(self, table: str, file: Path) -> float:
        text = f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE {table} CHARACTER SET utf8mb4 FIELDS TERMINATED BY ','"
        return timed([*self.client, "--execute", text])

    def version(self) -> str:
        return run([program("mariadbd"), "--no-defaults", "--version"]).split()[2]


def program(name: str) -> str:
    """Where a program is; servers are often in a folder that is not in everybody's PATH."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin")
    if not found:
        raise Missing(f"{name} is not installed")
    return found


def postgres(name: str) -> str:
    """A program of PostgreSQL's newest version, which Debian keeps out of the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    return str(folders[-1] / name) if folders and (folders[-1] / name).exists() else program(name)


def run(command: list, **options) -> str:
    """What a program prints, which must end well."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))[:400]}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def timed(command: list) -> float:
    started = time.perf_counter()
    run(command)
    return time.perf_counter() - started
