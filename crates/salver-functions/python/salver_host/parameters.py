"""Parameters: what a type hint says a function takes, and what makes such a value of JSON's."""

import base64
import collections.abc
import datetime
import decimal
import enum
import functools
import inspect
import pathlib
import types
import typing
import uuid
from dataclasses import MISSING, fields, is_dataclass

import salver
from salver_host import tables

_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_FROM_TEXT = {
    datetime.datetime: lambda value: datetime.datetime.fromisoformat(value.replace("Z", "+00:00")),
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
    pathlib.Path: pathlib.Path,
}
# What stands in the arguments for a file of a form.
_FILE = {"filename", "content_type", "content"}


# What a parameter may be of which no more is said than this kind.
_OF_TABLE = dict.fromkeys((None, "object"), tables.of_stream)


class Taken:
    """What a hint says: kind and list as the offer tells them, whether `None` is taken too, the converter (`None` where
    JSON's value is right as it is), what reads it from a call's body when it is no argument, and what makes it of an
    Arrow stream (`None`: nothing does)."""

    def __init__(self, kind="any", is_list=False, nullable=False, convert=None, from_body=None, of_table=None):
        self.kind, self.is_list, self.nullable = kind, is_list, nullable
        self.convert, self.from_body, self.of_table = convert, from_body, of_table


class Parameter:
    """One parameter of a function."""

    def __init__(self, name, taken, required, description=None):
        self.name, self.taken, self.required, self.description = name, taken, required, description
        self.schema = None

    def offer(self):
        """Its part of the offer."""
        schema = {} if self.schema is None else {"schema": self.schema}
        return {
            **schema,
            "name": self.name,
            "kind": self.taken.kind,
            "list": self.taken.is_list,
            "required": self.required,
            "table": self.taken.of_table is not None,
            "description": self.description,
        }


def hints(function):
    """The types a function's parameters are annotated with; those that can't be found out are left away."""
    target = inspect.unwrap(function)
    try:
        return typing.get_type_hints(target)
    except Exception:  # Any name of a hint may be missing, and looking one up may run user code.
        found = {}
        for name, hint in getattr(target, "__annotations__", {}).items():
            try:
                while isinstance(hint, str):  # In a file that makes texts of all hints, one may be a text of a text.
                    hint = eval(hint, target.__globals__)
                found[name] = hint
            except Exception:
                continue
        return found


def taken(hint):
    """What a type hint says."""
    if not isinstance(hint, collections.abc.Hashable):
        return Taken()
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        return _union(arguments)
    if origin is getattr(typing, "Annotated", MISSING):
        return taken(arguments[0])
    if origin is getattr(typing, "Literal", MISSING):
        return _choice({value: value for value in arguments})
    if hint in (list, tuple, set, frozenset) or origin in _LISTS:
        return _list(origin or hint, arguments)
    if hint in _OBJECTS or origin in _OBJECTS:
        return _mapping(arguments)
    return _simple(hint)


def of_kind(kind, is_list):
    """The same for a kind that an annotation says, of a parameter without hint."""
    of_one = {"integer": int, "number": float, "bytes": bytes}.get(kind)
    if is_list:
        return taken(typing.List[of_one]) if of_one else Taken(kind or "any", True)
    return taken(of_one) if of_one else Taken(kind or "any", of_table=_OF_TABLE.get(kind))


def _simple(hint):
    if hint is typing.Any or hint is object:
        return of_kind(None, False)
    if hint in _SCALARS:
        return _SCALARS[hint]
    table = tables.reader(hint)
    if table is not None:
        convert, of_table = table
        return Taken("object", convert=convert, of_table=of_table)
    if not isinstance(hint, type):
        for name in ("__supertype__", "__value__"):  # NewType, and the statement `type`.
            if hasattr(hint, name):
                return taken(getattr(hint, name))
        return Taken()
    if issubclass(hint, enum.Enum):
        return _choice({member.value: member for member in hint})
    if hasattr(hint, "model_validate"):  # Models of pydantic.
        return Taken("object", convert=hint.model_validate)
    if is_dataclass(hint):
        return Taken("object", convert=_record(hint))
    if issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return Taken("object", convert=_record(hint))
    if issubclass(hint, dict):  # Also a TypedDict, which is a `dict` while it runs.
        return Taken("object", convert=_record(hint) if hasattr(hint, "__required_keys__") else None)
    return Taken()


def _union(arguments):
    kinds = [taken(argument) for argument in arguments if argument is not type(None)]
    nullable = len(kinds) < len(arguments)
    if len(kinds) == 1:
        one = kinds[0]
        convert = one.convert and (lambda value: None if value is None else one.convert(value))
        return Taken(one.kind, one.is_list, nullable, convert, one.from_body, one.of_table)
    # A float or an int is a number.
    numbers = {kind.kind for kind in kinds} == {"integer", "number"} and not any(kind.is_list for kind in kinds)
    if numbers:
        return Taken("number", nullable=nullable)
    same = len({kind.kind for kind in kinds}) == 1 and not any(kind.is_list for kind in kinds)
    kind = kinds[0].kind if same and kinds[0].kind != "bytes" else "any"
    return Taken(kind, nullable=nullable, convert=_first_of(kinds) if any(each.convert for each in kinds) else None)


def _first_of(kinds):
    """Makes a value of the first kind that takes it; plain values stay what JSON says they are."""
    plain = {"boolean": (bool,), "integer": (int,), "number": (int, float), "text": (str,), "object": (dict, list)}

    def convert(value):
        if value is None:
            return None
        said = []
        for each in kinds:
            wanted = (list,) if each.is_list else plain.get(each.kind)
            if wanted and (not isinstance(value, wanted) or isinstance(value, bool) and each.kind != "boolean"):
                continue
            try:
                return value if each.convert is None else each.convert(value)
            except (MemoryError, salver.HTTPError):
                raise
            except Exception as error:
                said.append(str(error))
        raise ValueError("; ".join(said) or "it is of none of its types")

    return convert


