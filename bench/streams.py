"""Measures streams: Salver, the founding service and Kafka's own producer on one broker, in turns. Afterwards the
events that really are there are counted."""

import http.client
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import load
import stream_works as works
from databases import Missing
from peers import Request, Salver
from stream_peers import PARTITIONS, Founding, Kafka

HEALTH = Request("/health")
TITLE = "Streams: against the founding service and Kafka's own producer"
NOTE = f"""A 64-byte JSON event. One broker (`-Xmx1g`) on the same processors, {PARTITIONS} partitions a topic,
everything on a folder under /var/tmp. The founding service is the founding text's: actix-web and rdkafka, awaited
(durable) or not (forget). "producer" is `kafka-producer-perf-test` with the same events and `acks=all`, as it comes and
with lz4 and 1 MB batches. Rates are of acknowledged events; afterwards those in the topic or the log are counted, and
of Salver's none may be missing. Before the rounds with Kafka everybody has a turn that does not count.
A row below says how long it takes until the last one is in the topic."""


def keys() -> list[str]:
    return [work.key for work in works.APPENDED] + [works.COUNT]


def measure(options, names, chosen, results, scratch: Path) -> None:
    results.section(TITLE, NOTE.replace("\n", " "))
    with tempfile.TemporaryDirectory(prefix="salver-bench-", dir="/var/tmp") as folder:
        try:
            Measured(options, names, chosen, results, scratch, Path(folder)).run()
        except (Missing, RuntimeError, SystemExit) as reason:  # What was measured is written down all the same.
            results.fault(f"streams were not measured to the end: {reason}")


