"""Measures two builds of Salver in turns: what a change costs, row by row.

    python bench/turns.py OLD NEW                       two binaries, every row
    python bench/turns.py OLD NEW --only key,event-disk --starts 10

A turn of each that does not count comes first, then rounds of four turns: old, new, new, old, and in the next round
new, old, old, new. Where both write, turns become slower from one to the next (the first ones get memory that the
system has free), and a build beside itself had 0.83 of its own rate when every round had two turns. What counts is the
median of the rounds' ratios: absolute numbers depend on the machine and on what else it does. Many short rounds say
more than a few long ones. Both are started anew after some: where its memory lies makes a process up to a twentieth
faster than another of the same build.
The second ratio is that of requests for the server's own processor time, all rounds together, of which the client takes
no part. Needs what bench/requirements.txt lists of pyarrow and numpy, and the rows with a broker or another database
need what those need: both builds use the same broker, with a topic each, and the same databases.
"""

import argparse
import sqlite3
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import data
import databases
import load
import record_works
import stream_works
import works
from peers import Request, Salver
from stream_peers import Kafka

ROOT = Path(__file__).resolve().parent.parent
POSTS = 1_000_000


@dataclass(frozen=True)
class Row:
    """Many small requests at once."""

    key: str
    request: Request
    connections: int = 50
    needs: str = ""  # what is started besides the two builds


LISTED = "/api/records/{table}?filter=category_id,eq,{{of50000}}&order=id,desc&size=20"
ROWS = [Row("health", Request("/health"))]
ROWS += [Row(work.key, work.request, work.connections) for work in works.SMALL]
ROWS += [Row("read-sqlite", record_works.READ, 16)]
ROWS += [Row("list-sqlite", Request("/api/records/posts?filter=views,eq,{n}&page=1,20"), 16)]
for base in ("postgresql", "mariadb"):
    ROWS.append(Row(f"read-{base}", Request("/api/records/" + base + ".posts/{id}"), 16, base))
    ROWS.append(Row(f"list-{base}", Request(LISTED.format(table=f"{base}.posts")), 16, base))
ROWS += [Row(work.key, work.request, work.connections, "" if work.sink == "log" else work.sink)
         for work in stream_works.APPENDED]
# What went out in a second is a few whole tables: the longer the turns, the better.
ROWS += [Row("export-file", Request("/api/export/orders.csv"), 2)]
ROWS += [Row("export-sqlite", Request("/api/export/posts.csv"), 2)]
ROWS += [Row("fib-10", Request("/api/functions/fib/fib", '{"n": 10}', stream_works.JSON), 4)]
FIB = "def fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"


class Tally:
    """What the rounds of one row came to, of the old build and of the new one."""

    def __init__(self, row: Row):
        self.row = row
        self.ratios: list[float] = []
        self.rates: tuple[list[float], list[float]] = ([], [])
        self.spent, self.answered, self.first = [0, 0], [0, 0], 1

    def ratio(self) -> float:
        return statistics.median(self.ratios)

    def __str__(self) -> str:
        old, new = (statistics.median(rate) for rate in self.rates)
        own = (self.answered[1] / max(self.spent[1], 1)) / (self.answered[0] / max(self.spent[0], 1))
        low, high = (statistics.quantiles(self.ratios, n=4)[at] if len(self.ratios) > 1 else self.ratio()
                     for at in (0, 2))
        rates = f"{self.row.key:14} {old:10,.0f}/s {new:10,.0f}/s {self.ratio():6.3f}"
        return f"{rates}  (half of the rounds {low:.2f} to {high:.2f}; for processor time {own:.3f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="the binary that was")
    parser.add_argument("new", type=Path, help="the binary that is")
    parser.add_argument("--only", default=",".join(row.key for row in ROWS), help="comma-separated rows")
    parser.add_argument("--starts", type=int, default=5, help="how often both are started anew")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of each row after each start")
    parser.add_argument("--seconds", type=int, default=1, help="length of one turn")
    parser.add_argument("--least", type=float, default=0.97, help="the ratio below which a row is marked")
    options = parser.parse_args()
    tallies = [Tally(row) for row in ROWS if row.key in options.only.split(",")]
    with tempfile.TemporaryDirectory(prefix="salver-turns-", dir="/var/tmp") as folder:
        # A database's server runs as a user of its own, who must get to its folder.
        Path(folder).chmod(0o755)
        binaries = (("old", options.old), ("new", options.new))
        named = [(prepare(Path(folder) / name), binary) for name, binary in binaries]
        around = Around(Path(folder))
        try:
            around.start({tally.row.needs for tally in tallies})
            for number in range(options.starts):
                builds = [start(home, binary, number, around) for home, binary in named]
                try:
                    for tally in tallies:
                        measure(tally, builds, options)
                finally:
                    for build in builds:
                        build.stop()
        finally:
            around.stop()
    for tally in tallies:
        print(f"{tally}{'  <' if tally.ratio() < options.least else ''}")
    low = [tally.row.key for tally in tallies if tally.ratio() < options.least]
    print(f"below {options.least}: {', '.join(low) or 'none'}")
    return 1 if low else 0


