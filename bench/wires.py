"""Measures what programs of databases and of columns read: PostgreSQL's protocol beside PostgreSQL itself, Arrow Flight
SQL beside the same rows over HTTP, and Parquet in an object store beside the same file on disk."""

import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import data
import load
import works
from databases import Missing, Postgres, postgres, run
from peers import Request, Salver, free_port

TITLE = "Wires and object stores"
NOTE = """psycopg asks for binary results; "received" is until libpq has all of them. The object store is moto's, behind
a proxy that counts what it sends. "Needed" is what the footer says of the columns of the row groups that have the
rows."""
ROWS, OBJECT_ROWS, CONNECTIONS = 1_000_000, 10_000_000, 16
# 1 % of the rows, and 3 of the 7 columns, one of them for the filter.
COLUMNS, FROM, TO = ("id", "user", "amount"), 5_000_000, 5_100_000
PART = Request("/api/sql", f'SELECT "user", amount FROM orders WHERE id >= {FROM} AND id < {TO}', works.ARROW)
LOOK_UP = next(work.request for work in works.SMALL if work.key == "key")
KEYS = ["wire-rows", "wire-small", "flight-rows", "store-part", "store-key"]
TABLE = """CREATE TABLE orders (id bigint PRIMARY KEY, "user" bigint, amount double precision, color text,
           created_at timestamp, active boolean, note text)"""
POINT = "\\set id random(0, {last})\nSELECT amount FROM orders WHERE id = :id;\n"


def keys() -> list[str]:
    return KEYS


