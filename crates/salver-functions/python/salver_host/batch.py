"""Batches: a call of a function for every row of some columns, and its values as a column. `wire.rs` has the frames."""

import datetime
import decimal
import enum
import inspect
import pathlib
import struct
import traceback
import uuid
from array import array

import salver
from salver_host import answers, faults, scalars, tables
from salver_host.wire import frame

_HEAD = struct.Struct("<IIBB")
_BOOLEAN, _INTEGER, _NUMBER, _TEXT = range(4)
_WORDS = ("true or false", "a whole number", "a number", "a text")
_TO_TEXT = (uuid.UUID, pathlib.PurePath, decimal.Decimal)


class Unfit(Exception):
    """A function gave what was not asked for."""


def answer(endpoints, data, awaited):
    """The frame that answers a batch. `awaited` gives what an awaitable does."""
    number, rows, wanted, count = _HEAD.unpack_from(data, 5)
    at, columns = 5 + _HEAD.size, []
    for _ in range(count):
        column, at = _read(data, at, rows)
        columns.append(column)
    try:
        return frame(b"B", _write(_values(endpoints[number], columns, rows, awaited), rows, wanted))
    except SystemExit:
        raise
    except BaseException as error:
        return _failure(error)


def _failure(error):
    if isinstance(error, Unfit):
        return answers.failure(answers.RAISED, str(error), "")
    if isinstance(error, faults.ArgumentFault):
        return answers.failure(answers.WRONG_ARGUMENT, f"can't take an argument: {error}", "")
    if isinstance(error, MemoryError):
        traceback.clear_frames(error.__traceback__)  # They hold what filled the memory.
        return answers.failure(answers.OUT_OF_MEMORY, "ran out of memory", faults.detail(error))
    said = str(error.message if isinstance(error, salver.HTTPError) else error)
    told = f"raised {type(error).__name__}{': ' if said else ''}{said}"
    return answers.failure(answers.RAISED, told, faults.detail(error))


def _values(endpoint, columns, rows, awaited):
    """What the function gives: a list of values, one for each row."""
    taken = [parameter.taken for parameter in endpoint.parameters[: len(columns)]]
    function = endpoint.by_position(len(columns))
    if inspect.iscoroutinefunction(function):
        function = lambda *arguments, own=function: awaited(own(*arguments))
    if endpoint.vectorized:
        return column_of(function(*map(_whole, taken, columns)))
    if not columns:
        return [function() for _ in range(rows)]
    return list(map(function, *map(_converted, taken, columns)))


def _whole(taken, column):
    """A column as a parameter takes it whose hint is that of the whole: a list or an array."""
    convert = taken.of_column or taken.convert
    if convert is None or not (taken.is_list or taken.kind == "object"):
        return column
    try:
        return convert(column)
    except scalars.PASSING:
        raise
    except Exception as error:
        raise faults.ArgumentFault(str(error)) from error


def _converted(taken, column):
    # A column has numbers of the one kind already that such a parameter takes.
    if taken.convert is None or taken.convert in scalars.OF_NUMBERS:
        return column
    try:
        return [None if value is None else taken.convert(value) for value in column]
    except scalars.PASSING:
        raise
    except Exception as error:
        raise faults.ArgumentFault(str(error)) from error


def column_of(value):
    """The values of a whole column."""
    is_known, plain = tables.plain(value)
    if is_known:
        return plain
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        raise Unfit(f"gave {_told(value)} where a column of values was asked for")
    return list(value)


def _read(data, at, rows):
    """A column as a list, and where it ends."""
    kind, present = data[at], bytes(data[at + 1 : at + 1 + rows])
    at += 1 + rows
    end = at + rows * (1, 8, 8, 4)[kind]
    if kind == _BOOLEAN:
        values = list(map(bool, data[at:end]))
    elif kind == _TEXT:
        ends = array("I", bytes(data[at:end])).tolist()
        texts = bytes(data[end : end + (ends[-1] if ends else 0)])
        at, end = end, end + len(texts)
        # Where every character is one byte, ends of bytes are ends of characters.
        whole = texts.decode("ascii") if texts.isascii() else None
        begins = [0, *ends[:-1]]
        if whole is None:
            values = [texts[begin:end].decode() for begin, end in zip(begins, ends)]
        else:
            values = [whole[begin:end] for begin, end in zip(begins, ends)]
    else:
        values = array("q" if kind == _INTEGER else "d", bytes(data[at:end])).tolist()
    if b"\0" in present:
        values = [value if there else None for value, there in zip(values, present)]
    return values, end


def _write(values, rows, wanted):
    """The column of a list of values."""
    if len(values) != rows:
        raise Unfit(f"gave {len(values)} values for {rows} rows")
    present = b"\1" * rows
    if None in values:
        present = bytes([value is not None for value in values])
        values = [_NOTHING[wanted] if value is None else value for value in values]
    return bytes([wanted]) + present + _WRITE[wanted](values)


def _booleans(values):
    for row, value in enumerate(values):
        if type(value).__name__ not in ("bool", "bool_"):  # The second is numpy's.
            raise _unfit(_BOOLEAN, row, value)
    return bytes(map(bool, values))


def _integers(values):
    try:
        return array("q", values).tobytes()
    except (TypeError, OverflowError):
        for row, value in enumerate(values):
            if isinstance(value, float) and value.is_integer():
                values[row] = value = int(value)
            if not hasattr(value, "__index__") or not -(1 << 63) <= value < 1 << 63:
                raise _unfit(_INTEGER, row, value) from None
        return array("q", values).tobytes()


def _numbers(values):
    try:
        return array("d", values).tobytes()
    except (TypeError, OverflowError):
        for row, value in enumerate(values):
            try:
                array("d", (value,))
            except (TypeError, OverflowError):
                raise _unfit(_NUMBER, row, value) from None
        raise


def _texts(values):
    encoded = [_text(row, value).encode("utf-8", "replace") for row, value in enumerate(values)]
    ends, end = array("I"), 0
    for text in encoded:
        end += len(text)
        ends.append(end)
    return ends.tobytes() + b"".join(encoded)


def _text(row, value):
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, str):
        return value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, _TO_TEXT):
        return str(value)
    raise _unfit(_TEXT, row, value)


def _unfit(wanted, row, value):
    return Unfit(f"gave {_told(value)} where {_WORDS[wanted]} was asked for, in row {row + 1}")


def _told(value):
    written = repr(value)
    written = written if len(written) <= 40 else written[:37] + "..."
    return f"{written} ({type(value).__name__})"


_NOTHING = (False, 0, 0.0, "")
_WRITE = (_booleans, _integers, _numbers, _texts)