def _list(origin, arguments):
    element = taken(arguments[0]) if arguments and arguments[0] is not typing.Any else Taken()
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is ...):
        element = Taken() if len(set(arguments)) != 1 else element
    if element.nullable:
        element = Taken(is_list=element.is_list, convert=element.convert)
    make = origin if origin in (tuple, set, frozenset) else None
    one = element.convert

    def each_converted(value):
        return (make or list)([one(each) for each in value])

    convert = make if one is None else each_converted
    # Of a list of lists the offer can only say that it is one.
    return Taken("any" if element.is_list else element.kind, True, convert=convert)


def _mapping(arguments):
    if len(arguments) != 2:
        return Taken("object", convert=_object)
    key, one = _key(arguments[0]), taken(arguments[1]).convert

    def convert(value):
        items = _object(value).items()
        return {name if key is None else key(name): each if one is None else one(each) for name, each in items}

    return Taken("object", convert=convert)


def _object(value):
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    return value


def _key(hint):
    """What makes the key of a dictionary of the text that it is in JSON; `None`: nothing has to."""
    if hint in (int, float, decimal.Decimal):
        return hint
    return None if hint in (str, typing.Any) else taken(hint).convert


def _choice(members):
    kinds = {_SCALARS[type(value)].kind if type(value) in _SCALARS else "any" for value in members}

    def choose(value):
        try:
            return members[value]
        except (KeyError, TypeError):
            raise ValueError(f"it is none of {', '.join(map(str, members))}") from None

    return Taken(kinds.pop() if len(kinds) == 1 else "any", convert=choose)


def _record(hint):
    """What makes a value of a class with named members: a dataclass, a named tuple, a TypedDict."""

    def make(value):
        parts, required = _members(hint)
        if isinstance(value, list) and issubclass(hint, tuple):
            if len(value) > len(hint._fields):
                raise ValueError(f"it has more than {len(hint._fields)} members")
            value = dict(zip(hint._fields, value))
        _object(value)
        for name in value:
            if name not in parts:
                raise ValueError(f"there is no member `{name}`")
        for name in required:
            if name not in value:
                raise ValueError(f"the member `{name}` is missing")
        given = {}
        for name, each in value.items():
            given[name] = _member(name, parts[name], each)
        return hint(**given)

    return make


@functools.lru_cache(maxsize=None)
def _members(hint):
    """A class's members, and which of them must be there; found at the first call, as a class may name itself."""
    found = hints(hint)
    if not is_dataclass(hint):
        names = hint._fields if issubclass(hint, tuple) else list(found)
        absent = getattr(hint, "_field_defaults", {})
        required = hint.__required_keys__ if issubclass(hint, dict) else [each for each in names if each not in absent]
        return {name: taken(found.get(name, typing.Any)) for name in names}, list(required)
    members = [field for field in fields(hint) if field.init]
    parts = {field.name: taken(found.get(field.name, typing.Any)) for field in members}
    absent = MISSING
    return parts, [each.name for each in members if each.default is absent and each.default_factory is absent]


# What JSON says where a member is of this kind; numbers and texts of a wrong kind would be found much later.
_PLAIN = {"boolean": (bool,), "integer": (int,), "number": (int, float), "text": (str,)}


def _member(name, part, value):
    """The value of a member, of the kind that it has."""
    if value is None and part.nullable:
        return None
    wanted = _PLAIN.get(part.kind)
    is_number = not isinstance(value, bool) or part.kind == "boolean"
    whole = part.kind == "integer" and isinstance(value, float) and value.is_integer()
    if wanted and not part.is_list and not whole and not (isinstance(value, wanted) and is_number):
        raise ValueError(f"the member `{name}` is no {part.kind}")
    if part.is_list and not isinstance(value, list):
        raise ValueError(f"the member `{name}` is no list")
    try:
        return value if part.convert is None else part.convert(value)
    except (MemoryError, salver.HTTPError):
        raise
    except Exception as error:
        raise ValueError(f"the member `{name}` is not right: {error}") from error


def _integer(value):
    return int(value) if type(value) is float and value.is_integer() else value


def _number(value):
    return float(value) if type(value) is int else value


# What converts numbers of JSON, where 2.0 may stand for 2 and 2 for 2.0.
OF_NUMBERS = (_integer, _number)


def _bytes(value):
    if isinstance(value, dict) and set(value) == _FILE:
        value = value["content"]
    return base64.b64decode(value, validate=True) if isinstance(value, str) else value


def _upload(value):
    if not isinstance(value, dict) or set(value) != _FILE:
        raise ValueError("it is not a file of a form")
    return salver.Upload(_bytes(value), value["filename"], value["content_type"])


def _decimal(value):
    return decimal.Decimal(repr(value) if isinstance(value, float) else value)


_SCALARS = {
    bool: Taken("boolean"),
    int: Taken("integer", convert=_integer),
    float: Taken("number", convert=_number),
    str: Taken("text"),
    bytes: Taken("bytes", convert=_bytes, from_body=lambda call: call.body or None),
    decimal.Decimal: Taken("number", convert=_decimal),
    datetime.timedelta: Taken("number", convert=lambda value: datetime.timedelta(seconds=value)),
    salver.Upload: Taken("bytes", convert=_upload),
    salver.Request: Taken("request"),
}
_SCALARS.update((hint, Taken("text", convert=convert)) for hint, convert in _FROM_TEXT.items())
