"""Schemas: type hints in the words of OpenAPI 3.0, for documents; what is checked stands in `parameters.py`."""

import collections
import collections.abc
import datetime
import decimal
import enum
import fractions
import ipaddress
import json
import pathlib
import types
import typing
import uuid
from dataclasses import MISSING, InitVar, is_dataclass

import salver
from salver_host import adapters, members, names, tables, type_hints

_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_SETS = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
_ARRAYS = (
    list, *_SETS, collections.deque, collections.abc.Sequence, collections.abc.MutableSequence,
    collections.abc.Iterable, collections.abc.Collection,
)
_STREAMS = (
    collections.abc.Iterator, collections.abc.Generator, collections.abc.AsyncIterator, collections.abc.AsyncGenerator,
)
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_SIMPLE = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    decimal.Decimal: {"type": "number"},
    datetime.timedelta: {"type": "number"},
    str: {"type": "string"},
    bytes: {"type": "string", "format": "binary"},
    salver.Upload: {"type": "string", "format": "binary"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    bytearray: {"type": "string", "format": "binary"},
    ipaddress.IPv4Address: {"type": "string", "format": "ipv4"},
    ipaddress.IPv6Address: {"type": "string", "format": "ipv6"},
    **dict.fromkeys((
        pathlib.Path, pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath, ipaddress.IPv4Network,
        ipaddress.IPv6Network, ipaddress.IPv4Interface, ipaddress.IPv6Interface,
    ), {"type": "string"}),
    **dict.fromkeys((fractions.Fraction, complex), {"anyOf": [{"type": "number"}, {"type": "string"}]}),
}
# Of a class in a class in a class the rest is an object.
_DEEPEST = 6
# Whether the schema is that of an answer, in which a class has other members than in arguments.
_is_answer = False
# A schema beyond that is too long for a document.
_LONGEST = 16 * 1024


def of(hint, is_answer=False):
    """The schema of a hint; `None` when nothing is known of it, or it is too long."""
    global _is_answer
    try:
        _is_answer = is_answer
        schema = _of(hint, 0)
        return schema if schema and len(json.dumps(schema, allow_nan=False)) <= _LONGEST else None
    except Exception:  # Classes may do anything when they are looked at.
        return None


def with_default(schema, default):
    """The schema of a parameter with this default, where that is a value of JSON."""
    if isinstance(default, enum.Enum):
        default = default.value
    if default is None or isinstance(default, (bool, int, float, str)) and default == default:
        try:
            json.dumps(default, allow_nan=False)
        except ValueError:
            return schema
        return {**(schema or {}), **({} if default is None else {"default": default})} or None
    return schema


def _of(hint, depth):
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is getattr(typing, "Annotated", MISSING):
        return _annotated(hint, depth)
    if origin is None and isinstance(hint, collections.abc.Hashable) and hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    if depth > _DEEPEST:
        return {}
    if isinstance(hint, InitVar):
        return _of(hint.type, depth)
    if names.wrapper(hint):
        return _of(arguments[0], depth)
    if origin in _UNIONS:
        return _union(arguments, depth)
    if origin is getattr(typing, "Literal", MISSING):
        return _choice([each.value if isinstance(each, enum.Enum) else each for each in arguments])
    kind = origin or hint
    if kind is tuple:
        return _tuple(arguments, depth)
    if kind in _STREAMS:
        return {}
    if kind in _ARRAYS:
        unique = {"uniqueItems": True} if kind in _SETS else {}
        return {"type": "array", "items": _of(arguments[0], depth + 1) if arguments else {}, **unique}
    if kind in _OBJECTS:
        values = _of(arguments[1], depth + 1) if len(arguments) == 2 else {}
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if adapters.is_own(kind):
        return _of_pydantic(adapters.schema(hint), depth)
    for name in ("__supertype__", "__value__"):  # NewType, and the statement `type`.
        if hasattr(hint, name) and not isinstance(hint, type):
            return _of(getattr(hint, name), depth + 1)
    return _class(hint, depth) if isinstance(hint, type) else {}


