"""Hints of every kind against values of every kind: what becomes of them, compared with a plain model, and with
pydantic where that is installed."""

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import random
import sys
import typing
import unittest
from pathlib import Path
from typing import Any, Dict, FrozenSet, List, Literal, NamedTuple, Optional, Set, Tuple, TypedDict, Union

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from salver_host import choices, json_text, scalars, type_hints  # noqa: E402

HINTS = 1500
VALUES = 12


class Colour(enum.Enum):
    RED = "red"
    ONE = 1


class Bits(enum.Flag):
    A = 1
    B = 2


@dataclasses.dataclass
class Item:
    name: str
    counts: List[int]
    price: decimal.Decimal = decimal.Decimal(1)
    next: "Optional[Item]" = None


class Pair(NamedTuple):
    a: int
    b: Union[float, str] = 0.5


class Options(TypedDict, total=False):
    depth: int
    words: Dict[str, bool]


@dataclasses.dataclass
class Sum:
    left: "Union[Sum, Product, int]"
    right: "Union[Sum, Product, int]"
    tag: int = 0


@dataclasses.dataclass
class Product:
    left: "Union[Sum, Product, int]"
    right: "Union[Sum, Product, int]"
    tag: str = ""


SCALARS = [
    int, float, str, bool, decimal.Decimal, datetime.date, type(None), Any, Colour, Bits, Literal["a", 1, True],
    Literal[2, "2"],
]
RECORDS = [Item, Pair, Options]
KEYS = [str, int, bool, datetime.date, Colour, decimal.Decimal, Union[int, str]]
NUMBERS = ["0", "1", "-7", "2.0", "1.10", "1e2", "123456789012345678901234567890", "9007199254740993.0", "0.5"]
TEXTS = ['""', '"a"', '"red"', '"1"', '"01"', '"true"', '"2026-01-02"', '"2"', '"x y"']


def some_hint(choose, depth):
    kind = choose.randrange(12) if depth else 0
    if kind < 3:
        return choose.choice(SCALARS)
    if kind == 3:
        return choose.choice(RECORDS)
    one = some_hint(choose, depth - 1)
    if kind in (4, 5):
        return choose.choice([List, List, typing.Sequence, typing.Deque])[one]
    if kind == 6:
        return choose.choice([Set, FrozenSet])[choose.choice([int, str, bool, Colour])]
    if kind == 7:
        return Dict[choose.choice(KEYS), one]
    if kind == 8:
        return choose.choice([Tuple[one, ...], Tuple[one, some_hint(choose, depth - 1)]])
    if kind == 9:
        return Optional[one]
    return Union[one, some_hint(choose, depth - 1)]


def some_value(choose, hint, depth):
    """The text of a value, mostly one that the hint takes."""
    if depth <= 0 or choose.random() < 0.12:
        return choose.choice(NUMBERS + TEXTS + ["null", "true", "false", "[]", "{}", "[1]", '{"a":1}'])
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    within = lambda one: some_value(choose, one, depth - 1)
    if origin is Union:
        return within(choose.choice(arguments))
    if origin is tuple and arguments[-1] is not ...:
        return f"[{','.join(map(within, arguments))}]"
    if origin is dict:
        names = choose.sample(TEXTS, choose.randrange(3))
        return "{" + ",".join(f"{name}:{within(arguments[1])}" for name in names) + "}"
    if origin not in (None, Literal):
        return f"[{','.join(within(arguments[0]) for _ in range(choose.randrange(4)))}]"
    if hint in RECORDS:
        found = typing.get_type_hints(hint)
        names = [name for name in found if choose.random() < 0.8]
        return "{" + ",".join(f'"{name}":{within(found[name])}' for name in names) + "}"
    return choose.choice({
        int: NUMBERS, float: NUMBERS, decimal.Decimal: NUMBERS, bool: ["true", "false"], type(None): ["null"],
        Bits: NUMBERS, Colour: ['"red"', "1"], Any: NUMBERS,
    }.get(hint, TEXTS + ["1", "true"]))


