"""Parameters: what a function's signature says it takes."""

import functools
import inspect
import typing

from salver_host import adapters, faults

_EMPTY = inspect.Parameter.empty
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY)


class _Identical:
    """What contains these objects, and none that are only equal to them: comparing a default may run user code."""

    def __init__(self, *members):
        self._members = members

    def __contains__(self, value):
        return any(value is member for member in self._members)


# Where a default is `...`, the parameter must be given, as in FastAPI.
NO_DEFAULT = _Identical(_EMPTY, ...)


class Parameter:
    """One parameter of a function."""

    def __init__(self, name, taken, required, description=None):
        self.name, self.taken, self.required, self.description = name, taken, required, description
        self.schema = None

    def offer(self):
        """Its part of the offer."""
        schema = {} if self.schema is None else {"schema": self.schema}
        texts = {"texts": True} if self.taken.texts else {}
        return {
            **schema,
            **texts,
            "name": self.name,
            "kind": self.taken.kind,
            "list": self.taken.is_list,
            "required": self.required,
            "table": self.taken.of_table is not None,
            "description": self.description,
        }


def without_fields(signature, hints):
    """A signature with what pydantic's `Field` means, as a default or in `Annotated`, and what makes these defaults, by
    name. The constraints of a default are added to its hint."""
    fields = {name: _field(each, hints.get(name)) for name, each in signature.parameters.items() if each.kind in NAMED}
    fields = {name: field for name, field in fields.items() if field is not None}
    if not fields:
        return signature, {}
    parameters = []
    for name, each in signature.parameters.items():
        field = fields.get(name)
        if field is not None:
            if field is each.default:
                hints[name] = typing.Annotated[hints.get(name, typing.Any), field]
            # What is made anew for each call can't be told: the field, which is no value of JSON, stands for it.
            known = field if field.default_factory is not None else field.default
            each = each.replace(default=... if field.is_required() else known)
        elif each.kind in NAMED and each.default is _EMPTY:
            each = each.replace(default=...)  # One without may not stand behind one with a default.
        parameters.append(each)
    return signature.replace(parameters=parameters), {name: _made(name, field) for name, field in fields.items()}


def _made(name, field):
    def missing():
        raise faults.ArgumentFault(f"`{name}` is missing")

    return missing if field.is_required() else functools.partial(field.get_default, call_default_factory=True)


def _field(parameter, hint):
    """The `Field` that says what a parameter's default is."""
    if adapters.field(parameter.default):
        return parameter.default
    marks = getattr(hint, "__metadata__", ()) if parameter.default is _EMPTY else ()
    return next((each for each in marks if adapters.field(each) and not each.is_required()), None)


def filled(function, made):
    """A function that is called with what is made for the arguments that are not given."""
    if not made:
        return function

    def call(**arguments):
        for name, make in made.items():
            if name not in arguments:
                arguments[name] = make()
        return function(**arguments)

    return call
