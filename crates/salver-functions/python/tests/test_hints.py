"""Type hints: what arguments become, what is refused, and what documents say of them."""

import base64
import json
import sys
import unittest

from served import OneFile, Served

SOURCE = '''
import dataclasses, datetime, decimal, enum, fractions, ipaddress, pathlib, typing, uuid
from typing import (
    Annotated, Any, Dict, Generic, List, Literal, NamedTuple, NewType, Optional, Tuple, TypedDict, TypeVar, Union,
)
from salver import Upload

class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Bits(enum.Flag):
    A = 1
    B = 2

class Rate(enum.Enum):
    FULL = decimal.Decimal("19.00")
    LOW = decimal.Decimal("7.10")

class Holiday(enum.Enum):
    NEW_YEAR = datetime.date(2026, 1, 1)

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2

@dataclasses.dataclass
class Item:
    """A thing in a basket."""
    name: str
    price: decimal.Decimal = decimal.Decimal("1")
    tags: List[str] = dataclasses.field(default_factory=list)
    colour: Optional[Colour] = None
    parent: "Optional[Item]" = None

@dataclasses.dataclass
class Circle:
    radius: float

@dataclasses.dataclass
class Square:
    side: float

class Pair(NamedTuple):
    a: int
    b: str = "x"

class Options(TypedDict, total=False):
    depth: int
    when: datetime.date

T = TypeVar("T")

@dataclasses.dataclass
class Box(Generic[T]):
    content: T
    others: List[T] = dataclasses.field(default_factory=list)

UserId = NewType("UserId", int)

class Cover(enum.Enum):
    HARD = "hard"
    NONE = None

Json = Union[int, str, List["Json"], Dict[str, "Json"]]
Tree = Union[int, List["Tree"]]

def told(value): return f"{type(value).__name__} {value}"
def optional(x: Optional[int] = None) -> Optional[int]: return x
def union(x: Union[int, str]): return told(x)
def either(x: Union[Circle, Square, None]): return told(x)
def mapping(x: Dict[int, datetime.date]): return {type(k).__name__: told(v) for k, v in x.items()}
def counted(x: Dict[str, int]): return x
def exact(x: decimal.Decimal) -> decimal.Decimal: return told(x)
def choice(x: Literal["a", "b", 3]): return told(x)
def colour(x: Colour = Colour.RED): return told(x)
def level(x: Level): return told(x)
def rate(x: Rate): return told(x)
def holiday(x: Holiday): return told(x)
def colours(x: List[Colour]): return [each.name for each in x]
def day(x: datetime.date): return told(x)
def moment(x: datetime.datetime): return told(x)
def span(x: datetime.timedelta): return told(x)
def key(x: uuid.UUID): return told(x)
def item(x: Item) -> Item: return x
def pair(x: Pair): return told(x)
def options(x: Options): return sorted(told(each) for each in x.values())
def user(x: UserId): return told(x)
def noted(x: Annotated[int, "a note"]): return told(x)
def ordered(x: Tuple[int, int]): return told(x)
def must(x: int = ..., y: int = 2): return [x, y]
def total(*numbers: float): return sum(numbers)
def joined(sep: str, *words: str, end: str = "."): return sep.join(words) + end
def data(x: bytes): return len(x)
def upload(x: Upload): return [x.filename, x.content_type, x.size, x.text()]
def exactly(x: decimal.Decimal, y: Any = None, *rest: int, **named: int): return [told(x), y, rest, named]
def pick(x: Union[str, int]): return told(x)
def several(x: List[Union[int, str]]): return [told(each) for each in x]
def one_or_more(x: Union[int, List[int]]): return told(x)
def mixed(x: Literal["1", 2, True]): return told(x)
def boxed(x: Box[int]): return told(x)
def maybe(x: Literal["a", Colour.RED, None]): return told(x)
def counts(x: Dict[str, List[int]], *rest: Tuple[int, str]): return [x, rest]
def bits(x: Bits): return told(x)
def cover(x: Cover): return told(x)
def covers(x: List[Cover], y: Optional[Cover] = None, z: Cover = Cover.HARD): return [x, told(y), told(z)]
def some_cover(x: Union[Cover, int]): return told(x)
def json_value(x: Json): return x
def tree(x: Tree): return x
def address(x: ipaddress.IPv4Address): return x
def net(x: ipaddress.IPv6Network): return [told(x), x]
def fraction(x: fractions.Fraction): return told(x)
def complex_one(x: complex): return told(x)
def pure_path(x: pathlib.PurePosixPath): return told(x)
def array(x: bytearray): return told(x)
def unhashable(x: Annotated[int, {"a": 1}], y: List[Annotated[int, []]]): return [x, y]
def uploads(x: List[Upload], y: Optional[bytes] = None): return [[each.filename for each in x], y and len(y)]
'''


