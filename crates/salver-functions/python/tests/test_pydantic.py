"""Pydantic: what hints demand that only it can check, and what it writes that nothing else can."""

import json
import unittest

from served import OneFile, Served

try:
    import pydantic
    HAS_PYDANTIC = tuple(map(int, pydantic.VERSION.split(".")[:2])) >= (2, 10)  # Before, URLs were of other classes.
except ImportError:
    HAS_PYDANTIC = False

SOURCE = '''
import dataclasses, decimal, enum, ipaddress, typing
from typing import Dict, Generic, List, Literal, NamedTuple, Optional, Tuple, TypedDict, TypeVar, Union
from typing import Annotated
import annotated_types, pydantic
from pydantic import (
    AfterValidator, AwareDatetime, Base64Bytes, BaseModel, BeforeValidator, ConfigDict, Field, HttpUrl, Json,
    PlainSerializer, PositiveInt, SecretStr, Strict, StringConstraints, constr,
)
from salver import HTTPError

class Part(BaseModel):
    name: str
class Order(BaseModel):
    number: int = Field(gt=0)
    parts: List[Part] = []
    note: Optional[str] = None

def is_ok(value):
    if value != "ok":
        raise ValueError("not ok")
    return value
def denied(value): raise HTTPError(403, "denied")
def split(value): return value.split(",") if isinstance(value, str) else value

class Colour(enum.Enum):
    RED = "red"
class Cat(BaseModel):
    kind: Literal["cat"]
class Dog(BaseModel):
    kind: Literal["dog"]
@dataclasses.dataclass
class Item:
    number: Annotated[int, Field(gt=3)]
    next: "Optional[Item]" = None
class Options(TypedDict, total=False):
    depth: PositiveInt
class Pair(NamedTuple):
    a: PositiveInt
    b: str = ""
@dataclasses.dataclass
class Late:
    number: int = Field(5, gt=3)
@pydantic.dataclasses.dataclass
class Theirs:
    number: int = Field(gt=3)
T = TypeVar("T")
@dataclasses.dataclass
class Box(Generic[T]):
    content: T

def told(value): return f"{type(value).__name__} {value}"
def order(x: Order) -> Order: return x
def above(x: Annotated[int, Field(gt=3, description="a number")]): return told(x)
def positive(x: PositiveInt): return told(x)
def positives(x: List[PositiveInt]): return told(x)
def either(x: Union[PositiveInt, str]): return told(x)
def maybe(x: Annotated[Optional[int], Field(gt=3)]): return told(x)
def checked(x: Annotated[str, AfterValidator(is_ok)]): return told(x)
def closed(x: Annotated[str, AfterValidator(denied)]): return told(x)
def short(x: constr(max_length=2)): return told(x)
def trimmed(x: Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True)]): return told(x)
def digits(x: Annotated[decimal.Decimal, Field(max_digits=20, lt=10)]): return told(x)
def url(x: HttpUrl) -> HttpUrl: return told(x)
def moment(x: AwareDatetime): return told(x)
def secret(x: Dict[str, SecretStr]): return [x, x["a"].get_secret_value()]
def item(x: Item): return told(x)
def options(x: Options): return told(x)
def pair(x: Pair): return told(x)
def late(x: Late): return told(x)
def theirs(x: Theirs): return told(x)
def boxed(x: Box[PositiveInt]): return told(x)
def words(x: Annotated[List[str], BeforeValidator(split)]): return told(x)
def in_json(x: Json[List[int]]): return told(x)
def decoded(x: Annotated[List[Base64Bytes], annotated_types.Len(1, 2)]): return told(x)
def twice(x: Annotated[List[Annotated[int, AfterValidator(lambda n: n + 1)]], Field(min_length=1)]): return told(x)
def pet(x: Annotated[Union[Cat, Dog], Field(discriminator="kind")]): return told(x)
def strict(x: Annotated[Colour, Strict()]): return told(x)
def sized(x: Annotated[Tuple[PositiveInt, str], AfterValidator(lambda pair: pair[0])]): return told(x)
def noted(x: Annotated[int, Field(description="a note")], y: Annotated[int, pydantic.WithJsonSchema({})]): return [x, y]
def defaults(a: int = Field(default=5, gt=3), b: list = Field(default_factory=lambda: [1]), *, c: int = Field(gt=3),
             d: Annotated[int, Field(7)], e: int): return [a, b, c, d, e]
def by_place(a: int = Field(5), /, *more: PositiveInt, **named: PositiveInt): return [a, more, named]
#* @vectorized
def column(n: List[PositiveInt]): return n

class Written(BaseModel):
    secret: SecretStr = SecretStr("t")
    url: HttpUrl = HttpUrl("http://a.b/")
    address: ipaddress.IPv4Address = ipaddress.ip_address("1.2.3.4")
    price: decimal.Decimal = decimal.Decimal("1.10")
class Odd: ...
class OddOne(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    odd: Annotated[Odd, PlainSerializer(lambda value: "odd", when_used="json")]
def written(): return Written()
def within(): return {"a": [Written(), SecretStr("x")], "b": HttpUrl("http://a.b/"), "c": decimal.Decimal("1.10")}
def odd(): return [OddOne(odd=Odd())]
def no_json(): return [Odd()]
'''
WRITTEN = b'{"secret":"**********","url":"http://a.b/","address":"1.2.3.4","price":1.10}'


