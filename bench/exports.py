"""Measures exports: Salver over HTTP, and DuckDB and chDB writing the same rows to a pipe, in turns."""

import json
import sys
import tempfile
from pathlib import Path

import databases
import export_client as client
import export_data
import export_works as works
from databases import Missing
from export_peers import ENGINES, Memory
from peers import Request, Salver

TITLE = "Exports: against DuckDB, chDB and PostgreSQL's COPY"
NOTE = f"""Generated Parquet (snappy) of seven columns: two integers, a float, a short and a longer text of which some
need escapes, a timestamp, a boolean; with nulls. Everybody is read by the same kind of loop, Salver through a socket,
DuckDB and chDB (two threads, started and warm before the clock runs) through a pipe. "memory" is a process that sends
the very bytes of Salver's answer from memory. A batch has {works.BATCH:,} rows."""


def keys() -> list[str]:
    return works.KEYS


def measure(options, names, chosen, results, scratch: Path) -> None:
    results.section(TITLE, NOTE.replace("\n", " "))
    try:
        Measured(options, names, results, scratch).run(chosen)
    # What was measured is written down all the same.
    except (Missing, RuntimeError, SystemExit, client.Answer) as reason:
        results.fault(f"exports were not measured to the end: {reason}")


class Measured:
    """One run of the works that were chosen."""

    def __init__(self, options, names, results, scratch):
        self.options, self.names, self.results, self.scratch = options, names, results, scratch
        self.salver = Salver(scratch / "salver.log", options.salver.resolve())
        self.files, self.streamed = {}, []

    def run(self, chosen) -> None:
        self.results.versions["Salver"] = self.salver.version()
        if any(chosen(key) for key in works.KEYS if key != works.POSTGRES):
            self.files = {name: export_data.events(self.scratch / "data", rows) for name, rows in works.SIZES.items()}
            self.salver.start(self.files, ready=Request(f"/api/tables/{works.LARGEST}?limit=1"))
            try:
                self.of_files(chosen)
            finally:
                self.salver.stop()
        if chosen(works.POSTGRES):
            self.note("a table of PostgreSQL")
            with tempfile.TemporaryDirectory(prefix="salver-bench-", dir="/var/tmp") as folder:
                self.of_postgres(Path(folder))

    def of_files(self, chosen) -> None:
        self.idle_mb = self.salver.memory_mb()
        self.results.memory(self.salver, "three Parquet files, idle")
        if chosen(works.FIRST):
            self.note("the first batch")
            self.first()
        for work in works.WHOLE:
            if chosen(work.key):
                self.note(work.name)
                self.whole(work)
        if chosen(works.BATCHES):
            self.note("batch by batch")
            self.batches()
        self.results.memory(self.salver, "after whole exports")
        if chosen(works.SLOW):
            self.note(f"{works.READERS} slow readers")
            self.slow()

    def first(self) -> None:
        """The first documents of an export, whatever its size."""
        seconds = {name: [] for name in works.SIZES}
        for turn in range(20 * self.options.rounds):
            for name, taken in seconds.items():
                time, rows = client.first_batch(self.salver.port, name, works.BATCH)
                taken.append(time)
                if [row["id"] for row in rows] != list(range(works.BATCH)):
                    self.results.fault(f"{works.FIRST}: the first batch of {name} is another")
        self.results.first_batch(works, seconds)

    def whole(self, work: works.Whole) -> None:
        """Everything, by Salver and its peers in turns."""
        path = f"/api/export/{works.LARGEST}.{work.suffix}"
        turns, memory = {"Salver": lambda: client.whole(self.salver.port, path)}, None
        with tempfile.TemporaryDirectory(prefix="salver-bench-", dir="/var/tmp") as folder:
            if "memory" in work.targets:
                bytes_ = Path(folder) / "answer"
                bytes_.write_bytes(self.salver.ask(Request(path))[2])
                memory = Memory(bytes_)
                turns["memory"] = memory.read
            for name in set(self.names) & set(work.formats) & set(ENGINES):
                engine, form = ENGINES[name], work.formats[name]
                self.results.versions[name] = engine.version()
                turns[name] = lambda engine=engine, form=form: engine.write(self.files[works.LARGEST], form)
            try:
                if work.suffix == "ndjson":
                    self.check(path, work)
                rounds = {name: [] for name in turns}
                for _ in range(self.options.rounds):
                    for name, turn in turns.items():
                        rounds[name].append(turn())
            finally:
                if memory:
                    memory.stop()
        if work.suffix == "ndjson":
            self.streamed = rounds["Salver"]
        self.results.exported(work.key, work.name, works.SIZES[works.LARGEST], work.targets, rounds)

    def check(self, path: str, work) -> None:
        """The same rows by everybody, as far as the formats of times allow; once, and not on the clock."""
        ours = Rows()
        ours.see(memoryview(self.salver.ask(Request(path))[2]))
        for name in set(self.names) & set(work.formats) & set(ENGINES):
            theirs = Rows()
            ENGINES[name].write(self.files[works.LARGEST], work.formats[name], theirs.see)
            if ours.count != theirs.count or ours.rows() != theirs.rows():
                self.results.fault(f"{work.key}: Salver's {ours.count} rows are not {name}'s {theirs.count}")

    def batches(self) -> None:
        """One batch after the other over one connection, and the same rows streamed."""
        path, rows = f"/api/export/{works.LARGEST}.ndjson", works.SIZES[works.LARGEST]
        if not self.streamed:
            self.streamed = [client.whole(self.salver.port, path) for _ in range(self.options.rounds)]
        rounds = []
        for _ in range(self.options.rounds):
            seconds, batches, total = client.by_batches(self.salver.port, works.LARGEST, works.BATCH)
            rounds.append((seconds, total))
            if batches != rows // works.BATCH:
                self.results.fault(f"{works.BATCHES}: {batches} batches of {works.BATCH} rows")
        name = f"10 M rows in batches of {works.BATCH:,}, one client"
        turns = {"Salver": rounds, "streamed": self.streamed}
        self.results.exported(works.BATCHES, name, rows, {"streamed": 0.7}, turns)

    def slow(self) -> None:
        """Many clients that take next to nothing of ten million rows."""
        highest = 0.0

        def watch():
            nonlocal highest
            highest = max(highest, self.salver.memory_mb())

        path = f"/api/export/{works.LARGEST}.ndjson"
        client.slow_readers(self.salver.port, path, works.READERS, 4 * self.options.seconds, watch)
        self.results.slow_readers(works, highest - self.idle_mb, self.idle_mb)

    def of_postgres(self, folder: Path) -> None:
        """A table of a million rows; `psql` reads it through a socket too."""
        rows = 1_000_000
        folder.chmod(0o755)  # PostgreSQL's server runs as somebody else.
        database = databases.Postgres(folder / "postgres")
        database.start()
        try:
            self.results.versions["PostgreSQL"] = database.version()
            fill(database, export_data.events(self.scratch / "data", rows), folder)
            self.salver.start({}, ready=Request("/ready"), databases={"pg": database.url})
            try:
                name = next(name for name in ("pg.events", "events") if self.salver.ask(
                    Request(f"/api/tables/{name}?limit=1"))[0] == 200)
                path = f"/api/export/{name}.ndjson"
                body = self.salver.ask(Request(path))[2]
                if body.count(b"\n") != rows:
                    self.results.fault(f"{works.POSTGRES}: {body.count(10)} rows instead of {rows}")
                rounds = {"Salver": [], "psql": []}
                for _ in range(self.options.rounds):
                    rounds["Salver"].append(client.whole(self.salver.port, path))
                    rounds["psql"].append(database.copied("events"))
            finally:
                self.salver.stop()
        finally:
            database.stop()
        self.results.exported(works.POSTGRES, "a table of PostgreSQL, 1 M rows, as NDJSON", rows, {"psql": 0.7}, rounds)

    def note(self, text: str) -> None:
        print(f"measuring exports: {text}", file=sys.stderr, flush=True)


class Rows:
    """Counts the lines of NDJSON that goes by, and keeps the first thousand."""

    def __init__(self):
        self.count, self.head = 0, bytearray()

    def see(self, piece: memoryview) -> None:
        self.count += bytes(piece).count(b"\n")
        if len(self.head) < 1 << 19:
            self.head += piece[: 1 << 19]

    def rows(self) -> list:
        rows = [json.loads(line) for line in self.head.splitlines()[: works.BATCH]]
        # ClickHouse quotes large numbers unless told, and everybody writes times in a way of their own.
        return [[int(row["id"]), row["user"], row["amount"], row["kind"], row["note"], row["active"]] for row in rows]


def fill(database, rows: Path, folder: Path) -> None:
    """The same kind of rows in a table."""
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    file = folder / "events.csv"
    csv.write_csv(parquet.read_table(rows), file, csv.WriteOptions(include_header=False))
    file.chmod(0o644)
    database.sql("CREATE TABLE events (id bigint PRIMARY KEY, \"user\" integer, amount double precision, kind text,"
                 " note text, at timestamp, active boolean)")
    database.load("events", file)
    database.sql("VACUUM ANALYZE events")
