"""What is measured of records: each work with its requests, its targets, and what must come back."""

import json
from dataclasses import dataclass, field
from typing import Callable

import blog
from peers import Request, numbers

JSON = {"Content-Type": "application/json"}
POCKET = "/api/collections/"


@dataclass(frozen=True)
class Rival:
    """Whom a work is compared with: how it is asked, and how many times faster Salver should be at least."""

    request: Request | str  # HTTP, or the mode of pgbench
    target: float | None  # None: only for comparison


@dataclass(frozen=True)
class Asked:
    """Many small requests at once, each different."""

    key: str
    name: str
    database: str
    request: Request
    rivals: dict[str, Rival] = field(default_factory=dict)
    of_health: float | None = None
    connections: tuple[int, ...] = (16, 64)
    truth: Callable[[dict], list] | None = None  # the rows that must come back, from the numbers of a request
    writes: str | None = None  # the table that every request adds a row to
    trips: int | None = None  # the round trips to the database must be fewer than this


@dataclass(frozen=True)
class Loaded:
    """100 k rows in one request, against the database's own bulk loader."""

    key: str
    database: str
    target: float
    table: str = "bulk"

    @property
    def name(self) -> str:
        return f"{blog.BULK // 1000} k rows loaded as NDJSON, {self.database}"


def one_post(number: dict) -> list:
    return [blog.post(number["id"])]


def joined_post(number: dict) -> list:
    post = number["of10000"]
    tags = sorted(blog.post_tag(post * 2 - at)["tag_id"] for at in (0, 1))
    comments = [{key: value for key, value in blog.comment(post * 3 - at).items() if key != "post_id"}
                for at in (2, 1, 0)]
    return [blog.post(post) | {"comments": comments, "tags": [blog.tag(tag) for tag in tags]}]


def newest_items(number: dict) -> list:
    return [blog.item(at) for at in blog.members(number["of500"], 500, blog.ITEMS)]


def newest_posts(number: dict) -> list:
    return [blog.post(at) for at in blog.members(number["of50000"], 50_000, blog.POSTS)]


def pocket(request: Request, target: float) -> dict[str, Rival]:
    """PocketBase as it comes, and beside it one that writes no log, as Salver writes none."""
    return {"PocketBase": Rival(request, target), "PocketBase without its log": Rival(request, None)}


def listed(key: str, name: str, table: str, value: str, truth) -> Asked:
    ours = f"/api/records/{table}?filter=category_id,eq,{{{value}}}&order=id,desc&size=20"
    # Its keys are text; the order of the rows is what costs it least.
    theirs = f"{POCKET}{table}/records?filter=(category_id%3D{{{value}}})&sort=-%40rowid&perPage=20&skipTotal=1"
    return Asked(key, name, "SQLite", Request(ours), pocket(Request(theirs), 5), truth=truth)


ENTRY = '{"category_id": {of500}, "name": "entry {n}", "price": 12.25, "note": "written by the benchmark"}'
READ = Request("/api/records/posts/{id}")
JOINED = Request("/api/records/posts/{of10000}?join=comments&join=tags")

WORKS = [
    Asked("read-sqlite", "read one of 1 M by id, SQLite", "SQLite", READ,
          pocket(Request(POCKET + "posts/records/{id15}"), 5), of_health=0.5, truth=one_post),
    listed("list", "list 20 of 10 k by an indexed equality filter, newest first, SQLite", "items", "of500",
           newest_items),
    listed("list-1m", "the same of 1 M rows, 50 000 different values", "posts", "of50000", newest_posts),
    Asked("join-sqlite", "post with its comments and tags joined, SQLite", "SQLite", JOINED, truth=joined_post),
    Asked("insert", "insert one row, SQLite (synchronous=FULL; PocketBase: NORMAL)", "SQLite",
          Request("/api/records/entries", ENTRY, JSON),
          pocket(Request(POCKET + "entries/records", ENTRY, JSON), 5), connections=(50,), writes="entries"),
    Loaded("load-sqlite", "SQLite", 0.5),
    Asked("read-mariadb", "read one of 1 M by id, MariaDB", "MariaDB", READ,
          {"Python": Rival(Request("/posts/{id}"), 3)}, truth=one_post),
    Asked("join-mariadb", "post with its comments and tags joined, MariaDB", "MariaDB", JOINED, truth=joined_post,
          trips=3),
    Loaded("load-mariadb", "MariaDB", 0.5),
    Asked("read-postgresql", "read one of 1 M by id, PostgreSQL", "PostgreSQL", READ,
          {"pgbench": Rival("simple", 0.5), "pgbench -M prepared": Rival("prepared", None)}, truth=one_post),
    Asked("join-postgresql", "post with its comments and tags joined, PostgreSQL", "PostgreSQL", JOINED,
          truth=joined_post, trips=3),
    Loaded("load-postgresql", "PostgreSQL", 0.5),
]


def wrong(work: Asked, n: int, body: bytes) -> str | None:
    """Why an answer to request number `n` is not what it should be."""
    if not work.truth:
        return None
    try:
        found = json.loads(body)
    except ValueError:
        return f"not JSON: {body[:200]!r}"
    rows = found.get("records", found.get("items", [found])) if isinstance(found, dict) else found
    wanted = work.truth(numbers(n))
    return None if agree(wanted, rows) else f"{json.dumps(wanted)[:400]} was wanted, not {body[:400]!r}"


def agree(wanted, found, key: str = "") -> bool:
    """Whether everything that is wanted is there. More may be: PocketBase names the collection in every row."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(agree(value, found.get(name), name) for name, value in wanted.items())
    if isinstance(wanted, list):
        if not isinstance(found, list) or len(found) != len(wanted):
            return False
        if key:  # Joined rows have no order.
            found = sorted(found, key=lambda row: row["id"])
        return all(map(agree, wanted, found))
    return int(found) == wanted if key == "id" and found is not None else found == wanted