def text_argument(text):
    """A text of a URL that the server leaves to the function."""
    return {"\0text": text}


def file_argument(content, name="n.txt", media_type="text/plain"):
    return {"filename": name, "content_type": media_type, "content": base64.b64encode(content).decode()}


class Hints(OneFile):
    SOURCE = SOURCE

    def call(self, function, arguments):
        return self.worker.call(self.numbers[function], arguments)

    def test_what_arguments_become(self):
        for function, x, expected in [
            ("optional", 3, 3), ("optional", None, None), ("union", 3, "int 3"), ("union", "3", "str 3"),
            ("either", {"radius": 1}, "Circle Circle(radius=1.0)"), ("either", {"side": 1}, "Square Square(side=1.0)"),
            ("either", None, "NoneType None"),
            ("mapping", {"7": "2026-01-02"}, {"int": "date 2026-01-02"}), ("counted", {"a": 1}, {"a": 1}),
            ("exact", 1.1, "Decimal 1.1"), ("choice", "b", "str b"), ("choice", 3, "int 3"),
            ("colour", "blue", "Colour Colour.BLUE"), ("level", 2, "Level 2"), ("rate", 19, "Rate Rate.FULL"),
            ("rate", 7.1, "Rate Rate.LOW"), ("holiday", "2026-01-01", "Holiday Holiday.NEW_YEAR"), ("colours", ["red"], ["RED"]),
            ("day", "2026-01-02", "date 2026-01-02"),
            ("moment", "2026-01-02T03:04:05Z", "datetime 2026-01-02 03:04:05+00:00"),
            ("span", 90, "timedelta 0:01:30"),
            ("key", "00000000-0000-0000-0000-000000000001", "UUID 00000000-0000-0000-0000-000000000001"),
            ("item", {"name": "a", "price": 2.5, "colour": "red", "parent": {"name": "b"}}, {
                "name": "a", "price": 2.5, "tags": [], "colour": "red",
                "parent": {"name": "b", "price": 1, "tags": [], "colour": None, "parent": None},
            }),
            ("pair", {"a": 1}, "Pair Pair(a=1, b='x')"), ("pair", [1, "y"], "Pair Pair(a=1, b='y')"),
            ("options", {"depth": 1, "when": "2026-01-02"}, ["date 2026-01-02", "int 1"]),
            ("bits", 3, "Bits Bits.A|B" if sys.version_info >= (3, 11) else "Bits Bits.B|A"),
            ("boxed", {"content": 1, "others": [2]}, "Box Box(content=1, others=[2])"),
            ("maybe", "red", "Colour Colour.RED"), ("maybe", None, "NoneType None"), ("pick", 5, "int 5"),
            ("pick", "5", "str 5"), ("one_or_more", [1], "list [1]"),
            ("mixed", 2, "int 2"), ("mixed", True, "bool True"), ("mixed", "1", "str 1"),
            ("cover", None, "Cover Cover.NONE"), ("cover", "hard", "Cover Cover.HARD"),
            ("covers", [None, "hard"], [[None, "hard"], "NoneType None", "Cover Cover.HARD"]),
            ("some_cover", None, "Cover Cover.NONE"), ("some_cover", 3, "int 3"),
            ("json_value", [1, {"a": [[{"b": "c"}]]}], [1, {"a": [[{"b": "c"}]]}]), ("tree", [1, [[2]]], [1, [[2]]]),
            ("address", "1.2.3.4", "1.2.3.4"), ("net", "fe80::/10", ["IPv6Network fe80::/10", "fe80::/10"]),
            ("fraction", "2/6", "Fraction 1/3"), ("fraction", 0.1, "Fraction 1/10"), ("fraction", 2, "Fraction 2"),
            ("complex_one", "1+2j", "complex (1+2j)"), ("complex_one", 1, "complex (1+0j)"),
            ("pure_path", "/a", "PurePosixPath /a"), ("array", "YQ==", "bytearray bytearray(b'a')"),
            ("array", file_argument(b"a"), "bytearray bytearray(b'a')"),
            ("user", 7, "int 7"), ("noted", 7, "int 7"), ("ordered", [1, 2], "tuple (1, 2)"),
            ("data", base64.b64encode(b"abc").decode(), 3), ("data", file_argument(b"abcd"), 4),
            ("upload", file_argument(b"\xef\xbb\xbfhi"), ["n.txt", "text/plain", 5, "hi"]),
            ("uploads", [file_argument(b"a"), file_argument(b"b", "m")], [["n.txt", "m"], None]),
        ]:
            answer = self.call(function, {"x": x})
            self.assertEqual(answer.kind, b"A", f"{function}({x!r}): {vars(answer)}")
            self.assertEqual(answer.json(), expected, f"{function}({x!r})")

    def test_arguments_without_a_name_of_their_own(self):
        self.assertEqual(self.call("must", {"x": 1}).json(), [1, 2])
        self.assertEqual(self.call("must", {}).message, "`x` is missing")
        self.assertEqual(self.call("total", {"numbers": [1, 2.5]}).json(), 3.5)
        self.assertEqual(self.call("total", {}).json(), 0)
        self.assertEqual(self.call("joined", {"sep": "-", "words": ["a", "b"], "end": "!"}).json(), "a-b!")

    def test_texts_are_of_the_first_type_that_takes_them(self):
        for function, text, expected in [
            ("union", "5", "int 5"), ("union", "1.5", "str 1.5"), ("union", "true", "str true"), ("pick", "5", "str 5"),
            ("union", "99999999999999999999", "int 99999999999999999999"), ("one_or_more", "5", "int 5"),
            ("mixed", "2", "int 2"), ("mixed", "1", "str 1"), ("mixed", "true", "bool True"),
        ]:
            self.assertTrue(self.endpoints[function]["parameters"][0]["texts"], function)
            answer = self.call(function, {"x": text_argument(text)})
            self.assertEqual((answer.kind, answer.json()), (b"A", expected), f"{function}({text!r})")
        texts = [text_argument("1"), text_argument("a")]
        self.assertEqual(self.call("several", {"x": texts}).json(), ["int 1", "str a"])
        texts = [text_argument("1"), text_argument("2")]
        self.assertEqual(self.call("one_or_more", {"x": texts}).json(), "list [1, 2]")
        self.assertEqual(self.call("one_or_more", {"x": text_argument("a")}).message,
                         "`x` is not right: it is of none of its types")

        for function, text, expected in [
            ("json_value", "5", 5), ("tree", "5", 5), ("cover", "hard", "Cover Cover.HARD"),
        ]:
            self.assertEqual(self.call(function, {"x": text_argument(text)}).json(), expected, f"{function}({text!r})")
        self.assertEqual(self.call("tree", {"x": [text_argument("1"), text_argument("2")]}).json(), [1, 2])
        self.assertEqual(self.call("tree", {"x": text_argument("a")}).why, 2)

    def test_null_of_an_enumeration_is_no_absence(self):
        for function, name, required in [
            ("cover", "x", True), ("some_cover", "x", True), ("covers", "y", False), ("maybe", "x", False),
        ]:
            found = [each for each in self.endpoints[function]["parameters"] if each["name"] == name]
            self.assertEqual((function, found[0]["required"]), (function, required))
        self.assertEqual(self.call("covers", {"x": [], "z": None}).json()[2], "Cover Cover.NONE")
        self.assertEqual(self.call("cover", {}).message, "`x` is missing")

    def test_notes_without_a_hash(self):
        self.assertEqual(self.call("unhashable", {"x": 1, "y": [2]}).json(), [1, [2]])
        self.assertEqual(self.call("unhashable", {"x": 1, "y": ["2"]}).why, 2)

    def test_numbers_keep_their_digits(self):
        for given, expected in [
            ('{"x": 1.10}', ["Decimal 1.10", None, [], {}]),
            ('{"x": 12345678901234567.89, "y": {"a": [1.50]}}', ["Decimal 12345678901234567.89", {"a": [1.5]}, [], {}]),
            ('{"x": 1, "a": 9007199254740993.0}', ["Decimal 1", None, [], {"a": 9007199254740993}]),
            ('{"x": 1, "y": 2.50, "rest": [123456789012345678901]}', ["Decimal 1", 2.5, [123456789012345678901], {}]),
        ]:
            self.assertEqual(self.call("exactly", given).json(), expected, given)

    def test_what_is_refused(self):
        for function, x, message in [
            ("union", [1], "`x` is not right: it is of none of its types"),
            ("either", {"radius": "a"}, "`x.radius` is not right: it is not a number"),
            ("mapping", {"a": "2026-01-02"}, '`x` is not right: its key "a" is not right: it is not a whole number'),
            ("mapping", {"1": "2026-01-02", "01": "2026-01-02"},
             '`x` is not right: two of its keys are the same, one of them "01"'),
            ("boxed", {"content": "a"}, "`x.content` is not right: it is not a whole number"),
            ("boxed", {"content": 1, "others": ["a"]}, "`x.others[0]` is not right: it is not a whole number"),
            ("cover", "soft", "`x` is not right: it is none of hard, None"),
            ("json_value", True, "`x` is not right: it is of none of its types"),
            ("json_value", [1, {"a": [[1.5]]}], '`x[1]["a"][0][0]` is not right: it is of none of its types'),
            ("tree", [1, [[["x"]]]], "`x[1][0][0][0]` is not right: it is of none of its types"),
            ("address", "1.2.3", "`x` is not right: Expected 4 octets in '1.2.3'"),
            ("fraction", "1/0", "`x` is not right: it is divided by 0"),
            ("fraction", "1e-999999999", "`x` is not right: it is too close to 0"),
            ("fraction", "nan", "`x` is not right: it is not a number"),
            ("counted", {"a": None}, '`x["a"]` is not right: it is not a whole number'),
            ("counts", {"a": [1, "q"]}, '`x["a"][1]` is not right: it is not a whole number'),
            ("choice", "c", "`x` is not right: it is none of a, b, 3"),
            ("mixed", 1, "`x` is not right: it is none of 1, 2, True"),
            ("bits", 4, "`x` is not right: it is no combination of 1, 2"),
            ("colour", "green", "`x` is not right: it is none of red, blue"),
            ("rate", 7.2, "`x` is not right: it is none of 19.00, 7.10"),
            ("rate", "7.10", "`x` is not right: it is none of 19.00, 7.10"),
            ("holiday", "2026-01-02", "`x` is not right: it is none of 2026-01-01"),
            ("day", "2026-13-01", "`x` is not right: month must be in 1..12"),
            ("item", {"name": 1}, "`x.name` is not right: it is not a text"),
            ("item", {"name": "a", "tags": "b"}, "`x.tags` is not right: it is not a list"),
            ("item", {"name": "a", "tags": ["b", 1]}, "`x.tags[1]` is not right: it is not a text"),
            ("item", {"name": "a", "parent": {}}, "`x.parent` is not right: the member `name` is missing"),
            ("pair", {"a": True}, "`x.a` is not right: it is not a whole number"),
            ("options", {"wide": 1}, "`x` is not right: there is no member `wide`"),
            ("upload", "text", "`x` is not right: it is not a file of a form"),
            ("upload", {"filename": "a"}, "`x` is not right: it is not a file of a form"),
        ]:
            answer = self.call(function, {"x": x})
            self.assertEqual((answer.kind, answer.why, answer.message), (b"X", 2, message), f"{function}({x!r})")

    def test_what_is_refused_of_all_other_arguments(self):
        for arguments, message in [
            ({"x": 1, "a": "q"}, "`a` is not right: it is not a whole number"),
            ({"x": 1, "rest": [1, 2.5]}, "`rest[1]` is not right: it is not a whole number"),
        ]:
            answer = self.call("exactly", arguments)
            self.assertEqual((answer.kind, answer.why, answer.message), (b"X", 2, message), f"{arguments}")
        answer = self.call("counts", {"x": {}, "rest": [[1, "a"], [1]]})
        self.assertEqual(answer.message, "`rest[1]` is not right: it has 1 elements, and takes 2")

    def schema(self, function, name="x"):
        found = [each for each in self.endpoints[function]["parameters"] if each["name"] == name]
        return found[0].get("schema")

    def test_schemas(self):
        text = {"type": "string"}
        colours = {"type": "string", "enum": ["red", "blue"]}
        for function, schema in [
            ("optional", {"type": "integer", "nullable": True}),
            ("union", {"anyOf": [{"type": "integer"}, text]}),
            ("mapping", {"type": "object", "additionalProperties": {"type": "string", "format": "date"}}),
            ("choice", {"enum": ["a", "b", 3]}), ("colour", {**colours, "default": "red"}),
            ("level", {"type": "integer", "enum": [1, 2]}), ("rate", {"type": "number", "enum": [19, 7.1]}),
            ("holiday", {"type": "string", "enum": ["2026-01-01"]}), ("colours", {"type": "array", "items": colours}),
            ("moment", {"type": "string", "format": "date-time"}), ("key", {"type": "string", "format": "uuid"}),
            ("user", {"type": "integer"}), ("noted", {"type": "integer"}),
            ("ordered", {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
            ("upload", {"type": "string", "format": "binary"}), ("bits", {"type": "integer"}),
            ("maybe", {"type": "string", "enum": ["a", "red", None], "nullable": True}),
            ("options", {"type": "object", "title": "Options", "properties": {
                "depth": {"type": "integer"}, "when": {"type": "string", "format": "date"}}}),
        ]:
            self.assertEqual(self.schema(function), schema, function)
        self.assertEqual(self.schema("must", "y"), {"type": "integer", "default": 2})
        self.assertEqual(self.endpoints["optional"]["answer"], {"type": "integer", "nullable": True})
        item = self.endpoints["item"]["answer"]
        told = (item["title"], item["description"], item["required"])
        self.assertEqual(told, ("Item", "A thing in a basket.", ["name"]))
        self.assertEqual(item["properties"]["colour"], {**colours, "nullable": True})
        json.dumps(self.endpoints, allow_nan=False)


class Beside(unittest.TestCase):
    def test_modules_beside_the_file_are_told(self):
        beside = {"helpers.py": "WORD = 'one'\n", "other.py": "x = 1\n"}
        with Served("import json, helpers\ndef word(): return helpers.WORD\n", beside=beside) as served:
            files = served.offer()["files"]
            self.assertEqual([each.rpartition("/")[2] for each in files], ["helpers.py"])
            self.assertFalse((served.folder / "__pycache__").exists())

    def test_modules_that_are_imported_by_a_call_are_told_before(self):
        beside = {
            "late.py": "def f():\n    from . import own\n    import deep.inner\n", "own.py": "", "other.py": "",
            "broken.py": "def (", "json.txt": "",
        }
        source = "def word():\n    import late, json\n    from broken import x\n    return x\n"
        with Served(source, beside=beside) as served:
            (served.folder / "deep").mkdir()
            (served.folder / "deep" / "inner.py").write_text("import late\n")
            files = [each[len(str(served.folder)) + 1:] for each in served.offer()["files"]]
            self.assertEqual(files, ["broken.py", "deep/inner.py", "late.py", "own.py"])


if __name__ == "__main__":
    unittest.main()
