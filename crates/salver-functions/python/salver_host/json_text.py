"""JSON: the arguments of calls read, the values functions return written.

Three writers stand behind each other. One function for each plain type; the encoder written in C (orjson's when it is
installed); and, for what these refuse (numbers that are none, exact decimals, keys that are no text), one in Python.
"""

import base64
import datetime
import decimal
import enum
import fractions
import ipaddress
import json
import math
import pathlib
import re
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from json.encoder import encode_basestring as quoted

from salver_host import tables

try:
    import orjson
except ImportError:
    orjson = None


# What is written as the text that it has in Python. A network is also all of its addresses.
_TEXTS = (
    uuid.UUID, pathlib.PurePath, fractions.Fraction, ipaddress.IPv4Address, ipaddress.IPv6Address,
    ipaddress.IPv4Network, ipaddress.IPv6Network,
)


class Numeral(float):
    """A number as it is written, where a float would be written otherwise: `1.10`, or more digits than a float has."""

    __slots__ = ("text",)


# Whether one was in the text that was read last.
has_numerals = False


def _numeral(text):
    global has_numerals
    value = float(text)
    if repr(value) == text:
        return value
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large for a number")
    has_numerals = True
    made = Numeral(value)
    made.text = text
    return made


def _constant(name):
    raise ValueError(f"{name} is no value of JSON")


_decoder = json.JSONDecoder()
_scan = _decoder.scan_once
_exact_decoder = json.JSONDecoder(parse_float=_numeral, parse_constant=_constant)
_scan_exactly = _exact_decoder.scan_once


def read(text):
    """The value a JSON text says."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        return _decoder.decode(text)
    return value if end == len(text) else _decoder.decode(text)


def read_exact(text):
    """The same, with a [`Numeral`] for each number that a float would not be written as."""
    global has_numerals
    has_numerals = False
    try:
        value, end = _scan_exactly(text, 0)
    except StopIteration:
        return _exact_decoder.decode(text)
    return value if end == len(text) else _exact_decoder.decode(text)


def write(value):
    """A value as the bytes of a JSON text."""
    return DIRECT.get(type(value), _encoded)(value)


def plain(value):
    """What stands in JSON for a value that is of none of its types."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat() if value == value else None  # pandas' NaT is a datetime.
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, _TEXTS):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    found, converted = tables.plain(value)
    if found:
        return converted
    if hasattr(value, "model_dump"):  # Models of pydantic.
        return value.model_dump()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable) and not isinstance(value, (type, decimal.Decimal)):
        return list(value)
    # Decimals are numbers here, which only the last writer can write.
    found, converted = (False, None) if isinstance(value, decimal.Decimal) else _of_pydantic(value)
    if found:
        return converted
    raise TypeError(f"a value of type {type(value).__qualname__} can't be written as JSON")


def _of_pydantic(value):
    """Whether pydantic, if the file has it, can write a value, and what it writes: its secrets and URLs, and others."""
    core, kind = sys.modules.get("pydantic_core"), type(value)
    if core is None:
        return False, None
    try:
        return True, core.to_jsonable_python(value)
    except ValueError:
        if not hasattr(kind, "__get_pydantic_core_schema__"):
            return False, None
    return True, sys.modules["pydantic"].TypeAdapter(kind).dump_python(value, mode="json")


def _again(value):
    """What [`plain`] gives, for writers that another stands behind: what can be read only once is left to the last."""
    if isinstance(value, Iterator):
        raise TypeError("an iterator is read once")
    return plain(value)