class Measured:
    """One run of the works that were chosen."""

    def __init__(self, options, names, chosen, results, scratch, folder):
        self.options, self.names, self.results, self.scratch, self.folder = options, names, results, scratch, folder
        self.works = [work for work in works.APPENDED if chosen(work.key)]
        self.counts = chosen(works.COUNT)
        self.kafka, self.salver = None, None

    def run(self) -> None:
        try:
            if any(work.sink == "kafka" for work in self.works):
                self.kafka = Kafka(self.scratch / "kafka.log", self.folder / "kafka")
                self.kafka.start()
                self.results.versions["Kafka"] = self.kafka.version()
            for work in self.works:
                self.note(work.name)
                self.appended(work)
            if self.counts and "Salver" in self.names:
                self.note("count")
                self.counted()
            if self.kafka:
                self.results.memory(self.kafka, "after all of the above")
        finally:
            for peer in (self.salver, self.kafka):
                if peer:
                    peer.stop()

    def start_salver(self, stream: str, sink: str, topic: str | None = None) -> None:
        """A server of its own for each work, so that no work drains what another left."""
        self.results.versions["Salver"] = Salver(self.scratch / "salver.log", self.options.salver.resolve()).version()
        self.salver = Salver(self.scratch / "salver.log", self.options.salver.resolve())
        settings = {"sink": sink, "dir": str(self.folder / stream)}
        if sink == "kafka":
            settings |= {"brokers": [self.kafka.address], "topic": topic}
        self.salver.start({}, ready=Request("/ready"), streams={stream: settings})

    def stop_salver(self, moment: str) -> None:
        self.results.memory(self.salver, moment)
        self.salver.stop()
        self.salver = None

    def appended(self, work: works.Appended) -> None:
        """Salver and its rivals in turns."""
        turns, peers, topics = {}, [], {}
        if work.sink == "kafka":
            topics = {name: f"{work.stream}-{name.split(',')[0]}" for name in ["Salver", *work.rivals]}
            for topic in set(topics.values()):
                self.kafka.make(topic)
        if "Salver" in self.names:
            self.start_salver(work.stream, work.sink, topics.get("Salver"))
            self.check(self.salver, work)
            turns["Salver"] = lambda: self.turn(work, self.salver, topics.get("Salver"))
        if work.of_health and "Salver" in self.names:
            turns["/health"] = lambda: self.wrk(self.salver, HEALTH, work)
        try:
            for name in work.rivals:
                if "founding" in self.names and name in ("durable", "forget"):
                    peer = Founding(self.scratch / f"founding-{name}.log", self.scratch, name)
                    peer.build()
                    peer.start({}, ready=Request("/", works.EVENT), broker=self.kafka, topic=topics[name])
                    peers.append(peer)
                    self.results.versions["founding service"] = peer.version()
                    turns[name] = lambda peer=peer, name=name: self.turn(work, peer, topics[name])
                if "producer" in self.names and name in works.PRODUCERS:
                    turns[name] = lambda name=name: self.produced(work, topics[name], works.PRODUCERS[name])
            self.drained, self.lost = [], {}
            if work.sink == "kafka":
                # Not counted: the broker compiles its own code in the first seconds, in whosever turn they are.
                for turn in turns.values():
                    turn()
            self.drained, self.lost = [], {}
            rounds = {name: [] for name in turns}
            for _ in range(self.options.rounds):
                for name, turn in turns.items():
                    rounds[name].append(turn())
            self.results.appended(work, rounds, self.lost, self.drained)
            for peer in peers:
                self.results.memory(peer, work.name)
            if self.salver:
                self.stop_salver(work.name)
        finally:
            for peer in peers:
                peer.stop()

    def check(self, peer, work) -> None:
        """The first answer must be a success before speed means anything."""
        status, _, body = peer.ask(work.request)
        if not 200 <= status < 300:
            self.results.fault(f"{work.key}: {peer.name} answers {status}: {body[:300]!r}")

    def wrk(self, peer, request: Request, work) -> load.Round:
        return load.wrk(peer, request, self.options.seconds, work.connections, 0)

    def turn(self, work, peer, topic: str | None) -> load.Round:
        """One turn, and where its events are afterwards. Requests that were on their way when it ended may count."""
        count = (lambda: self.kafka.count(topic)) if topic else (lambda: self.logged(work.stream))
        before = count()
        done = self.wrk(peer, work.request, work)
        said = (done.requests - done.not_2xx) * work.events
        if topic:
            after, seconds = self.kafka.settled(topic, before + said)
        else:
            after, seconds = count(), 0.0
        # What waits in the log is drained before the next turn begins; nothing of it may count twice.
        lost, most = before + said - after, said + work.connections * work.events
        self.lost.setdefault(peer.name, []).append((max(lost, 0), said))
        if peer.name == "Salver":
            self.drained.append((said / (self.options.seconds + seconds), seconds))
            if lost > 0 or after - before > most:
                self.results.fault(f"{work.key}: Salver acknowledged {said} events and kept {after - before}")
        return replace(done, per_second=done.per_second * work.events)

    def produced(self, work, topic: str, settings: dict) -> load.Round:
        """About as long as the others' turns."""
        events = self.folder / "events.txt"
        if not events.exists():
            events.write_text(works.lines(works.LINES))
        count = 200_000 * self.options.seconds
        before = self.kafka.count(topic)
        done = self.kafka.produce(topic, events, count, **settings)
        if self.kafka.count(topic) - before != count:
            self.results.fault(f"{work.key}: the producer left other than {count} records")
        return done

    def logged(self, stream: str) -> int:
        return self.ask_sql(f"SELECT count(*) AS n FROM {stream}")[0]["n"]

    def ask_sql(self, text: str) -> list[dict]:
        status, _, body = self.salver.ask(Request("/api/sql", text))
        if status != 200:
            raise RuntimeError(f"Salver answers {status} to {text}: {body[:500]!r}")
        return json.loads(body)

    def counted(self) -> None:
        """Ten million events, counted right after they were logged and again later; one more each time, so that no
        answer is an earlier one's."""
        self.start_salver("counted", "log")
        started = time.perf_counter()
        piece = 100_000
        connection = http.client.HTTPConnection("127.0.0.1", self.salver.port, timeout=120)
        for first in range(0, works.COUNTED, piece):
            connection.request("POST", "/api/streams/counted?ack=disk", works.lines(piece, first), works.NDJSON)
            answer = connection.getresponse()
            if (body := answer.read()) and not 200 <= answer.status < 300:
                raise RuntimeError(f"Salver answers {answer.status} to events: {body[:500]!r}")
        connection.close()
        seconds = {"load": [time.perf_counter() - started]}
        there = works.COUNTED
        for _ in range(self.options.rounds + 2):
            for key, text in [("count", "SELECT count(*) AS n FROM counted"),
                              ("avg", "SELECT count(*) AS n, avg(data['n']) AS a FROM counted")]:
                self.salver.ask(Request("/api/streams/counted?ack=disk", works.event(there), works.JSON))
                there += 1
                started = time.perf_counter()
                found = self.ask_sql(text)[0]
                seconds.setdefault(key, []).append(time.perf_counter() - started)
                average = 100_000_000 + (there - 1) / 2
                if found["n"] != there or abs(found.get("a", average) - average) > 1:
                    self.results.fault(f"count: {there} events were logged, and {found} found")
        self.results.counted(works.COUNTED, seconds)
        self.stop_salver(f"{works.COUNTED // 1_000_000} M events, counted")

    def note(self, text: str) -> None:
        print(f"measuring streams: {text}", file=sys.stderr, flush=True)