def _class(hint, depth):
    if tables.reader(hint) is not None:
        return {"type": "array", "items": {"type": "object"}}
    if issubclass(hint, enum.Flag):
        return {"type": "integer"}
    if issubclass(hint, enum.Enum):
        return _choice([member.value for member in hint])
    if hasattr(hint, "model_json_schema"):  # Models of pydantic.
        return _of_pydantic(hint.model_json_schema(), depth)
    if members.has(hint):
        return _object(hint, depth)
    return {"type": "object"} if issubclass(hint, dict) else {}


def _annotated(hint, depth):
    """The schema of a type, with what pydantic says of the constraints that stand beside it."""
    if not adapters.marks(hint):
        return _of(typing.get_args(hint)[0], depth)
    if not adapters.are_checks(hint):
        return _of_pydantic(adapters.schema(hint), depth)
    own = _of(typing.get_args(hint)[0], depth)
    said = _of_pydantic(adapters.schema(type_hints.outermost(hint)), depth)
    if "anyOf" in said and "anyOf" not in own:  # A decimal may be a text for pydantic.
        said = {**said, **said["anyOf"][0]}
        del said["anyOf"]
    return {**said, **own}


def _object(hint, depth):
    properties, required = {}, []
    for name, each in members.of(hint, _is_answer).items():
        if name.startswith("_") and is_dataclass(hint):
            continue
        schema = _of(each.hint, depth + 1)
        properties[name] = schema if each.default is MISSING else with_default(schema, each.default) or {}
        if each.required:
            required.append(name)
    schema = {"type": "object", "title": hint.__name__, "properties": properties}
    said = (vars(hint).get("__doc__") or "").strip()
    if said and not said.startswith(f"{hint.__name__}("):  # A dataclass without its own gets its signature.
        schema["description"] = said.partition("\n")[0]
    return {**schema, **({"required": required} if required else {})}


def _union(arguments, depth):
    kinds = [_of(each, depth + 1) for each in arguments if each is not type(None)]
    nullable = {"nullable": True} if type(None) in arguments else {}
    if len(kinds) == 1:
        return {**kinds[0], **nullable}
    return {"anyOf": kinds, **nullable} if all(kinds) else nullable


def _choice(values):
    kinds = {_SIMPLE.get(type(value), {}).get("type") for value in values if value is not None}
    kind = kinds.pop() if len(kinds) == 1 else None
    values = [_in_json(value) for value in values]
    json.dumps(values)
    return {**({"type": kind} if kind else {}), "enum": values, **({"nullable": True} if None in values else {})}


def _in_json(value):
    """A value as JSON has it, which has no decimals and no dates."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value) if isinstance(value, (uuid.UUID, pathlib.PurePath)) else value


def _tuple(arguments, depth):
    if not arguments or len(arguments) == 2 and arguments[1] is ...:
        return {"type": "array", "items": _of(arguments[0], depth + 1) if arguments else {}}
    kinds = [_of(each, depth + 1) for each in arguments]
    same = all(each == kinds[0] for each in kinds)
    items = kinds[0] if same else {"anyOf": kinds} if all(kinds) else {}
    return {"type": "array", "items": items, "minItems": len(kinds), "maxItems": len(kinds)}


def _of_pydantic(schema, depth):
    return _inlined(schema, schema.pop("$defs", {}), depth)


def _inlined(schema, definitions, depth):
    """A schema of pydantic without references, and with the words that OpenAPI 3.0 has."""
    if isinstance(schema, list):
        return [_inlined(each, definitions, depth) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        named = definitions.get(schema["$ref"].rpartition("/")[2], {})
        return _inlined(named, definitions, depth + 1) if depth < _DEEPEST else {}
    kinds = schema.get("anyOf", [])
    if {"type": "null"} in kinds:
        others = [each for each in kinds if each != {"type": "null"}]
        rest = {name: each for name, each in schema.items() if name != "anyOf" and (name, each) != ("default", None)}
        merged = {**rest, **(others[0] if len(others) == 1 else {"anyOf": others}), "nullable": True}
        return _inlined(merged, definitions, depth)
    if "const" in schema:
        schema = {"enum": [schema["const"]], **{name: each for name, each in schema.items() if name != "const"}}
    if "mapping" in schema.get("discriminator", ()):  # It names what is inlined.
        schema = {name: each for name, each in schema.items() if name != "discriminator"}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if type(schema.get(exclusive)) in (int, float):
            schema = {**schema, bound: schema[exclusive], exclusive: True}
    return {name: _inlined(each, definitions, depth) for name, each in schema.items()}
