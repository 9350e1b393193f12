"""Writes tables of Delta Lake with the package `deltalake`, and compares what a server gives of them with what it reads:

    python tables.py make DIRECTORY
    python tables.py append DIRECTORY
    python tables.py compare DIRECTORY ADDRESS [VERSION]
    python tables.py published DIRECTORY ADDRESS
    python tables.py versions DIRECTORY [COUNT]
"""

import datetime as dt
import decimal
import io
import json
import os
import re
import sys
import urllib.request

import duckdb
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
from deltalake import DeltaTable, QueryBuilder, write_deltalake

UTC = dt.timezone.utc


def every_type(ids):
    """Rows of every type, with nulls in every third."""
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("s", pa.string()),
            ("i8", pa.int8()),
            ("i16", pa.int16()),
            ("i32", pa.int32()),
            ("f32", pa.float32()),
            ("f64", pa.float64()),
            ("b", pa.bool_()),
            ("bin", pa.binary()),
            ("d", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("local", pa.timestamp("us")),
            ("dec", pa.decimal128(20, 3)),
            ("l", pa.list_(pa.int64())),
            ("st", pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])),
            ("m", pa.map_(pa.string(), pa.float64())),
        ]
    )

    def row(n):
        if n % 3 == 2:
            return {"id": n}
        return {
            "id": n,
            "s": f"é{n}",
            "i8": n - 5,
            "i16": n * 100,
            "i32": -n,
            "f32": n / 4,
            "f64": n / 8,
            "b": n % 2 == 0,
            "bin": bytes([n, 255 - n]),
            "d": dt.date(1600 + n * 10, 2, 28),
            "at": dt.datetime(2024, 5, 1, 12, 0, 0, n, UTC),
            "local": dt.datetime(1900 + n, 5, 1, 12, 0, 0, n),
            "dec": decimal.Decimal(n) / 8,
            "l": [n, None],
            "st": {"x": n, "y": [str(n)]},
            "m": {"k": n / 2, "n": None},
        }

    return pa.Table.from_pylist([row(n) for n in ids], schema)


def partitioned(ids):
    """Rows with a partition column of every type, among them what paths and URLs escape."""
    texts = ["a b", "x=y/z", "%41", "é?#", "a+b&c", None, "'\"", "."]
    columns = {
        "text": pa.array([texts[n % len(texts)] for n in ids], pa.string()),
        "id": pa.array(ids, pa.int64()),
        "n": pa.array([None if n % 4 == 3 else n % 4 for n in ids], pa.int32()),
        "day": pa.array([dt.date(2024, 1, 1 + n % 2) for n in ids], pa.date32()),
        "value": pa.array([n / 2 for n in ids], pa.float64()),
        "at": pa.array([dt.datetime(2024, 5, 1, 12, 0, 0, n % 2, UTC) for n in ids], pa.timestamp("us", "UTC")),
        "price": pa.array([decimal.Decimal("1.50") if n % 2 else None for n in ids], pa.decimal128(10, 2)),
        "flag": pa.array([n % 2 == 0 for n in ids], pa.bool_()),
    }
    return pa.table(columns)


def make(directory):
    write_deltalake(f"{directory}/types", every_type(range(10)))
    write_deltalake(f"{directory}/types", every_type(range(10, 20)), mode="append")

    by = ["text", "n", "day", "at", "price", "flag"]
    write_deltalake(f"{directory}/parts", partitioned(range(24)), partition_by=by)
    write_deltalake(f"{directory}/parts", partitioned(range(24, 32)), mode="append")

    # A column more, then a row less, and a checkpoint after each few commits.
    path = f"{directory}/changed"
    write_deltalake(path, pa.table({"id": [1, 2, 3], "a": ["x", "y", "z"]}))
    write_deltalake(path, pa.table({"id": [4], "a": ["w"], "b": [1.5]}), mode="append", schema_mode="merge")
    DeltaTable(path).delete("id = 2")
    DeltaTable(path).create_checkpoint()
    write_deltalake(path, pa.table({"id": [5], "a": ["v"], "b": [2.5]}), mode="append")
    DeltaTable(path).optimize.compact()
    write_deltalake(path, pa.table({"id": [9], "a": ["only"], "b": [None]}, every_changed()), mode="overwrite")
    DeltaTable(path).create_checkpoint()


def every_changed():
    return pa.schema([("id", pa.int64()), ("a", pa.string()), ("b", pa.float64())])


def append(directory):
    write_deltalake(directory, pa.table({"id": [10], "a": ["later"], "b": [0.5]}), mode="append")


