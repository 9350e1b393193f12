"""Single values: what makes a number, a text or a date of JSON's value, or of the text of a URL, a form or a key."""

import base64
import datetime
import decimal
import fractions
import ipaddress
import math
import pathlib
import re
import uuid

import salver
from salver_host import json_text
from salver_host.json_text import Numeral

_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_RATIO = re.compile(r"[+-]?[0-9]+/[0-9]+\Z")
# A fraction writes out all zeros.
_SMALLEST_EXPONENT = -400
_TRUTH = {
    **dict.fromkeys(("true", "TRUE", "True", "1"), True),
    **dict.fromkeys(("false", "FALSE", "False", "0"), False),
}
# What stands in the arguments for a file of a form.
_FILE = {"filename", "content_type", "content"}
# What user code raises, while a value is made, that is no fault of the value.
PASSING = (MemoryError, salver.HTTPError)


class Misfit(ValueError):
    """A value is not right. `place` says where in its argument it is: `[2].name`."""

    def __init__(self, why, place=""):
        super().__init__(why)
        self.why, self.place = why, place


class OtherKind(Misfit):
    """A value is of another kind altogether: a text where a number is taken."""


def misfit(error, step=""):
    """The error of a value that lies one step below."""
    if isinstance(error, Misfit):
        return Misfit(error.why, step + error.place) if step else error
    if type(error).__name__ == "ValidationError" and hasattr(error, "errors"):  # Of pydantic, on many lines.
        first = error.errors()[0]
        steps = [f"[{each}]" if isinstance(each, int) else f".{each}" for each in first["loc"]]
        return Misfit(first["msg"], "".join([step, *steps]))
    return Misfit(str(error) or type(error).__name__, step)


class Taken:
    """What a hint says: kind and list as the offer tells them, whether null is taken too (`nullable`), whether nothing
    is then `None` (`optional`; of an enumeration with a member for null it is not), and what makes a value:

    - `convert` of what the server has checked already (`None`: it is right as it is),
    - `strict` of any value of JSON, wherever it stands,
    - `exact` the same, but of a number that is written as this type is written: 2 is no float, 2.0 no int,
    - `from_text` of a text. `texts`: the server hands on texts of URLs and forms as such, and reads none as a number.
    - `of_column` of a column, in which any value may be `None`,
    - `from_body` of a call's body when it is no argument, `of_table` of an Arrow stream (`None`: nothing does).

    `digits`: numbers in it keep all the digits that they are written with.
    """

    def __init__(self, kind="any", is_list=False, nullable=False, convert=None, strict=None, exact=None, from_text=None,
                 texts=False, digits=False, of_column=None, from_body=None, of_table=None, optional=None):
        self.kind, self.is_list, self.nullable, self.convert = kind, is_list, nullable, convert
        self.optional = nullable if optional is None else optional
        self.strict = strict or convert or anything
        self.exact = exact or self.strict
        by_kind = {"any": of_untyped_text, "text": self.strict}
        self.from_text = from_text or by_kind.get(kind, self._of_json)
        self.texts, self.digits, self.of_column = texts, digits, of_column
        self.from_body, self.of_table = from_body, of_table

    def then(self, check):
        """The same, of which every value goes through `check`."""
        after = _after(check)

        def of_body(call):
            made = self.from_body(call)
            return None if made is None else check(made)

        return Taken(
            self.kind, self.is_list, self.nullable, after(self.convert or self.strict), after(self.strict),
            after(self.exact), after(self.from_text), self.texts, self.digits, after(self.of_column),
            self.from_body and of_body, after(self.of_table), self.optional,
        )

    def _of_json(self, text):
        before = json_text.has_numerals
        try:
            return self.strict(json_text.read_exact(text))
        finally:
            json_text.has_numerals = json_text.has_numerals or before


def _after(check):
    return lambda make: make and (lambda value: check(make(value)))


def anything(value):
    """A value of which nothing is said, with the numbers that JSON has."""
    return _without_numerals(value) if json_text.has_numerals else value


def _without_numerals(value):
    if type(value) is Numeral:
        return float(value)
    if type(value) is list:
        return [_without_numerals(each) for each in value]
    if type(value) is dict:
        return {name: _without_numerals(each) for name, each in value.items()}
    return value


def of_untyped_text(text):
    """What a text is that nothing is said of: a number where it is written as one, else itself."""
    if _WHOLE.match(text):
        return int(text)
    return float(text) if _NUMBER.match(text) else text


def integer(value):
    """A whole number."""
    if type(value) is int:
        return value
    if isinstance(value, float) and math.isfinite(value):
        if type(value) is Numeral:
            exactly = decimal.Decimal(value.text)
            if exactly == exactly.to_integral_value():
                return int(exactly)
        elif value.is_integer():
            return int(value)
    raise OtherKind("it is not a whole number")


def exact_integer(value):
    """A whole number that is written as one."""
    if type(value) is int:
        return value
    raise OtherKind("it is not a whole number")