def _compact():
    """The standard encoder with its settings looked up once, and not for each value."""
    if json.encoder.c_make_encoder is None:
        encoder = json.JSONEncoder(
            default=_again, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        return encoder.encode
    under_way = {}
    encode = json.encoder.c_make_encoder(under_way, _again, quoted, None, ":", ",", False, False, False)

    def compact(value):
        try:
            return "".join(encode(value, 0))
        except BaseException:
            under_way.clear()
            raise

    return compact


_standard = _compact()


def _encoded(value):
    if orjson is not None:
        try:
            return orjson.dumps(value, _again, orjson.OPT_PASSTHROUGH_DATACLASS)
        except TypeError:
            pass  # It refuses whole numbers beyond 64 bits, keys that are no text, and iterators.
    try:
        text = _standard(value)
    except (TypeError, ValueError):
        text = None  # What can't be written at all is told below, better.
    if text is None:
        text = _written(value)
    elif _OTHER_KEY.search(text) and not _is_plain(value):
        _require_own_names(text)
    return _bytes(text)


# The end of what may be the key of a dictionary that is no text, as it is written: of a number, of `True`.
_OTHER_KEY = re.compile(r'":(?:(?<=[0-9]":)|(?<="true":)|(?<="false":)|(?<="null":))')
_ONE, _SEVERAL = frozenset((str, int, float, bool, type(None))), frozenset((dict, list))
_KEYS = frozenset((str,))


def _is_plain(value):
    """Whether a dictionary or a list, with all in it, is of JSON's types, and all keys are texts."""
    waiting = [value]
    for each in waiting:
        if type(each) is dict:
            if not _KEYS.issuperset(map(type, each)):
                return False
            each = each.values()
        elif type(each) is not list:
            return False
        waiting += [inner for inner in each if type(inner) not in _ONE]
    return True


def _of_own_names(pairs):
    """An object, whose names must differ: most readers would keep the last of two values in silence."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two keys of a dictionary become the same one in JSON: {quoted(twice)}")
    return made


def _require_own_names(text):
    try:
        _unique.decode(text)
    except ValueError as error:  # The reader's frames say nothing.
        raise ValueError(str(error)) from None


_unique = json.JSONDecoder(object_pairs_hook=_of_own_names, parse_int=str, parse_float=str)


def _written(value):
    """A value's text from the writer in Python."""
    pieces = []
    _put(value, set(), pieces.append)
    return "".join(pieces)


def _put(value, above, put):
    """Writes anything, exactly, or says what can't be written. `above` knows the containers `value` is in."""
    if value is None or value is True or value is False:
        put({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, str):
        put(quoted(value))
    elif isinstance(value, int):
        put(int.__repr__(value))
    elif isinstance(value, float):
        put(float.__repr__(value) if math.isfinite(value) else "null")
    elif isinstance(value, decimal.Decimal):
        put(format(value, "f") if value.is_finite() else "null")
    elif id(value) in above:
        raise ValueError(f"a {type(value).__name__} contains itself, so it can't be written as JSON")
    else:
        above.add(id(value))
        if isinstance(value, dict):
            _put_object(value, above, put)
        elif isinstance(value, (list, tuple)):
            _put_list(value, above, put)
        elif hasattr(value, "model_dump"):
            _put_model(value, above, put)
        else:
            _put(plain(value), above, put)
        above.discard(id(value))


def _put_object(value, above, put):
    put("{")
    mark = ""
    names = [_key(key) for key in value]
    _of_own_names([(name, None) for name in names])
    for name, member in zip(names, value.values()):
        put(f"{mark}{quoted(name)}:")
        _put(member, above, put)
        mark = ","
    put("}")


def _put_model(value, above, put):
    """Writes a model of pydantic: its values, and where one can't be written, what pydantic writes itself."""
    pieces = []
    try:
        _put(value.model_dump(), set(above), pieces.append)
    except TypeError:
        pieces = []
        _put(value.model_dump(mode="json"), above, pieces.append)
    for piece in pieces:
        put(piece)


def _put_list(value, above, put):
    put("[")
    mark = ""
    for member in value:
        put(mark)
        _put(member, above, put)
        mark = ","
    put("]")


def _key(key):
    """The name a dictionary's key becomes: what would be written for it, without quotes."""
    if isinstance(key, str):
        return str.__str__(key)
    written = _written(key)
    return read(written) if written.startswith('"') else written


def _bytes(text):
    # Half a surrogate pair has no UTF-8; as `\udc80` it is JSON.
    return text.encode("utf-8", "backslashreplace")


def _float(value):
    return b"null" if not math.isfinite(value) else repr(value).encode("ascii")


# For a value of exactly one of these types: what writes it.
DIRECT = {
    int: lambda value: b"%d" % value,
    str: lambda value: _bytes(quoted(value)),
    float: _float,
    bool: lambda value: b"true" if value else b"false",
    type(None): lambda value: b"null",
    dict: _encoded,
    list: _encoded,
}
