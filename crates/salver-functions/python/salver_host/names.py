"""Names in type hints: what the hints of a function or a class are, and what a name means that stands in one."""

import contextlib
import inspect
import sys
import typing

# With what stands in `Annotated` and `Required`.
_WHOLE = {"include_extras": True} if sys.version_info >= (3, 9) else {}
# What `Final[int]` and the like are made of. On old versions of Python some are of typing_extensions.
_WRAPPERS = ("Final", "ClassVar", "Required", "NotRequired", "ReadOnly")
# The variables by which names are looked up that stand in the hints that are being read.
_variables = {}


def hints(target):
    """The types that a function's parameters, or a class's members, are annotated with; those that can't be found out
    are left away."""
    target = inspect.unwrap(target)
    try:
        return typing.get_type_hints(target, **_WHOLE)
    except Exception:  # Any name of a hint may be missing, and looking one up may run user code.
        found, variables = {}, _variables_of(target)
        for name, hint in getattr(target, "__annotations__", {}).items():
            try:
                while isinstance(hint, str):  # In a file that makes texts of all hints, one may be a text of a text.
                    hint = eval(hint, variables)
                found[name] = hint
            except Exception:
                continue
        return found


@contextlib.contextmanager
def within(target):
    """Names in hints mean what they mean where a function, a class or an alias stands."""
    global _variables
    before, _variables = _variables, _variables_of(target)
    try:
        yield
    finally:
        _variables = before


def _variables_of(target):
    target = inspect.unwrap(target) if callable(target) else target
    own = getattr(target, "__globals__", None)
    return own if own is not None else vars(sys.modules.get(getattr(target, "__module__", None), typing))


def is_name(hint):
    """Whether it is a name, which is looked up later: in a hint that contains itself one stands for the whole."""
    return isinstance(hint, (str, typing.ForwardRef))


def key(hint):
    """What such a name is known by."""
    return hint if isinstance(hint, str) else hint.__forward_arg__, id(_variables)


def meaning(hint):
    """What such a name means; `...`, of which nothing is known, when that can't be found out."""
    try:
        while is_name(hint):
            hint = eval(key(hint)[0], _variables)
        return hint
    except Exception:
        return ...


def wrapper(hint):
    """`Required` and the like that a hint stands in, by name; `None`: in none of them."""
    name = getattr(typing.get_origin(hint), "_name", None)
    return name if name in _WRAPPERS else None
