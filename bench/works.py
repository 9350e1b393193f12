"""What is measured: each work with its request, its targets and how two answers are told equal."""

import io
import json
from dataclasses import dataclass, field

import pyarrow as pa

from peers import Request

ARROW = {"accept": "application/vnd.apache.arrow.stream"}
CITIES = "/api/tables/uk_cities?columns=city,lat,lng&"


@dataclass(frozen=True)
class Small:
    """Many small requests at once. With `{n}` in it every request differs, so that nothing can come from a cache."""

    key: str
    name: str
    request: Request
    target: float
    of_health: float | None = None
    connections: int = 50


@dataclass(frozen=True)
class Large:
    """One client that reads one large answer."""

    key: str
    name: str
    request: Request
    target: float
    arrow: bool = field(default=False)


SMALL = [
    Small("rest-seed", "`GET /api/tables/uk_cities?columns=city,lat,lng&limit=2`",
          Request(CITIES + "limit=2"), 20, 0.75),
    Small("rest-filter", "the same, a different filter value in every request",
          Request(CITIES + "limit=2&filter%5Blat%5Dgt=52.{n}"), 8),
    Small("key", "random key look-ups over 1 M rows, every request different",
          Request("/api/tables/orders?filter%5Bid%5D={m}&limit={n}"), 25),
    Small("sql-same", "SQL, small, same text", Request("/api/sql", "SELECT city, lat, lng FROM uk_cities LIMIT 2"), 20),
    Small("sql-literals", "SQL, small, different literals every time",
          Request("/api/sql", "SELECT city, lat, lng FROM uk_cities WHERE lat > 52.{n} LIMIT 2"), 4),
    Small("graphql", "GraphQL, seed query",
          Request("/api/graphql", "query { uk_cities(limit: 2) {city, lat, lng} }"), 20),
]

LARGE = [
    Large("all-json", "`SELECT *` of 1 M rows as JSON, one client", Request("/api/sql", "SELECT * FROM orders"), 4),
    Large("all-arrow", "`SELECT *` of 1 M rows as Arrow, one client",
          Request("/api/sql", "SELECT * FROM orders", ARROW), 1, arrow=True),
]


def same_rows(one: bytes, other: bytes) -> str | None:
    """Why two small JSON answers differ, in any way but the fields' order."""
    if one == other:
        return None
    try:
        left, right = json.loads(one), json.loads(other)
    except ValueError:
        return f"not JSON: {one[:200]!r} {other[:200]!r}"
    return None if left == right and left else f"{one[:300]!r} is not {other[:300]!r}"


def same_table(one: bytes, other: bytes, rows: int, arrow: bool) -> str | None:
    """Why two large answers differ."""
    if arrow:
        left, right = (pa.ipc.open_stream(io.BytesIO(body)).read_all() for body in (one, other))
        # One may say Utf8View where the other says Utf8: the rows are what must be equal.
        if left.column_names != right.column_names or left.num_rows != rows or right.num_rows != rows:
            return f"{left.num_rows} rows of {left.column_names}, {right.num_rows} rows of {right.column_names}"
        left = left.cast(right.schema).sort_by("id")
        return None if left.equals(right.sort_by("id")) else "the rows differ"
    counts = [body.count(b'{"id":') for body in (one, other)]
    if counts != [rows, rows]:
        return f"{counts} rows and not {rows}"
    left, right = (sample(body) for body in (one, other))
    return None if left == right else f"rows differ: {next(pair for pair in zip(left, right) if pair[0] != pair[1])}"


def sample(body: bytes, every: int = 1000) -> list:
    """Every so manieth row of a JSON array of flat objects, in the order of their text: servers with several threads
    need not keep the order of the file."""
    rows = sorted(body.strip()[2:-2].split(b"},{"))
    return [json.loads(b"{" + row + b"}") for row in rows[::every]]