def measure(options, names, chosen, results, scratch: Path) -> None:
    if "Salver" not in names or not any(map(chosen, KEYS)):
        return
    results.section(TITLE, NOTE.replace("\n", " "))
    with tempfile.TemporaryDirectory(prefix="salver-bench-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        measured = Measured(options, results, scratch, Path(folder))
        results.versions |= {"Salver": measured.salver("version").version()}
        try:
            if any(chosen(key) for key in KEYS[:3]):
                measured.wires(chosen)
            if any(chosen(key) for key in KEYS[3:]):
                measured.store(chosen)
        except (Missing, ImportError, RuntimeError, SystemExit) as reason:
            results.fault(f"wires were not measured to the end: {reason}")


class Measured:
    """One run of the works that were chosen."""

    def __init__(self, options, results, scratch, folder):
        self.options, self.results, self.scratch, self.folder = options, results, scratch, folder

    def salver(self, name: str) -> Salver:
        return Salver(self.folder / f"{name}.log", self.options.salver.resolve())

    def wires(self, chosen) -> None:
        """The same rows in PostgreSQL and in Salver."""
        path = data.orders(self.scratch / "data", ROWS)
        ours, theirs = self.salver("wires"), Postgres(self.folder / "postgresql")
        wire, flight = free_port(), free_port()
        theirs.start()
        try:
            theirs.sql(TABLE)
            theirs.load("orders", as_csv(path, self.folder / "orders.csv"))
            theirs.sql("VACUUM ANALYZE")
            self.results.versions |= {"PostgreSQL": theirs.version()}
            ours.start({"orders": path}, {"orders": "id"}, ready=Request("/ready"),
                       more=f'[wire]\npostgres = "127.0.0.1:{wire}"\nflight = "127.0.0.1:{flight}"\n')
            try:
                if chosen("wire-rows"):
                    note("psycopg")
                    self.rows({"Salver": wire, "PostgreSQL": theirs.port})
                if chosen("wire-small"):
                    note("pgbench")
                    self.small({"Salver": wire, "PostgreSQL": theirs.port})
                if chosen("flight-rows"):
                    note("Flight SQL")
                    self.flight(ours, flight)
            finally:
                ours.stop()
        finally:
            theirs.stop()

    def rows(self, ports: dict[str, int]) -> None:
        import psycopg

        received, read = {name: [] for name in ports}, {name: [] for name in ports}
        for _ in range(2 * self.options.rounds + 1):
            for name, port in ports.items():
                with psycopg.connect(f"host=127.0.0.1 port={port} user=postgres dbname=bench", autocommit=True) as link:
                    started = time.perf_counter()
                    cursor = link.cursor(binary=True).execute("SELECT * FROM orders")
                    received[name].append(time.perf_counter() - started)
                    if len(cursor.fetchall()) != ROWS:
                        self.results.fault(f"wire-rows: {name} sends other rows")
                    read[name].append(time.perf_counter() - started)
        for what, taken, target in (("received", received, 1.5), ("as Python values", read, None)):
            self.compared("wire-rows", f"`SELECT *` of 1 M rows, psycopg, {what}", taken, "PostgreSQL", target)

    def small(self, ports: dict[str, int]) -> None:
        """As `pgbench -S` does, in the way it asks by default, and with prepared statements."""
        script = self.folder / "point.sql"
        script.write_text(POINT.format(last=ROWS - 1))
        for mode in ("simple", "prepared"):
            rates = {name: [] for name in ports}
            for _ in range(self.options.rounds):
                for name, port in ports.items():
                    said = run([postgres("pgbench"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-n", "-f",
                                script, "-M", mode, "-c", str(CONNECTIONS), "-j", "2", "-T",
                                str(self.options.seconds), "bench"])
                    if int(re.search(r"number of failed transactions: (\d+)", said)[1]):
                        self.results.fault(f"wire-small: {name} failed")
                    rates[name].append(float(re.search(r"tps = ([\d.]+)", said)[1]))
            self.results.keep("wires", f"wire-small-{mode}", rates)
            ours, theirs = (statistics.median(rates[name]) for name in ports)
            self.results.row(f"one row by its key, {CONNECTIONS} connections, {mode}", f"{ours:,.0f}/s",
                             f"{theirs:,.0f}/s (PostgreSQL)", ours / theirs, 1 if mode == "simple" else None,
                             key="wire-small")

    def flight(self, ours: Salver, port: int) -> None:
        import adbc_driver_flightsql.dbapi as flight
        import pyarrow.ipc
        import urllib.request

        taken = {"Salver": [], "HTTP": []}
        request = urllib.request.Request(f"http://127.0.0.1:{ours.port}/api/sql", b"SELECT * FROM orders",
                                         works.ARROW)
        with flight.connect(f"grpc://127.0.0.1:{port}", autocommit=True) as link, link.cursor() as cursor:
            for _ in range(2 * self.options.rounds + 1):
                started = time.perf_counter()
                cursor.execute("SELECT * FROM orders")
                one = cursor.fetch_arrow_table()
                taken["Salver"].append(time.perf_counter() - started)
                started = time.perf_counter()
                with urllib.request.urlopen(request) as answer:
                    other = pyarrow.ipc.open_stream(answer).read_all()
                taken["HTTP"].append(time.perf_counter() - started)
                if not one.num_rows == other.num_rows == ROWS:
                    self.results.fault("flight-rows: other rows")
        self.compared("flight-rows", "`SELECT *` of 1 M rows, ADBC for Flight SQL", taken, "HTTP", 0.6)

    def compared(self, key: str, name: str, taken, peer: str, target) -> None:
        """Seconds of both, of which the first do not count."""
        self.results.keep("wires", f"{key} {name}", taken)
        ours, theirs = (statistics.median(taken[who][1:]) for who in ("Salver", peer))
        self.results.row(name, f"{ours:.2f} s", f"{theirs:.2f} s ({peer})", theirs / ours, target, key=key)

    def store(self, chosen) -> None:
        """The same file on disk and in an object store."""
        from object_store import BUCKET, ObjectStore

        path = data.orders(self.scratch / "data", OBJECT_ROWS)
        with ObjectStore(self.folder / "store.log") as store:
            note("an object of S3")
            store.put(path.name, path)
            far, near = self.salver("far"), self.salver("near")
            # Memory would hold all rows: they are scanned where they lie.
            entry = '[[dataset]]\nname = "orders"\nmemory = "never"\nkey = ["id"]\nsource = '
            try:
                near.start({}, ready=Request("/ready"), more=f'{entry}"{path}"\n')
                far.start({}, ready=Request("/ready"),
                          more=f'{entry}"s3://{BUCKET}/{path.name}"\n{store.settings()}')
                if chosen("store-part"):
                    self.part(store, path, far, near)
                if chosen("store-key"):
                    self.look_ups(far, near)
            finally:
                far.stop()
                near.stop()

    def part(self, store, path: Path, far: Salver, near: Salver) -> None:
        before, needed = store.sent, bytes_needed(path)
        answers = {peer: peer.ask(PART) for peer in (far, near)}
        fetched = store.sent - before
        if len({answer[2] for answer in answers.values()}) != 1 or answers[far][0] != 200:
            self.results.fault(f"store-part: other rows: {answers[far][:2]} {answers[near][:2]}")
        self.results.keep("wires", "store-part", {"fetched": fetched, "needed": needed})
        name = "2 of 7 columns of 1 % of 10 M rows of Parquet in S3"
        self.results.row(f"{name}: bytes", f"{fetched / 1e6:.2f} MB", f"{needed / 1e6:.2f} MB (needed)",
                         fetched / needed, "<= 1.2 x", met=fetched <= 1.2 * needed, key="store-part")
        taken = {"far": [], "near": []}
        for _ in range(20 * self.options.rounds):
            taken["far"].append(load.download(far, PART)[0])
            taken["near"].append(load.download(near, PART)[0])
        self.results.keep("wires", "store-again", taken)
        ours, theirs = (statistics.median(seconds) * 1000 for seconds in taken.values())
        self.results.row(f"{name}: again", f"{ours:.1f} ms", f"{theirs:.1f} ms (the file)", ours / theirs, "<= 1.3 x",
                         met=ours <= 1.3 * theirs, key="store-part")

    def look_ups(self, far: Salver, near: Salver) -> None:
        rounds = {"far": [], "near": []}
        for turn in range(self.options.rounds + 1):
            for at, (name, peer) in enumerate((("far", far), ("near", near))):
                start = (2 * turn + at) * 50_000_000
                rounds[name].append(load.wrk(peer, LOOK_UP, self.options.seconds, CONNECTIONS, start))
        self.results.failed("store-key", rounds)
        rates = {name: [done.per_second for done in list_[1:]] for name, list_ in rounds.items()}
        self.results.keep("wires", "store-key", rates)
        ours, theirs = (statistics.median(list_) for list_ in rates.values())
        self.results.row("key look-ups in that object", f"{ours:,.0f}/s", f"{theirs:,.0f}/s (the file)", ours / theirs,
                         0.97, key="store-key")


def bytes_needed(path: Path) -> int:
    """What the chunks of the columns take in the row groups that have some of the rows."""
    import pyarrow.parquet

    footer, total = pyarrow.parquet.read_metadata(path), 0
    for index in range(footer.num_row_groups):
        chunks = {footer.schema.column(at).name: footer.row_group(index).column(at)
                  for at in range(footer.num_columns)}
        ids = chunks["id"].statistics
        if ids.max >= FROM and ids.min < TO:
            total += sum(chunks[name].total_compressed_size for name in COLUMNS)
    return total


def as_csv(path: Path, target: Path) -> Path:
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.csv.write_csv(pyarrow.parquet.read_table(path), target,
                          pyarrow.csv.WriteOptions(include_header=False))
    return target


def note(text: str) -> None:
    print(f"measuring {text}", file=sys.stderr, flush=True)