def text_argument(text):
    return {"\0text": text}


@unittest.skipUnless(HAS_PYDANTIC, "pydantic is not installed, or an old one")
class Demands(OneFile):
    SOURCE = SOURCE

    def call(self, function, arguments=None):
        return self.worker.call(self.numbers[function], arguments)

    def test_what_is_taken(self):
        for function, x, expected in [
            ("order", {"number": 1, "parts": [{"name": "a"}]}, {"number": 1, "parts": [{"name": "a"}], "note": None}),
            ("above", 4, "int 4"), ("above", 4.0, "int 4"), ("positive", 1, "int 1"), ("positives", [1], "list [1]"),
            ("either", 1, "int 1"), ("either", "a", "str a"), ("maybe", None, "NoneType None"), ("maybe", 4, "int 4"),
            ("checked", "ok", "str ok"), ("short", "ab", "str ab"), ("trimmed", " a ", "str A"),
            ("digits", 1.25, "Decimal 1.25"), ("url", "http://a.b", "HttpUrl http://a.b/"),
            ("moment", "2026-01-02T03:04:05Z", "datetime 2026-01-02 03:04:05+00:00"),
            ("secret", {"a": "b"}, [{"a": "**********"}, "b"]),
            ("item", {"number": 4, "next": {"number": 5}}, "Item Item(number=4, next=Item(number=5, next=None))"),
            ("options", {"depth": 1}, "dict {'depth': 1}"), ("pair", [1, "a"], "Pair Pair(a=1, b='a')"),
            ("late", {"number": 4}, "Late Late(number=4)"), ("late", {}, "Late Late(number=5)"),
            ("theirs", {"number": 4}, "Theirs Theirs(number=4)"), ("boxed", {"content": 1}, "Box Box(content=1)"),
            ("words", "a,b", "list ['a', 'b']"), ("words", ["a"], "list ['a']"), ("in_json", "[1]", "list [1]"),
            ("decoded", ["YQ=="], "list [b'a']"), ("twice", [1, 2], "list [2, 3]"),
            ("pet", {"kind": "dog"}, "Dog kind='dog'"),
            ("strict", "red", "Colour Colour.RED"), ("sized", [1, "a"], "int 1"), ("column", [1, 2], [1, 2]),
        ]:
            answer = self.call(function, {"x" if function != "column" else "n": x})
            self.assertEqual(answer.kind, b"A", f"{function}({x!r}): {vars(answer)}")
            self.assertEqual(answer.json(), expected, f"{function}({x!r})")

    def test_what_is_refused(self):
        greater = "Input should be greater than"
        for function, x, message in [
            ("order", {"number": 0}, f"`x.number` is not right: {greater} 0"),
            ("above", 3, f"`x` is not right: {greater} 3"),
            ("above", "4", "`x` is not right: it is not a whole number"),
            ("positive", -1, f"`x` is not right: {greater} 0"),
            ("positives", [1, -1], f"`x[1]` is not right: {greater} 0"),
            ("positives", ["1"], "`x[0]` is not right: it is not a whole number"),
            ("either", -1, f"`x` is not right: {greater} 0"), ("maybe", 3, f"`x` is not right: {greater} 3"),
            ("checked", "bad", "`x` is not right: Value error, not ok"),
            ("short", "long", "`x` is not right: String should have at most 2 characters"),
            ("digits", 11, "`x` is not right: Input should be less than 10"),
            ("url", "javascript:x", "`x` is not right: URL scheme should be 'http' or 'https'"),
            ("moment", "2026-01-02T03:04:05", "`x` is not right: Input should have timezone info"),
            ("secret", {"a": 1}, '`x["a"]` is not right: Input should be a valid string'),
            ("item", {"number": 4, "next": {"number": 3}}, f"`x.next.number` is not right: {greater} 3"),
            ("options", {"depth": 0}, f"`x.depth` is not right: {greater} 0"),
            ("options", {"wide": 0}, "`x` is not right: there is no member `wide`"),
            ("pair", [0], f"`x.a` is not right: {greater} 0"),
            ("late", {"number": 3}, f"`x.number` is not right: {greater} 3"),
            ("theirs", {"number": 3}, f"`x.number` is not right: {greater} 3"),
            ("boxed", {"content": 0}, f"`x.content` is not right: {greater} 0"),
            ("decoded", [], "`x` is not right: List should have at least 1 item after validation, not 0"),
            ("pet", {"kind": "cow"}, "`x` is not right: Input tag 'cow' found using 'kind' does not match any of the "
                                     "expected tags: 'cat', 'dog'"),
            ("strict", "blue", "`x` is not right: it is none of red"),
            ("sized", [0, "a"], f"`x[0]` is not right: {greater} 0"),
        ]:
            answer = self.call(function, {"x": x})
            self.assertEqual((answer.kind, answer.why, answer.message), (b"X", 2, message), f"{function}({x!r})")
        self.assertEqual(self.call("closed", {"x": "a"}).status, 403)
        self.assertEqual(self.call("column", {"n": [1, 0]}).message, f"`n[1]` is not right: {greater} 0")

    def test_texts_of_urls(self):
        for function, text, expected in [
            ("words", "a,b", "list ['a', 'b']"), ("either", "5", "int 5"), ("either", "-5", "str -5"),
            ("in_json", "[1]", "list [1]"),
        ]:
            self.assertTrue(self.endpoints[function]["parameters"][0]["texts"], function)
            self.assertEqual(self.call(function, {"x": text_argument(text)}).json(), expected, function)

    def test_kinds(self):
        for function, kind, is_list, required in [
            ("above", "integer", False, True), ("positives", "integer", True, True), ("maybe", "integer", False, False),
            ("url", "text", False, True), ("moment", "text", False, True), ("theirs", "object", False, True),
            ("words", "any", False, True), ("digits", "number", False, True),
        ]:
            own = self.endpoints[function]["parameters"][0]
            self.assertEqual((own["kind"], own["list"], own["required"]), (kind, is_list, required), function)
        self.assertTrue(self.endpoints["column"]["gathers"])

    def test_fields_as_defaults(self):
        required = {each["name"]: each["required"] for each in self.endpoints["defaults"]["parameters"]}
        self.assertEqual(required, {"a": False, "b": False, "c": True, "d": False, "e": True})
        self.assertEqual(self.call("defaults", {"c": 4, "e": 1}).json(), [5, [1], 4, 7, 1])
        self.assertEqual(self.call("defaults", {"a": None, "c": 4, "e": 1}).json(), [5, [1], 4, 7, 1])
        self.assertEqual(self.call("defaults", {"a": 9, "b": [], "c": 4, "d": 0, "e": 1}).json(), [9, [], 4, 0, 1])
        self.assertEqual(self.call("defaults", {"a": 3, "c": 4, "e": 1}).message,
                         "`a` is not right: Input should be greater than 3")
        self.assertEqual(self.call("defaults", {"e": 1}).message, "`c` is missing")
        self.assertEqual(self.call("by_place", {}).json(), [5, [], {}])
        self.assertEqual(self.call("by_place", {"more": [1], "b": 2}).json(), [5, [1], {"b": 2}])
        self.assertEqual(self.call("by_place", {"more": [0]}).message,
                         "`more[0]` is not right: Input should be greater than 0")
        self.assertEqual(self.call("by_place", {"b": 0}).message, "`b` is not right: Input should be greater than 0")

    def schema(self, function, name="x"):
        found = [each for each in self.endpoints[function]["parameters"] if each["name"] == name]
        return found[0].get("schema")

    def test_schemas(self):
        above = {"type": "integer", "minimum": 3, "exclusiveMinimum": True}
        positive = {**above, "minimum": 0}
        for function, schema in [
            ("above", {**above, "description": "a number"}), ("positives", {"type": "array", "items": positive}),
            ("either", {"anyOf": [positive, {"type": "string"}]}), ("maybe", {**above, "nullable": True}),
            ("short", {"type": "string", "maxLength": 2}),
            ("digits", {"type": "number", "maximum": 10, "exclusiveMaximum": True}),
            ("item", {"type": "object", "title": "Item", "required": ["number"]}),
            ("moment", {"type": "string", "format": "date-time"}),
            ("options", {"type": "object", "title": "Options", "properties": {"depth": positive}}),
            ("decoded", {"type": "array", "minItems": 1, "maxItems": 2}),
        ]:
            own = self.schema(function)
            self.assertEqual({name: own.get(name) for name in schema}, schema, function)
        self.assertEqual(self.schema("item")["properties"]["number"], above)
        self.assertEqual((self.schema("url")["type"], self.schema("url")["format"]), ("string", "uri"))
        self.assertEqual(self.schema("defaults", "a"), {**above, "default": 5})
        self.assertEqual(self.schema("defaults", "d")["default"], 7)
        self.assertNotIn("default", self.schema("defaults", "b"))
        self.assertNotIn("$ref", json.dumps(self.endpoints))
        self.assertNotIn("$defs", json.dumps(self.endpoints))
        schema = self.endpoints["order"]["answer"]
        self.assertEqual(schema["required"], ["number"])
        self.assertEqual(schema["properties"]["parts"]["items"]["properties"]["name"]["type"], "string")
        self.assertEqual(schema["properties"]["note"], {"title": "Note", "type": "string", "nullable": True})

    def test_answers(self):
        self.assertEqual(self.call("written").body, WRITTEN)
        within = b'{"a":[%s,"**********"],"b":"http://a.b/","c":1.10}' % WRITTEN
        self.assertEqual(self.call("within").body, within)
        self.assertEqual(self.call("odd").json(), [{"odd": "odd"}])
        self.assertEqual(self.call("no_json").detail.splitlines()[-1],
                         "TypeError: a value of type Odd can't be written as JSON")


@unittest.skipUnless(HAS_PYDANTIC, "pydantic is not installed, or an old one")
class Refused(unittest.TestCase):
    def test_a_hint_that_pydantic_can_not_check(self):
        source = "from typing import Annotated\nfrom pydantic import Field, BeforeValidator\n"
        source += "def f(x: Annotated[int, Field(pattern='(')]): ...\n"
        with Served(source) as served:
            self.assertIn("pydantic can't check the hint", served.refusal())


class Without(unittest.TestCase):
    def test_marks(self):
        beside = {
            "annotated_types.py": "class Gt:\n    def __init__(self, gt): self.gt = gt\n",
            "pydantic.py": "raise ImportError('none')\n",
        }
        with Served("""
            from typing import Annotated
            from annotated_types import Gt
            def f(x: Annotated[int, Gt(3)]): ...
        """, beside=beside) as served:
            said = served.refusal()
            self.assertIn("asks for pydantic 2, which is not installed for this Python", said)


if __name__ == "__main__":
    unittest.main()
