"""Pydantic, where a hint says what only it can check: constraints and validators in `Annotated`, and its own types.

It is imported when a hint asks for it. Models, which check by themselves, are no matter of this module.
"""

import dataclasses
import enum
import sys

from salver_host import choices, scalars
from salver_host.scalars import Taken

_LIBRARIES = ("annotated_types", "pydantic", "pydantic_core", "pydantic_extra_types")
# What says nothing of the values that are taken. All values are read strictly.
_SILENT = (
    "DocInfo", "Examples", "PlainSerializer", "SerializeAsAny", "SkipValidation", "Strict", "Tag", "Unit",
    "WithJsonSchema", "WrapSerializer",
)
# What checks values of the type, once there are such. All else may also take others: `BeforeValidator`, `Json`.
_CHECKS = ("AfterValidator", "AllowInfNan", "PathType", "UuidVersion")
_OWN = "__get_pydantic_core_schema__"
_KINDS = {"string": "text", "object": "object"}


def _pydantic():
    """Pydantic, if there is one that can check single hints, which it can since version 2."""
    try:
        import pydantic
    except ImportError:
        return None
    return pydantic if hasattr(pydantic, "TypeAdapter") else None


def field(value):
    """Whether it is what pydantic's `Field` gives."""
    module = sys.modules.get("pydantic.fields")
    return module is not None and isinstance(value, module.FieldInfo)


def _is_of_libraries(kind):
    return str(getattr(kind, "__module__", "")).partition(".")[0] in _LIBRARIES


def marks(annotated):
    """What stands in an `Annotated` that pydantic has to check."""
    return _demanding(annotated.__metadata__)


def _demanding(metadata):
    found = []
    for mark in metadata:
        kind = mark if isinstance(mark, type) else type(mark)
        if field(mark):
            found += _demanding(mark.metadata)
            if mark.discriminator is not None:
                found.append(mark)
        elif kind.__name__ in _SILENT or hasattr(kind, "model_validate"):
            continue
        elif any(map(_is_of_libraries, kind.__mro__)) or hasattr(kind, _OWN) and _pydantic():
            found.append(mark)
    return found


def are_checks(annotated):
    """Whether all of them check a value that is of the type already."""
    return all(map(_is_check, marks(annotated)))


def _is_check(mark):
    kind = mark if isinstance(mark, type) else type(mark)
    own = any(each.__module__ == "annotated_types" for each in kind.__mro__) and not hasattr(kind, _OWN)
    return own or kind.__name__ in _CHECKS and _is_of_libraries(kind)


def is_own(kind):
    """Whether a class, or an alias, is one that only pydantic knows how to make and to check."""
    if hasattr(kind, "model_validate") or isinstance(kind, type) and issubclass(kind, enum.Enum):
        return False
    if _is_of_libraries(kind):
        return True
    return isinstance(kind, type) and _is_marked(kind) and _pydantic() is not None


def _is_marked(kind):
    if hasattr(kind, _OWN) or "__pydantic_config__" in vars(kind):
        return True
    if dataclasses.is_dataclass(kind):
        return hasattr(kind, "__pydantic_validator__") or any(field(each.default) for each in dataclasses.fields(kind))
    return any(map(field, getattr(kind, "_field_defaults", {}).values()))


def annotated(hint, outermost, taken):
    """What an `Annotated` with such marks says. `taken`: what its type alone does. `outermost`: the same marks, without
    what stands in its type: that has been checked then, and must not be again, as code that checks may make other
    values."""
    if not are_checks(hint):
        return _whole(hint, taken.nullable, taken.optional, "any")
    try:
        adapter = _adapter(outermost)
    except TypeError:  # Some marks are for few types.
        adapter = _adapter(hint)
    return taken.then(adapter.validate_python)


def own(hint):
    """What a hint says that is one of pydantic's own."""
    return _whole(hint, False, False, _KINDS.get(schema(hint).get("type"), "any"))


def schema(hint):
    """The schema that pydantic has of a hint, in its words."""
    try:
        return _adapter(hint).json_schema()
    except Exception:  # Of what only code can check there is none.
        return {}


def _whole(hint, nullable, optional, kind):
    validate = _adapter(hint).validate_python

    def strict(value):
        return validate(scalars.anything(value))

    if kind != "any":
        return Taken(kind, convert=strict)
    return Taken(nullable=nullable, optional=optional, convert=choices.marked(strict, validate), strict=strict,
                 from_text=validate, texts=True)


def _adapter(hint):
    """What checks values for a hint."""
    pydantic = _pydantic()
    if pydantic is None:
        raise ImportError(f"the hint {hint} asks for pydantic 2, which is not installed for this Python")
    config = {"arbitrary_types_allowed": True}
    try:
        try:
            return pydantic.TypeAdapter(hint, config=config)
        except pydantic.PydanticUserError as error:
            if error.code != "type-adapter-config-unused":
                raise
            return pydantic.TypeAdapter(hint)  # The class has settings of its own.
    except Exception as error:
        raise TypeError(f"pydantic can't check the hint {hint}: {error}") from error
