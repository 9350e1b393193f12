"""What is measured of streams: each work with its request, its rival and what it must reach."""

from dataclasses import dataclass, field

from peers import Request

# 64 bytes, with the members of the founding text's payload.
EVENT = '{"client_id":"test","name":"hello_event","data":{"n":123456789}}'
JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}
LINES = 1_000  # events of one request of many
COUNTED = 10_000_000


def event(number: int) -> str:
    """Event number `number`, 64 bytes too."""
    return EVENT.replace("123456789", str(100_000_000 + number % 900_000_000))


def lines(count: int, first: int = 0) -> str:
    return "".join(event(number) + "\n" for number in range(first, first + count))


@dataclass(frozen=True)
class Rival:
    """Whom a work is compared with, and how many times as fast Salver should be at least."""

    target: float | None


@dataclass(frozen=True)
class Appended:
    """Many requests at once that append to a stream of their own."""

    key: str
    name: str
    sink: str
    ack: str
    rivals: dict[str, Rival] = field(default_factory=dict)
    per_second: int | None = None
    of_health: float | None = None
    events: int = 1
    connections: int = 50

    @property
    def stream(self) -> str:
        return self.key.replace("-", "_")

    @property
    def request(self) -> Request:
        headers, body = (JSON, EVENT) if self.events == 1 else (NDJSON, lines(self.events))
        return Request(f"/api/streams/{self.stream}?ack={self.ack}", body, headers)


ONE = "one event a request, "
MANY = f"NDJSON, {LINES:,} events a request, "

APPENDED = [
    Appended("event-broker", ONE + "`ack=broker`", "kafka", "broker", {"durable": Rival(4)}),
    Appended("event-memory", ONE + "`ack=memory` to Kafka", "kafka", "memory", {"forget": Rival(1.1)}),
    Appended("event-disk", ONE + "`ack=disk`", "log", "disk", per_second=50_000, of_health=0.5),
    Appended("ndjson-disk", MANY + "`ack=disk`", "log", "disk", per_second=1_000_000, events=LINES, connections=16),
    Appended("ndjson-broker", MANY + "`ack=broker`", "kafka", "broker",
             {"producer": Rival(0.7), "producer, lz4": Rival(None)}, events=LINES, connections=16),
]
# Settings of Kafka's own producer: as it comes, and as Salver sets its own.
PRODUCERS = {"producer": {"acks": "all"}, "producer, lz4": {"acks": "all", "compression_type": "lz4",
                                                            "batch_size": 1_000_000}}
COUNT = "count"
