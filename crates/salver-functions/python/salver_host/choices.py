"""One of several: the members of a `Literal` or an `Enum`, and the types of a `Union`."""

import enum

from salver_host import scalars
from salver_host.scalars import PASSING, SCALARS, Misfit, OtherKind, Taken

# The one member of the object that stands for a text of a URL or a form, where the server leaves it to the function
# what it is.
TEXT = "\0text"
# The types of single values that JSON has.
_OF_JSON = (bool, int, float, str, type(None))


def literal(values):
    """What a `Literal` of these values says."""
    own = {}
    for value in values:
        key = value.value if isinstance(value, enum.Enum) else value
        own.setdefault((type(key), key), value)
    return _choice(own)


def enumeration(hint):
    """What an `Enum` says."""
    members = {(type(each.value), each.value): each for each in hint.__members__.values() if _is_plain(each.value)}
    chosen = _choice(members)
    if not issubclass(hint, enum.Flag):
        return chosen
    bits = 0
    for _, value in members:
        bits |= value

    def combined(value):
        whole = scalars.integer(value)
        if whole < 0 or whole & ~bits:
            raise Misfit(f"it is no combination of {', '.join(str(value) for _, value in members)}")
        return hint(whole)

    of_text = SCALARS[int].from_text
    return Taken("integer", convert=combined, from_text=lambda text: combined(of_text(text)), digits=True)


def _is_plain(value):
    return value is None or type(value) in SCALARS or isinstance(value, (str, int, float))


def _choice(members):
    """`members`: what is given by the type and the value that JSON says. True is not 1."""
    members = {(_base(kind), value): given for (kind, value), given in members.items()}
    kinds = {SCALARS[kind].kind if kind in SCALARS else "any" for kind, _ in members if kind is not type(None)}
    why = f"it is none of {', '.join(str(value) for _, value in members)}"
    # Of decimals, dates and the like, which JSON has as numbers and texts, there are few.
    others = [(SCALARS[kind].strict, own, given) for (kind, own), given in members.items()
              if kind in SCALARS and kind not in _OF_JSON]

    def choose(value):
        key = _key(value)
        if key in members:
            return members[key]
        # 2.0 stands for 2, and 2 for 2.0.
        if key is not None and key[0] in (int, float):
            other = (float, value) if key[0] is int else (int, _whole(value))
            if other in members:
                return members[other]
        for make, own, given in others:
            try:
                if make(value) == own:
                    return given
            except (ValueError, ArithmeticError):
                continue
        raise Misfit(why)

    def of_text(text):
        for (kind, value), given in members.items():
            try:
                if kind is not type(None) and SCALARS[kind].from_text(text) == value:
                    return given
            except (KeyError, ValueError, ArithmeticError):
                continue
        raise Misfit(why)

    nullable = (type(None), None) in members
    # Null for a member of an enumeration is a value as any other, which the server hands on.
    optional = nullable and members[type(None), None] is None
    is_mixed = len(kinds) != 1 or nullable and not optional
    convert = marked(choose, of_text) if is_mixed else choose
    kind = "any" if is_mixed else kinds.pop()
    return Taken(kind, nullable=nullable, convert=convert, strict=choose, from_text=of_text, texts=is_mixed,
                 digits=any(SCALARS[kind].digits for kind, _ in members if kind in SCALARS and kind is not int),
                 optional=optional)


def _base(kind):
    """The type that JSON has for a value of a subclass."""
    return next((base for base in (bool, int, float, str) if issubclass(kind, base)), kind)


def _key(value):
    if type(value) is scalars.Numeral:
        return float, float(value)
    return (type(value), value) if type(value) in (bool, int, float, str, type(None)) else None


def _whole(value):
    try:
        return scalars.integer(value)
    except Misfit:
        return None


def union(kinds, optional):
    """What a union of several types says. A number that is written as one of them is of that; else a value is of the
    first that takes it. Of a text, too. `optional`: null is `None`."""
    exact = _Union([], [each.exact for each in kinds], optional)
    strict = _Union([each.exact for each in kinds], [each.strict for each in kinds], optional)

    def of_text(given):
        """Of one text, or the several of a name that is repeated."""
        for each in kinds:
            if each.is_list or not isinstance(given, list):
                try:
                    return each.from_text(given)
                except PASSING:
                    raise
                except Exception:
                    continue
        raise OtherKind("it is of none of its types")

    alike = {(each.kind, each.is_list) for each in kinds}
    kind = kinds[0].kind if len(alike) == 1 and not kinds[0].is_list else "any"
    if alike == {("integer", False), ("number", False)}:
        kind = "number"
    kind = "any" if kind == "bytes" else kind
    nullable = optional or any(each.nullable for each in kinds)
    return Taken(kind, nullable=nullable, convert=marked(strict, of_text), strict=strict, exact=exact,
                 from_text=of_text, texts=True, digits=any(each.digits for each in kinds), optional=optional)


class _Union:
    """Makes a value with the first converter that can. What was found of an object or a list is kept until the
    outermost union is done: of types that contain each other it would be asked again and again, twice as often with
    each level."""

    _found, _depth = {}, 0

    def __init__(self, before, takers, nullable):
        """`before`: what is tried first, and whose errors say less."""
        self._takers, self._nullable = list(dict.fromkeys([*before, *takers])), nullable
        self._telling = set(takers)

    def __call__(self, value):
        if value is None and self._nullable:
            return None
        if not isinstance(value, (dict, list)):
            return self._first(value)
        key = (id(self), id(value))
        found = _Union._found.get(key)
        if found is None:
            _Union._depth += 1
            try:
                found = self._outcome(value)
                # Both are kept, too: nothing else may get their identities meanwhile.
                _Union._found[key] = (*found, self, value)
            finally:
                _Union._depth -= 1
                if _Union._depth == 0:
                    _Union._found.clear()
        if found[0]:
            return found[1]
        raise type(found[1])(found[1].why, found[1].place)

    def _outcome(self, value):
        try:
            return True, self._first(value)
        except Misfit as error:
            return False, error

    def _first(self, value):
        deepest, said = None, []
        for take in self._takers:
            try:
                return take(value)
            except PASSING:
                raise
            except Exception as error:
                wrong = scalars.misfit(error)
                if take not in self._telling or isinstance(wrong, OtherKind):
                    continue
                if wrong.place and len(wrong.place) > len(deepest.place if deepest else ""):
                    deepest = wrong
                said.append(wrong.why)
        if deepest is not None:
            raise deepest
        raise Misfit("; ".join(dict.fromkeys(said))) if said else OtherKind("it is of none of its types")


def marked(convert, of_text):
    """Makes a value of what the server has left a text, or of any other."""

    def either(value):
        if type(value) is dict and len(value) == 1 and TEXT in value:
            return of_text(value[TEXT])
        if type(value) is list and value and all(type(each) is dict and TEXT in each for each in value):
            return of_text([each[TEXT] for each in value])
        return convert(value)

    return either