def _integer_of(text):
    if _WHOLE.match(text):
        return int(text)
    raise OtherKind("it is not a whole number")


def number(value):
    """A float."""
    if type(value) is float:
        return value
    if type(value) is int or type(value) is Numeral:
        try:
            return float(value)
        except OverflowError:
            raise Misfit("it is too large") from None
    raise OtherKind("it is not a number")


def exact_number(value):
    """A float of a number that is written with a point or an exponent."""
    if isinstance(value, float):
        return float(value)
    raise OtherKind("it is not a number with a point")


def _number_of(text):
    value = float(text) if _NUMBER.match(text) else math.inf
    if math.isfinite(value):
        return value
    raise OtherKind("it is not a number")


def _decimal(value):
    if type(value) is Numeral:
        return decimal.Decimal(value.text)
    if type(value) in (int, float) and math.isfinite(value):
        return decimal.Decimal(repr(value))
    raise OtherKind("it is not a number")


def _exact_decimal(_):
    raise OtherKind("it is a number of another type")


def _decimal_of(text):
    _number_of(text)
    return decimal.Decimal(text)


def _fraction(value):
    return _fraction_of(value) if type(value) is str else _of_decimal(_decimal(value))


def _fraction_of(text):
    try:
        return fractions.Fraction(text) if _RATIO.match(text) else _of_decimal(_decimal_of(text))
    except ZeroDivisionError:
        raise Misfit("it is divided by 0") from None


def _of_decimal(value):
    if value.as_tuple().exponent < _SMALLEST_EXPONENT:
        raise Misfit("it is too close to 0")
    return fractions.Fraction(value)


def _complex(value):
    return complex(value) if type(value) is str else complex(number(value))


def _span(value):
    return datetime.timedelta(seconds=number(value))


def _truth(value):
    if value is True or value is False:
        return value
    raise OtherKind("it is not true or false")


def truth_of(text):
    """True or false, as texts say it."""
    if text in _TRUTH:
        return _TRUTH[text]
    raise OtherKind("it is not true or false")


def _text(value):
    if type(value) is str:
        return value
    raise OtherKind("it is not a text")


def _nothing(value):
    if value is None:
        return value
    raise OtherKind("it is not null")


def _bytes(value):
    if isinstance(value, dict) and set(value) == _FILE:
        value = value["content"]
    if type(value) is not str:
        raise OtherKind("it is not base64 in a text")
    try:
        return base64.b64decode(value, validate=True)
    except ValueError as error:
        raise Misfit(f"it is not base64: {error}") from None


def _bytearray(value):
    return bytearray(_bytes(value))


def _upload(value):
    if not isinstance(value, dict) or set(value) != _FILE:
        raise OtherKind("it is not a file of a form")
    return salver.Upload(_bytes(value), value["filename"], value["content_type"])


def _never(_):
    raise OtherKind("it is no value of JSON")


def _from_text(read):
    return lambda value: read(_text(value))


SCALARS = {
    bool: Taken("boolean", strict=_truth, from_text=truth_of),
    int: Taken("integer", convert=integer, exact=exact_integer, from_text=_integer_of, digits=True),
    float: Taken("number", convert=number, exact=exact_number, from_text=_number_of),
    str: Taken("text", strict=_text),
    bytes: Taken("bytes", convert=_bytes, from_text=_bytes, from_body=lambda call: call.body or None),
    bytearray: Taken("bytes", convert=_bytearray, from_text=_bytearray,
                     from_body=lambda call: bytearray(call.body) or None),
    decimal.Decimal: Taken("number", convert=_decimal, exact=_exact_decimal, from_text=_decimal_of, digits=True),
    datetime.timedelta: Taken("number", convert=_span, from_text=lambda text: _span(_number_of(text))),
    salver.Upload: Taken("bytes", convert=_upload, from_text=_upload),
    salver.Request: Taken("request", strict=_never, from_text=_never),
    type(None): Taken(nullable=True, convert=_nothing, from_text=_nothing),
    datetime.datetime: Taken("text", convert=_from_text(
        lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")))),
    datetime.date: Taken("text", convert=_from_text(datetime.date.fromisoformat)),
    datetime.time: Taken("text", convert=_from_text(datetime.time.fromisoformat)),
    uuid.UUID: Taken("text", convert=_from_text(uuid.UUID)),
    **{kind: Taken("text", convert=_from_text(kind)) for kind in (
        pathlib.Path, pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath, ipaddress.IPv4Address,
        ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network, ipaddress.IPv4Interface,
        ipaddress.IPv6Interface,
    )},
    fractions.Fraction: Taken(convert=_fraction, from_text=_fraction_of, digits=True),
    complex: Taken(convert=_complex, from_text=complex),
}
# What converts numbers of a column, which are of the one kind already that such a parameter takes.
OF_NUMBERS = (integer, number)
