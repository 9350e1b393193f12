"""Type hints: what a hint says a function takes, and what makes such a value, with all that is in it."""

import collections
import collections.abc
import enum
import functools
import json
import types
import typing
from dataclasses import MISSING, InitVar

from salver_host import adapters, choices, members, names, scalars, tables
from salver_host.scalars import PASSING, SCALARS, Misfit, OtherKind, Taken, misfit

_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
# What is made of a list, by what the hint says.
_LISTS = {
    **dict.fromkeys((list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection,
                     collections.abc.MutableSequence, collections.abc.Container, collections.abc.Reversible), list),
    tuple: tuple, set: set, collections.abc.Set: set, collections.abc.MutableSet: set, frozenset: frozenset,
    collections.deque: collections.deque,
}
_OBJECTS = {
    **dict.fromkeys((dict, collections.abc.Mapping, collections.abc.MutableMapping), dict),
    collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: functools.partial(collections.defaultdict, None),
}
# What a parameter may be of which no more is said than this kind.
_OF_TABLE = dict.fromkeys((None, "object"), tables.of_stream)
# The server checks these itself, where they stand alone or in a list.
_CHECKED = ("boolean", "integer", "number", "text")
_LONGEST_NAME = 60
_UNPACK = getattr(typing, "Unpack", MISSING)
# Of what may contain itself: what is being looked at, and what is known.
_under_way, _known = set(), {}


def taken(hint):
    """What a type hint says."""
    if hint is None:
        hint = type(None)
    if names.is_name(hint):
        return _once(names.key(hint), lambda: taken(names.meaning(hint)))
    if isinstance(hint, InitVar):
        return taken(hint.type)
    if not isinstance(hint, collections.abc.Hashable):
        return Taken()
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        return _union(arguments)
    if origin is getattr(typing, "Annotated", MISSING):
        one = taken(arguments[0])
        return adapters.annotated(hint, outermost(hint), one) if adapters.marks(hint) else one
    if origin is getattr(typing, "Literal", MISSING):
        return choices.literal(arguments)
    # What a hint is made of may have no hash, such as a note in `Annotated`.
    kind = origin or hint
    if kind in _LISTS:
        return _list(kind, arguments, is_bare=hint in (tuple, typing.Tuple))
    if kind is collections.Counter:
        return _mapping(collections.Counter, (*(arguments or (typing.Any,)), int))
    if kind in _OBJECTS:
        return _mapping(_OBJECTS[kind], arguments)
    if isinstance(hint, typing.TypeVar):
        return taken(hint.__bound__) if hint.__bound__ is not None else Taken()
    if adapters.is_own(kind):
        return adapters.own(hint)
    if isinstance(origin, type):
        return _simple(origin, arguments)
    # `Final` and the like say nothing of the value.
    return taken(arguments[0]) if names.wrapper(hint) else _simple(hint)


def outermost(annotated):
    """An `Annotated` without what stands in its type."""
    return typing.Annotated[(_shell(typing.get_args(annotated)[0]), *annotated.__metadata__)]


