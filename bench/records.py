"""Measures records: one database after the other, Salver and its rivals on it in turns."""

import json
import os
import sys
import tempfile
from pathlib import Path

import blog
import load
from databases import Mariadb, Missing, Postgres, Sqlite
from peers import Request, Salver
from record_peers import PocketBase, PythonPort
from record_works import WORKS, Asked, wrong
from roundtrips import Counter

HEALTH = Request("/health")
NDJSON = {"Content-Type": "application/x-ndjson"}
TITLE = "Records: against the Python port, PocketBase, pgbench and the databases' own loaders"
NOTE = """One database at a time, on a folder of its own under /var/tmp, with the settings it comes with but for memory
(512 MB) and the number of connections. Every request asks for another row; what comes back was checked before. "Python"
is the founding text's port on bjoern, two processes on one port; "loader" is the database's own, given the same rows as
CSV."""


def keys() -> list[str]:
    return [work.key for work in WORKS]


def measure(options, names, chosen, results, scratch: Path) -> None:
    results.section(TITLE, NOTE.replace("\n", " "))
    with tempfile.TemporaryDirectory(prefix="salver-bench-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)  # PostgreSQL's own user has to get through.
        for kind in (Sqlite, Mariadb, Postgres):
            works = [work for work in WORKS if work.database == kind.name and chosen(work.key)]
            if works:
                try:
                    Measured(options, names, results, scratch, kind(Path(folder) / kind.name.lower()), works).run()
                except (Missing, RuntimeError, SystemExit) as reason:  # The other databases are measured all the same.
                    results.fault(f"{kind.name} was not measured to the end: {reason}")


class Measured:
    """The works on one database."""

    start = 1  # Numbers never come twice in one run of the program, whoever is asked.

    def __init__(self, options, names, results, scratch, database, works):
        self.options, self.names, self.results, self.scratch = options, names, results, scratch
        self.database, self.works = database, works
        self.peers = {}

    def run(self) -> None:
        self.note("filling")
        try:
            self.database.start()
            self.database.fill(self.scratch / "data/blog-1")
            self.results.versions[self.database.name] = self.database.version()
            self.start_peers()
            for work in self.works:
                self.note(work.name)
                self.small(work) if isinstance(work, Asked) else self.large(work)
            for peer in self.peers.values():
                self.results.memory(peer, f"{self.database.name}, after all of the above")
        finally:
            for peer in self.peers.values():
                peer.stop()
            self.database.stop()

    def start_peers(self) -> None:
        log = lambda name: self.scratch / f"{name}.log"
        if "Salver" in self.names:
            self.peers["Salver"] = self.salver(self.database.url)
        rivals = {name for work in self.works if isinstance(work, Asked) for name in work.rivals} & set(self.names)
        if "Python" in rivals:
            peer = self.peers["Python"] = PythonPort(log("python"))
            peer.start({}, ready=Request("/posts/1"), database=self.database)
        if "PocketBase" in rivals:
            self.start_pocketbase()
        for peer in self.peers.values():
            self.results.versions[peer.name.split()[0]] = peer.version()
            self.results.memory(peer, f"{self.database.name}, idle")

    def start_pocketbase(self) -> None:
        first = PocketBase(self.scratch / "pocketbase.log", self.scratch)
        try:
            first.build()
        except Missing as missing:
            self.results.fault(str(missing))
            return
        first.fill(self.database.folder / "pocketbase", ["posts", "items", "entries"])
        for peer in (first, first.without_log()):
            self.peers[peer.name] = peer
            peer.start({}, ready=Request("/api/health"))

    def salver(self, url: str) -> Salver:
        peer = Salver(self.scratch / "salver.log", self.options.salver.resolve())
        peer.start({}, ready=Request("/api/records/posts/1"), databases={"b": url})
        return peer

    def small(self, work: Asked) -> None:
        asked = {name: (self.peers[name], work.request if name == "Salver" else work.rivals[name].request)
                 for name in self.peers if name == "Salver" or name in work.rivals}
        for name, (peer, request) in asked.items():
            self.check(work, peer, request)
        for connections in work.connections:
            rounds = {name: [] for name in asked}
            for _ in range(self.options.rounds):
                for name, (peer, request) in asked.items():
                    rounds[name].append(self.round(work, peer, request, connections))
                if work.of_health and "Salver" in self.peers:
                    rounds.setdefault("/health", []).append(self.wrk(self.peers["Salver"], HEALTH, connections))
                for name, rival in work.rivals.items():
                    if isinstance(rival.request, str) and name.split()[0] in self.names:
                        done = self.database.pgbench(self.options.seconds, connections, rival.request)
                        rounds.setdefault(name, []).append(done)
            self.results.asked(work, connections, rounds)
        if work.trips and "Salver" in self.peers:
            self.results.trips(work, self.round_trips(work))

    def check(self, work: Asked, peer, request: Request) -> None:
        """The answer must be right before its speed means anything."""
        for n in (1, 7, 123_456_789, 999_999_999):
            status, _, body = peer.ask(request.numbered(n))
            why = f"answers {status}: {body[:300]!r}" if status != 200 else wrong(work, n, body)
            if why:
                self.results.fault(f"{work.key}: {peer.name}: {why}")

    def round(self, work: Asked, peer, request: Request, connections: int) -> load.Round:
        """One turn. Of rows that are written, as many must be there as were acknowledged, and no more than that and
        the ones still on their way when it ended."""
        if not work.writes:
            return self.wrk(peer, request, connections)
        count = (peer if isinstance(peer, PocketBase) else self.database).count
        before = count(work.writes)
        done = self.wrk(peer, request, connections)
        added, said = count(work.writes) - before, done.requests - done.not_2xx
        if not said <= added <= said + connections:
            self.results.fault(f"{work.key}: {peer.name} acknowledged {said} rows and wrote {added}")
        return done

    def wrk(self, peer, request: Request, connections: int) -> load.Round:
        # Goes on with other ids than those of the turn before.
        Measured.start += 50_300_000
        return load.wrk(peer, request, self.options.seconds, connections, Measured.start)

    def round_trips(self, work: Asked) -> list[int]:
        """Between Salver and the database for each of many requests, one after the other, once its connections have
        been used."""
        counter = Counter(self.database.port)
        peer = self.salver(self.database.at(counter.port))
        trips = []
        try:
            for n in range(1, 301):
                before = counter.trips
                peer.ask(work.request.numbered(n))
                trips.append(counter.trips - before)
        finally:
            peer.stop()
            counter.close()
        return trips[200:]

    def large(self, work) -> None:
        """100 k rows into an empty table."""
        data = self.scratch / "data/blog-1"
        rows, lines = blog.as_csv(data, work.table), blog.as_ndjson(data, work.table)
        rounds = {}
        for _ in range(self.options.rounds):
            if peer := self.peers.get("Salver"):
                self.database.empty(work.table)
                seconds, status, body = load.upload(peer, Request(f"/api/records/{work.table}", "", NDJSON), lines)
                if status != 200:
                    self.results.fault(f"{work.key}: Salver answers {status}: {body[:300]!r}")
                self.counted(work, "Salver")
                rounds.setdefault("Salver", []).append(seconds)
            if "loader" in self.names:
                self.database.empty(work.table)
                rounds.setdefault("loader", []).append(self.database.load(work.table, rows))
                self.counted(work, self.database.loader)
        self.results.loaded(work, self.database.loader, rounds)

    def counted(self, work, who: str) -> None:
        """Every row must have come, and with what was in it."""
        count = self.database.count(work.table)
        one = self.database.sql(f"SELECT note FROM {work.table} WHERE id = {blog.BULK}")
        if count != blog.BULK or one != blog.item(blog.BULK)["note"]:
            self.results.fault(f"{work.key}: {who} left {count} rows, the last with {json.dumps(one)}")

    def note(self, text: str) -> None:
        print(f"measuring {self.database.name}: {text}", file=sys.stderr, flush=True)
