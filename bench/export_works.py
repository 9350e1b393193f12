"""What is measured of exports: each work with its peers and what it must reach."""

from dataclasses import dataclass, field

SIZES = {"events_100k": 100_000, "events_1m": 1_000_000, "events_10m": 10_000_000}
LARGEST = "events_10m"
BATCH = 1_000  # rows of a batch
READERS = 200  # slow readers at once
IDLE_MB_MAX = 300


@dataclass(frozen=True)
class Whole:
    """All ten million rows, read by one client: from Salver through a socket, from the others through a pipe."""

    key: str
    name: str
    suffix: str
    # What the peers call the format, and how many times their rows a second Salver's should be at least.
    formats: dict[str, str] = field(default_factory=dict)
    targets: dict[str, float | None] = field(default_factory=dict)


FIRST = "first"
BATCHES = "batches"
SLOW = "slow"
POSTGRES = "export-postgres"
ARROW = "export-arrow"
WHOLE = [
    Whole("export-ndjson", "10 M rows as NDJSON, one client", "ndjson",
          {"DuckDB": "json", "chDB": "JSONEachRow"}, {"DuckDB": 2, "chDB": 1.5}),
    Whole("export-csv", "10 M rows as CSV, one client", "csv", {"DuckDB": "csv", "chDB": "CSV"},
          {"DuckDB": 1.5, "chDB": None}),
    Whole(ARROW, "10 M rows as an Arrow stream, one client", "arrows", {"memory": ""}, {"memory": 0.5}),
]
KEYS = [FIRST, *(work.key for work in WHOLE), BATCHES, SLOW, POSTGRES]
