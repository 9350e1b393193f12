"""The data of the records' part: the same rows on every machine, made once as CSV (and NDJSON) in .bench/data, and the
tables they go into.

Every number below follows from the row's own, so that an answer can be checked against what it should be."""

import csv
import json
from pathlib import Path

POSTS, ITEMS, BULK = 1_000_000, 10_000, 100_000
COMMENTED = 10_000  # the posts that have comments and tags
TAGS = 100
NAMES = ["anchor", "basket", "candle", "drum", "engine", "fiddle", "garden", "hammer", "island", "jacket", "kettle"]
WORDS = "one server for files and databases answers small questions fast and long ones in a steady stream".split()

# Types as every database spells them; `{key}` is a primary key that the database counts up.
TABLES = {
    "posts": "id {key}, user_id integer NOT NULL, category_id integer NOT NULL, title varchar(100) NOT NULL, "
             "content varchar(255) NOT NULL",
    "comments": "id {key}, post_id integer NOT NULL, message varchar(255) NOT NULL, "
                "FOREIGN KEY (post_id) REFERENCES posts (id)",
    "tags": "id {key}, name varchar(100) NOT NULL",
    "post_tags": "id {key}, post_id integer NOT NULL, tag_id integer NOT NULL, "
                 "FOREIGN KEY (post_id) REFERENCES posts (id), FOREIGN KEY (tag_id) REFERENCES tags (id)",
    "items": "id {key}, category_id integer NOT NULL, name varchar(100) NOT NULL, price double precision NOT NULL, "
             "note varchar(255) NOT NULL",
}
TABLES |= {"entries": TABLES["items"], "bulk": TABLES["items"]}  # One to write single rows into, one to load into.
INDEXES = [("posts", "category_id"), ("comments", "post_id"), ("post_tags", "post_id"), ("items", "category_id"),
           ("entries", "category_id")]


def post(number: int) -> dict:
    """Twenty posts share a category, far from each other."""
    return {"id": number, "user_id": number % 5_000 + 1, "category_id": category(number, 50_000),
            "title": f"{NAMES[number % 11]} number {number}", "content": words(number, 14)}


def item(number: int, categories: int = 500) -> dict:
    """Twenty items share a category."""
    return {"id": number, "category_id": category(number, categories), "name": f"{NAMES[number % 11]} {number}",
            "price": number % 4_000 / 4, "note": words(number, 6)}


def category(number: int, categories: int) -> int:
    return (number - 1) * 7 % categories + 1


def members(value: int, categories: int, rows: int) -> list[int]:
    """The rows of a category, newest first."""
    first = next(number for number in range(1, categories + 1) if category(number, categories) == value)
    return list(range(first, rows + 1, categories))[::-1]


def comment(number: int) -> dict:
    """Three for each post."""
    return {"id": number, "post_id": (number - 1) // 3 + 1, "message": words(number, 5)}


def tag(number: int) -> dict:
    return {"id": number, "name": f"{NAMES[number % 11]} {number}"}


def post_tag(number: int) -> dict:
    """Two for each post."""
    return {"id": number, "post_id": (number - 1) // 2 + 1, "tag_id": (number * 3 - 1) % TAGS + 1}


def words(number: int, count: int) -> str:
    return " ".join(WORDS[(number * 5 + at * 3) % len(WORDS)] for at in range(count))


ROWS = {
    "posts": (post, POSTS), "comments": (comment, COMMENTED * 3), "tags": (tag, TAGS),
    "post_tags": (post_tag, COMMENTED * 2), "items": (item, ITEMS), "bulk": (item, BULK),
}


def as_csv(folder: Path, table: str) -> Path:
    """The rows of a table, without a header."""
    path = folder / f"{table}.csv"
    if not path.exists():
        make, rows = ROWS[table]
        folder.mkdir(parents=True, exist_ok=True)
        with open(path.with_suffix(".part"), "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(make(number).values() for number in range(1, rows + 1))
        path.with_suffix(".part").rename(path)
    return path


def as_ndjson(folder: Path, table: str) -> Path:
    path = folder / f"{table}.ndjson"
    if not path.exists():
        make, rows = ROWS[table]
        folder.mkdir(parents=True, exist_ok=True)
        with open(path.with_suffix(".part"), "w") as file:
            file.writelines(json.dumps(make(number)) + "\n" for number in range(1, rows + 1))
        path.with_suffix(".part").rename(path)
    return path


def schema(key: str) -> str:
    """The statements that make all tables; indexes come after the rows."""
    return "\n".join(f"CREATE TABLE {name} ({columns.format(key=key)});" for name, columns in TABLES.items())


def indexes() -> str:
    return "\n".join(f"CREATE INDEX {table}_{column} ON {table} ({column});" for table, column in INDEXES)