def _shell(hint):
    """A type without what is in it."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        return typing.Union[tuple(map(_shell, arguments))]
    kind = origin or hint
    if not isinstance(kind, collections.abc.Hashable):
        return typing.Any
    if kind in _LISTS:
        return _LISTS[kind]
    if _OBJECTS.get(kind) is dict:
        return dict
    return kind if kind in SCALARS else typing.Any


def of_kind(kind, is_list):
    """The same for a kind that an annotation says, of a parameter without hint."""
    of_one = {"integer": int, "number": float, "bytes": bytes}.get(kind)
    if is_list:
        return taken(typing.List[of_one]) if of_one else Taken(kind or "any", True)
    return taken(of_one) if of_one else Taken(kind or "any", of_table=_OF_TABLE.get(kind))


def _simple(hint, arguments=()):
    if hint is typing.Any or hint is object:
        return Taken(of_table=tables.of_stream)
    if hint in SCALARS:
        return SCALARS[hint]
    table = tables.reader(hint)
    if table is not None:
        convert, of_table = table
        return Taken("object", convert=lambda value: convert(scalars.anything(value)), of_table=of_table)
    if not isinstance(hint, type):
        for name in ("__supertype__", "__value__"):  # NewType, and the statement `type`.
            if hasattr(hint, name):
                return _alias(hint, name)
        return Taken()
    if issubclass(hint, enum.Enum):
        return choices.enumeration(hint)
    if hasattr(hint, "model_validate"):  # Models of pydantic.
        return Taken("object", convert=lambda value: hint.model_validate(scalars.anything(value)))
    if members.has(hint):
        strict, exact = members.record(hint, arguments, taken)
        return Taken("object", convert=strict, exact=exact, digits=True)
    return Taken("object", convert=_any_object) if issubclass(hint, dict) else Taken()


def _alias(hint, name):
    with names.within(hint):
        return _once(hint, lambda: taken(getattr(hint, name)))


def _once(key, find):
    """What `find` says, which may ask for the same again: in that place it is told once it is known."""
    if key in _known:
        return _known[key]
    if key not in _under_way:
        _under_way.add(key)
        try:
            _known[key] = find()
        finally:
            _under_way.discard(key)
        return _known[key]

    def of_text(text):
        try:
            return _known[key].strict(scalars.of_untyped_text(text))
        except Misfit:
            return _known[key].strict(text)

    return Taken(strict=lambda value: _known[key].strict(value), exact=lambda value: _known[key].exact(value),
                 from_text=of_text, digits=True)


def _union(arguments):
    kinds = [taken(argument) for argument in arguments if argument is not type(None)]
    optional = len(kinds) < len(arguments) or any(each.optional for each in kinds)
    if len(kinds) > 1:
        return choices.union(kinds, optional)
    one = kinds[0]
    convert = one.convert and _or_null(one.convert)
    return Taken(one.kind, one.is_list, True, convert, _or_null(one.strict), _or_null(one.exact), one.from_text,
                 one.texts, one.digits, one.of_column, one.from_body, one.of_table)


def _or_null(convert):
    return lambda value: None if value is None else convert(value)


def _list(origin, arguments, is_bare):
    make = _LISTS[origin]
    if any(getattr(each, "__unpacked__", False) or typing.get_origin(each) is _UNPACK for each in arguments):
        arguments = ()  # Of a tuple with an open middle only that it is one.
    elif make is tuple and not is_bare and not (len(arguments) == 2 and arguments[1] is ...):
        return _tuple([] if arguments == ((),) else arguments)
    one = taken(arguments[0]) if arguments else Taken()
    is_checked = not one.is_list and not one.nullable and one.kind in _CHECKED
    within = one.convert if is_checked or one.texts else one.strict
    if within in (None, scalars.anything):
        convert = None if make is list else make
    else:
        convert = _each(make, within)

    def of_column(column):
        return make([None if each is None else within(each) for each in column])

    def of_text(given):
        return make([one.from_text(each) for each in ([given] if isinstance(given, str) else given)])

    # Of a list of lists, or of what may be null, the offer can only say that it is one.
    kind = "any" if one.is_list or one.nullable else one.kind
    return Taken(kind, True, convert=convert, strict=_each(make, one.strict), exact=_each(make, one.exact),
                 from_text=of_text, texts=one.texts, digits=one.digits,
                 of_column=convert if convert in (None, make) else of_column)


def _each(make, one):
    def convert(value):
        if type(value) is not list:
            raise OtherKind("it is not a list")
        made = []
        try:
            for each in value:
                made.append(one(each))
        except PASSING:
            raise
        except Exception as error:
            raise misfit(error, f"[{len(made)}]") from error
        return made if make is list else make(made)

    return convert


def _tuple(arguments):
    """A tuple of so many elements, each of its own type."""
    parts = [taken(each) for each in arguments]
    count = len(parts)

    def converter(takers):
        def convert(value):
            if type(value) is not list:
                raise OtherKind("it is not a list")
            if len(value) != count:
                raise Misfit(f"it has {len(value)} elements, and takes {count}")
            at = 0
            try:
                made = []
                for at, each in enumerate(value):
                    made.append(takers[at](each))
                return tuple(made)
            except PASSING:
                raise
            except Exception as error:
                raise misfit(error, f"[{at}]") from error

        return convert

    of_texts = converter([each.from_text for each in parts])
    texts = len({each.kind for each in parts}) > 1 or any(each.texts for each in parts)
    strict = converter([each.strict for each in parts])
    marked = converter([choices.marked(each.strict, each.from_text) for each in parts])
    alike = {each.kind for each in parts} if not any(each.is_list or each.nullable for each in parts) else ()
    return Taken(
        parts[0].kind if len(alike) == 1 else "any", True, convert=marked if texts else strict, strict=strict,
        exact=converter([each.exact for each in parts]), texts=texts, digits=any(each.digits for each in parts),
        from_text=lambda given: of_texts([given] if isinstance(given, str) else given),
    )


def _mapping(make, arguments):
    if len(arguments) != 2:
        return Taken("object", convert=_any_object if make is dict else lambda value: make(_any_object(value)))
    key, one = _key(arguments[0]), taken(arguments[1])
    strict, exact = (_members_of(make, key, each) for each in (one.strict, one.exact))
    return Taken("object", convert=strict, exact=exact, digits=one.digits)


def _members_of(make, key, one):
    def convert(value):
        made = {}
        for name, each in _object(value).items():
            try:
                own = name if key is None else key(name)
            except Exception as error:
                raise Misfit(f"its key {_shown(name)} is not right: {misfit(error).why}") from error
            if own in made:
                raise Misfit(f"two of its keys are the same, one of them {_shown(name)}")
            try:
                made[own] = one(each)
            except PASSING:
                raise
            except Exception as error:
                raise misfit(error, f"[{_shown(name)}]") from error
        return made if make is dict else make(made)

    return convert


def _shown(name):
    return json.dumps(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "...", ensure_ascii=False)


def _object(value):
    if type(value) is not dict:
        raise OtherKind("it is not an object")
    return value


def _any_object(value):
    return scalars.anything(_object(value))


def _key(hint):
    """What makes the key of a dictionary of the text that it is in JSON; `None`: nothing has to."""
    if hint in (str, typing.Any, object):
        return None
    part = taken(hint)
    if part.is_list or part.kind in ("object", "bytes"):
        return _no_key
    return None if part.strict is scalars.anything and not part.texts else part.from_text


def _no_key(_):
    raise Misfit("an object of JSON has no keys of this type")
