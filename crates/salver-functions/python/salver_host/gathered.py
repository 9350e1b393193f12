"""Calls that go together: of a vectorized function, made as one over columns. `wire.rs` has the frames."""

import struct

from salver_host import batch, json_text
from salver_host.wire import U32, frame

_HEAD = struct.Struct("<II")


def read(data, endpoints):
    """The endpoint, how many calls there are, and the columns by name: a list each, or `None` where all are null."""
    number, rows = _HEAD.unpack_from(data, 5)
    at, calls, seen = 5 + _HEAD.size, [], False
    endpoint = endpoints[number]
    for _ in range(rows):
        begin = at + U32.size
        at = begin + U32.unpack_from(data, at)[0]
        calls.append(endpoint.read(data[begin:at].decode()))
        seen = seen or json_text.has_numerals
    json_text.has_numerals = seen
    columns = {name: None if one is None else [call[name] for call in calls] for name, one in calls[0].items()}
    return endpoint, rows, columns


def written(value, rows):
    """The frame of a column: the JSON text of each value."""
    values = batch.column_of(value)
    if len(values) != rows:
        raise batch.Unfit(f"gave {len(values)} values for {rows} rows")
    pieces = []
    for text in map(json_text.write, values):
        pieces += (U32.pack(len(text)), text)
    return frame(b"G", b"".join(pieces))