def plain(data_type):
    """The type without what differs in how text is kept and items are called."""
    if pa.types.is_large_string(data_type) or pa.types.is_string_view(data_type):
        return pa.string()
    if pa.types.is_large_binary(data_type) or pa.types.is_binary_view(data_type):
        return pa.binary()
    if pa.types.is_struct(data_type):
        return pa.struct([(field.name, plain(field.type)) for field in data_type])
    if pa.types.is_map(data_type):
        return pa.map_(plain(data_type.key_type), plain(data_type.item_type))
    if pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        return pa.list_(plain(data_type.value_type))
    return data_type


def shown(table):
    rows = sorted((repr(list(row.items())) for row in table.to_pylist()))
    return [f"{field.name}: {plain(field.type)}" for field in table.schema], rows


def compare(directory, address, version=None):
    table = DeltaTable(directory, version=version and int(version))
    expected = shown(pa.table(table.to_pyarrow_table()))
    with urllib.request.urlopen(address) as answer:
        found = shown(pq.read_table(io.BytesIO(answer.read())))
    assert found[0] == expected[0], f"columns\n{found[0]}\nand not\n{expected[0]}"
    assert found[1] == expected[1], f"rows\n{found[1]}\nand not\n{expected[1]}"
    print(len(found[1]))


def as_delta(value):
    """The names of members as readers of Delta Lake take them, without members that are null."""
    if isinstance(value, list):
        return [as_delta(item) for item in value]
    if isinstance(value, dict):
        return {re.sub(r"[ ,;{}()\n\t=]", "_", name): as_delta(own) for name, own in value.items() if own is not None}
    return value


def offsets(table):
    return sorted(table.column("_offset").to_pylist())


def versions(directory, count="1000000"):
    """Each of the last versions has events without a gap, and each once."""
    latest = DeltaTable(directory)
    for version in range(max(0, latest.version() + 1 - int(count)), latest.version() + 1):
        try:
            table = DeltaTable(directory, version=version)
        except Exception as error:
            # Older versions may be gone, the latest is not.
            assert version < latest.version(), error
            continue
        if not all(os.path.exists(path) for path in table.file_uris()):
            assert version < latest.version(), "a file of the latest version is gone"
            continue
        found = offsets(pa.table(table.to_pyarrow_table(columns=["_offset"])))
        first = found[0] if found else 0
        assert found == list(range(first, first + len(found))), f"version {version}: {found}"
    print(json.dumps({"rows": len(found), "versions": latest.version() + 1}))


def published(directory, address):
    """Compares the newest version with a stream, row by row, as each reader gives it."""
    latest = DeltaTable(directory)
    with urllib.request.urlopen(address) as answer:
        stream = pq.read_table(io.BytesIO(answer.read())).to_pylist()
    # Names that differ in upper and lower case alone.
    names = {"V": "V_2"}
    stream = [as_delta({names.get(name, name): value for name, value in row.items()}) for row in stream]
    stream.sort(key=lambda row: row["_offset"])

    def check(reader, rows):
        found = sorted((as_delta(row) for row in rows), key=lambda row: row["_offset"])
        assert len(found) == len(stream), f"{reader}: {len(found)} rows and not {len(stream)}"
        for own, expected in zip(found, stream):
            assert own == expected, f"{reader}:\n{own}\nand not\n{expected}"

    check("to_pyarrow_table", pa.table(latest.to_pyarrow_table()).to_pylist())
    check("to_pyarrow_dataset", latest.to_pyarrow_dataset().to_table().to_pylist())
    check("DataFusion", pa.table(QueryBuilder().register("t", latest).execute("select * from t").read_all()).to_pylist())
    paths = latest.file_uris()
    if paths:
        dataset = latest.to_pyarrow_dataset()
        duck = duckdb.connect()
        duck.register("dataset", dataset)
        counts = "select count(*), sum(_offset), min(epoch_us(_time)), max(_id) from"
        of_dataset = duck.sql(f"{counts} dataset").fetchall()[0]
        of_files = duck.sql(f"{counts} read_parquet({paths!r}, union_by_name = true)").fetchall()[0]
        assert of_dataset == of_files, f"DuckDB: {of_dataset} and {of_files}"
        assert of_files[:2] == (len(stream), sum(row["_offset"] for row in stream)), f"DuckDB: {of_files}"
        # By statistics, files are left out.
        middle = stream[len(stream) // 2]["_offset"]
        found = dataset.to_table(filter=pads.field("_offset") == middle).num_rows
        assert found == 1, f"{found} rows with the offset {middle}"
    print(
        json.dumps(
            {
                "rows": len(stream),
                "first": stream[0]["_offset"] if stream else 0,
                "versions": latest.version() + 1,
                "files": [os.path.basename(path) for path in paths],
            }
        )
    )


{"make": make, "append": append, "compare": compare, "published": published, "versions": versions}[sys.argv[1]](*sys.argv[2:])
# Threads of the packages that still run would now and then abort the interpreter at its end.
sys.stdout.flush()
os._exit(0)
