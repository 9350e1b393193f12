"""Classes with named members: dataclasses, named tuples and TypedDicts."""

import collections
import dataclasses
import functools
import typing
from dataclasses import MISSING

from salver_host import names
from salver_host.scalars import PASSING, Misfit, OtherKind, misfit

_LONGEST_NAME = 60

# A member's hint, whether it must be given, and its default (`MISSING`: none, or one that is made).
Member = collections.namedtuple("Member", ("hint", "required", "default"))


def has(hint):
    """Whether a class is of these."""
    is_tuple = issubclass(hint, tuple) and hasattr(hint, "_fields")
    return dataclasses.is_dataclass(hint) or is_tuple or issubclass(hint, dict) and hasattr(hint, "__required_keys__")


def of(hint, is_answer=False):
    """The members of a class by their names: those that are given when a value is made, or that an answer has."""
    found = names.hints(hint)
    if dataclasses.is_dataclass(hint):
        chosen = dataclasses.fields(hint) if is_answer else _given(hint)
        return {each.name: Member(found.get(each.name, typing.Any), _must(each), each.default) for each in chosen}
    if issubclass(hint, tuple):
        defaults = getattr(hint, "_field_defaults", {})
        return {name: Member(found.get(name, typing.Any), name not in defaults, defaults.get(name, MISSING))
                for name in hint._fields}
    own = {name: found.get(name, typing.Any) for name in getattr(hint, "__annotations__", found)}
    return {name: Member(each, _is_required(each, name in hint.__required_keys__), MISSING)
            for name, each in own.items()}


def _given(hint):
    """What a dataclass is made of: also what only its `__post_init__` gets, and nothing that this one sets."""
    every = hint.__dataclass_fields__.values()
    return [each for each in every if each.init and each._field_type is not dataclasses._FIELD_CLASSVAR]


def _must(field):
    return field.default is MISSING and field.default_factory is MISSING


def _is_required(hint, said):
    """Whether a member of a TypedDict must be there. The class doesn't know it when its hints were texts."""
    while True:
        wrapper = names.wrapper(hint)
        if wrapper in ("Required", "NotRequired"):
            return wrapper == "Required"
        if wrapper is None and not hasattr(hint, "__metadata__"):
            return said
        hint = typing.get_args(hint)[0]


def record(hint, arguments, taken):
    """What makes a value of such a class, strictly and exactly. `arguments`: what stands for the parameters of a
    generic class; `taken`: what is taken for a hint."""
    try:
        return _record(hint, arguments, taken)
    except TypeError:  # What stands in `Annotated` may have no hash.
        return _record.__wrapped__(hint, arguments, taken)


# A class that contains itself is of one record, at any depth.
@functools.lru_cache(maxsize=None)
def _record(hint, arguments, taken):
    # At the first call, as a class may name itself.
    @functools.lru_cache(maxsize=None)
    def parts():
        given = dict(zip(getattr(hint, "__parameters__", ()), arguments))
        with names.within(hint):
            every = of(hint)
            known = {name: taken(_filled_in(each.hint, given)) for name, each in every.items()}
            return known, [name for name, each in every.items() if each.required]

    return tuple(_maker(hint, parts, how) for how in ("strict", "exact"))


def _maker(hint, parts, how):
    """`how`: with which converter of each member."""

    def make(value):
        known, required = parts()
        if isinstance(value, list) and issubclass(hint, tuple):
            if len(value) > len(hint._fields):
                raise Misfit(f"it has more than {len(hint._fields)} members")
            value = dict(zip(hint._fields, value))
        if type(value) is not dict:
            raise OtherKind("it is not an object")
        for name in value:
            if name not in known:
                raise Misfit(f"there is no member `{name[:_LONGEST_NAME]}`")
        for name in required:
            if name not in value:
                raise Misfit(f"the member `{name}` is missing")
        given = {}
        for name, each in value.items():
            try:
                given[name] = getattr(known[name], how)(each)
            except PASSING:
                raise
            except Exception as error:
                raise misfit(error, f".{name}") from error
        return hint(**given)

    return make


def _filled_in(hint, given):
    """A hint with what stands for the parameters of its class."""
    if isinstance(hint, typing.TypeVar):
        return given.get(hint, hint)
    own = getattr(hint, "__parameters__", ())
    return hint[tuple(given.get(each, each) for each in own)] if given and own else hint