class Around:
    """The broker and the databases that both builds use, where a row needs them."""

    def __init__(self, folder: Path):
        self.folder, self.broker = folder, None
        self.databases: dict[str, databases.Database] = {}

    def start(self, needs: set[str]) -> None:
        if "kafka" in needs:
            self.broker = Kafka(self.folder / "kafka.log", self.folder / "kafka")
            self.broker.start()
        for name, kind in (("postgresql", databases.Postgres), ("mariadb", databases.Mariadb)):
            if name in needs:
                self.databases[name] = base = kind(self.folder / name)
                base.start()
                base.fill(ROOT / ".bench/data")

    def stop(self) -> None:
        for peer in (self.broker, *self.databases.values()):
            if peer:
                peer.stop()

    def streams(self, folder: Path, number: int) -> dict:
        """A stream for each work; a build has its topics for all of its starts."""
        found = {}
        for work in stream_works.APPENDED:
            settings = {"sink": work.sink, "dir": str(folder / f"{work.stream}-{number}")}
            if work.sink == "kafka":
                if not self.broker:
                    continue
                topic = f"{folder.name}-{work.stream}"
                if number == 0:
                    self.broker.make(topic)
                settings |= {"brokers": [self.broker.address], "topic": topic}
            found[work.stream] = settings
        return found


def prepare(folder: Path) -> Path:
    """A SQLite database and a function for one build."""
    folder.mkdir()
    with sqlite3.connect(folder / "blog.db") as database:
        database.execute("create table posts (id integer primary key, title text, content text, views integer)")
        rows = ((at, f"post {at}", "some text of a usual length, as posts have it", at % 977)
                for at in range(1, POSTS + 1))
        database.executemany("insert into posts values (?, ?, ?, ?)", rows)
    database.close()
    (folder / "fib.py").write_text(FIB)
    return folder


def start(folder: Path, binary: Path, number: int, around: Around) -> Salver:
    """A server of one build, with files, a database, fresh streams and a function of its own."""
    tables = {"uk_cities": ROOT / "examples/demo/data/uk_cities.csv",
              "orders": data.orders(ROOT / ".bench/data", 1_000_000)}
    urls = {"b": f"sqlite:{folder / 'blog.db'}"} | {name: base.url for name, base in around.databases.items()}
    build = Salver(folder / "salver.log", binary.resolve())
    build.start(tables, {"orders": "id"}, ready=Request("/ready"), databases=urls,
                streams=around.streams(folder, number), functions={"fib": {"file": str(folder / "fib.py")}})
    return build


def measure(tally: Tally, builds: list[Salver], options) -> None:
    """Rounds of one row."""
    row = tally.row
    for build in builds:
        status, _, body = build.ask(row.request.numbered(1))
        if not 200 <= status < 300:
            raise SystemExit(f"{row.key}: {build.binary} answers {status}: {body[:300]!r}")
        load.wrk(build, row.request, options.seconds, row.connections, tally.first)
        tally.first += 50_000_000
    for turn in range(options.rounds):
        for at in (0, 1, 1, 0) if turn % 2 == 0 else (1, 0, 0, 1):
            before = ticks(builds[at])
            done = load.wrk(builds[at], row.request, options.seconds, row.connections, tally.first)
            tally.spent[at] += ticks(builds[at]) - before
            tally.answered[at] += done.requests
            tally.first += 50_000_000
            if done.not_2xx or done.broken:
                print(f"  WRONG: {row.key}: {done.not_2xx} not 2xx, {done.broken} broken", file=sys.stderr)
            tally.rates[at].append(done.per_second)
        (old, new) = (sum(rates[-2:]) for rates in tally.rates)
        tally.ratios.append(new / old)


def ticks(build: Salver) -> int:
    """Processor time of the server so far, in the system's ticks (proc(5))."""
    stat = Path(f"/proc/{build.process.pid}/stat").read_text()
    user, system = stat.rsplit(")", 1)[1].split()[11:13]
    return int(user) + int(system)


if __name__ == "__main__":
    sys.exit(main())