class Refused(Exception):
    def __init__(self, place=""):
        self.place = place


def model(hint, value, is_exact=False):
    """What a value becomes, whose numbers with a point or an exponent are `Decimal`. `is_exact`: without a number being
    taken for one of another type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Union:
        return model_of_union(arguments, value, is_exact)
    if origin is Literal:
        return model_of_choice(arguments, lambda each: each, value)
    if origin is dict:
        return model_of_dict(arguments, value, is_exact)
    if origin is tuple and arguments[-1] is not ...:
        require(type(value) is list and len(value) == len(arguments))
        return tuple(below(f"[{at}]", *each, is_exact) for at, each in enumerate(zip(arguments, value)))
    if origin is not None:
        require(type(value) is list)
        make = {tuple: tuple, set: set, frozenset: frozenset, collections.deque: collections.deque}.get(origin, list)
        return make([below(f"[{at}]", arguments[0], each, is_exact) for at, each in enumerate(value)])
    if hint in RECORDS:
        return model_of_record(hint, value, is_exact)
    return model_of_scalar(hint, value, is_exact)


def require(truth):
    if not truth:
        raise Refused


def below(step, hint, value, is_exact):
    try:
        return model(hint, value, is_exact)
    except Refused as refused:
        raise Refused(step + refused.place) from None


def model_of_union(arguments, value, is_exact):
    if value is None and type(None) in arguments:
        return None
    arguments = [each for each in arguments if each is not type(None)]
    if len(arguments) == 1:
        return model(arguments[0], value, is_exact)
    for exact in (True,) if is_exact else (True, False):
        for each in arguments:
            try:
                return model(each, value, exact)
            except Refused:
                continue
    raise Refused


def model_of_choice(members, key, value):
    for same_type in (True, False):
        for each in members:
            own, numbers = key(each), (int, decimal.Decimal)
            if own == value and (type(own) is type(value) or not same_type and {type(own), type(value)} <= {*numbers}):
                return each
    raise Refused


def model_of_dict(arguments, value, is_exact):
    require(type(value) is dict)
    made = {}
    for name, each in value.items():
        own = model_of_key(arguments[0], name)
        require(own not in made)
        made[own] = below(f"[{json.dumps(name)}]", arguments[1], each, is_exact)
    return made


def model_of_key(hint, name):
    if hint == Union[int, str]:
        return int(name) if name.isdecimal() else name
    if hint is Colour:
        return {"red": Colour.RED, "1": Colour.ONE, "01": Colour.ONE}.get(name) or model(hint, name)
    if hint is bool:
        require(name in ("true", "1"))
        return True
    if hint in (int, decimal.Decimal):
        require(name.isdecimal())
        return hint(name)
    return model(hint, name)


def model_of_record(hint, value, is_exact):
    found = typing.get_type_hints(hint)
    if hint is Pair and type(value) is list:
        require(len(value) <= 2)
        value = dict(zip(("a", "b"), value))
    require(type(value) is dict and set(value) <= set(found))
    require({Item: {"name", "counts"}, Pair: {"a"}, Options: set()}[hint] <= set(value))
    return hint(**{name: below(f".{name}", found[name], each, is_exact) for name, each in value.items()})


def model_of_scalar(hint, value, is_exact):
    kind = type(value)
    if hint is int:
        require(kind is int or kind is decimal.Decimal and value == int(value) and not is_exact)
        return int(value)
    if hint is float:
        require(kind is decimal.Decimal or kind is int and not is_exact)
        return float(value)
    if hint is decimal.Decimal:
        require(kind in (int, decimal.Decimal) and not is_exact)
        return decimal.Decimal(value)
    if hint is datetime.date:
        try:
            require(kind is str)
            return datetime.date.fromisoformat(value)
        except ValueError:
            raise Refused from None
    if hint is Colour:
        return model_of_choice(Colour, lambda each: each.value, value)
    if hint is Bits:
        require(kind in (int, decimal.Decimal) and value in (0, 1, 2, 3))
        return Bits(int(value))
    if hint is Any:
        return with_floats(value)
    require(kind is hint)
    return value


def with_floats(value):
    if type(value) is list:
        return [with_floats(each) for each in value]
    if type(value) is dict:
        return {name: with_floats(each) for name, each in value.items()}
    return float(value) if type(value) is decimal.Decimal else value


def has_union(hint):
    if hint in (Pair, Item) or typing.get_origin(hint) is Union and len(typing.get_args(hint)) > 2:
        return True
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is Union and type(None) not in arguments:
        return True
    return typing.get_origin(hint) is not Literal and any(map(has_union, arguments))


def outcome(made):
    """What a conversion gives: the value with its types, or the place at which it is refused."""
    try:
        return True, repr(made())
    except Refused as refused:
        return False, refused.place
    except (ValueError, TypeError) as error:
        return False, scalars.misfit(error).place


class Conversions(unittest.TestCase):
    def test_all_as_in_the_model(self):
        choose, taken, refused = random.Random(16), 0, 0
        for _ in range(HINTS):
            hint = some_hint(choose, 3)
            convert = type_hints.taken(hint).strict
            for _ in range(VALUES):
                text = some_value(choose, hint, 4)
                said = outcome(lambda: convert(json_text.read_exact(text)))
                expected = outcome(lambda: model(hint, json.loads(text, parse_float=decimal.Decimal)))
                is_same = said == expected if said[0] or not has_union(hint) else said[0] == expected[0]
                self.assertTrue(is_same, f"{hint} of {text}: {said}, and not {expected}")
                taken, refused = taken + said[0], refused + (not said[0])
        # Else the comparison would say little.
        self.assertGreater(min(taken, refused), HINTS * VALUES // 5)
        self.assertEqual(choices._Union._found, {})

    def test_as_in_pydantic(self):
        """Strict about types, as JSON says them; without what pydantic rounds, or reads in other ways."""
        try:
            from pydantic import ConfigDict, TypeAdapter, ValidationError
        except ImportError:
            self.skipTest("pydantic is not installed")
        scalars_alike = [int, str, bool, datetime.date, type(None), float]
        choose, compared = random.Random(17), 0
        for _ in range(HINTS // 3):
            one, other = choose.choice(scalars_alike), choose.choice(scalars_alike)
            hint = choose.choice([
                one, List[one], Dict[str, List[one]], Tuple[one, other], Tuple[List[one], ...], Optional[List[one]],
                List[Optional[one]], Dict[int, one], List[Dict[str, Tuple[one, other]]],
            ])
            adapter = TypeAdapter(hint, config=ConfigDict(strict=True))
            convert = type_hints.taken(hint).strict
            for _ in range(VALUES):
                text = some_value(choose, hint, 4)
                if any(number in text for number in ("2.0", "1e2", "993.0", '"01"', '""')):
                    continue
                compared += 1
                said = outcome(lambda: convert(json_text.read_exact(text)))
                try:
                    expected = True, repr(adapter.validate_json(text))
                except ValidationError:
                    expected = False, None
                is_same = said == expected if expected[0] else not said[0]
                self.assertTrue(is_same, f"{hint} of {text}: {said}, and not {expected}")
        self.assertGreater(compared, HINTS)

    def test_types_that_contain_each_other(self):
        """Of two that fit alike each level would be tried twice as often as the one above."""
        convert = type_hints.taken(Union[Sum, Product]).strict
        value, wrong = 1, "leaf"
        for level in range(30):
            value = {"left": value, "right": level, "tag": "x" if level % 2 else 1}
            wrong = {"left": wrong, "right": level, "tag": "x" if level % 2 else 1}
        self.assertIsInstance(convert(value), Product)
        with self.assertRaises(scalars.Misfit) as caught:
            convert(wrong)
        self.assertEqual(caught.exception.place.count(".left"), 30)


if __name__ == "__main__":
    unittest.main()
