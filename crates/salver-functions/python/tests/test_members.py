"""Classes with named members: which must be given, which can be, and what documents say of them."""

import unittest

from served import OneFile

SOURCE = '''
from __future__ import annotations
import dataclasses, typing
from dataclasses import InitVar, dataclass, field
from typing import ClassVar, Dict, Generic, List, NamedTuple, Optional, TypedDict, TypeVar, Union

try:
    from typing import Annotated, NotRequired, Required
except ImportError:
    NotRequired = Required = None

if Required is not None:
    class Few(TypedDict, total=False):
        a: Required[int]
        b: str
        c: Annotated[Required[int], "a note"]
    class More(Few):
        d: NotRequired[List[int]]
        e: bool
    def few(x: Few) -> Few: return x
    def more(x: More): return x

class Plain(TypedDict, total=False):
    a: int
    b: Nowhere
class Row(Plain):
    c: Optional[int]

@dataclass
class Given:
    a: int
    b: InitVar[int]
    c: InitVar[str] = "c"
    d: int = field(default=3, init=False)
    e: ClassVar[int] = 4
    def __post_init__(self, b, c): self.f, self.g = b, c

@dataclass
class Node:
    value: int
    children: List[Node] = field(default_factory=list)
    named: Optional[Dict[str, Node]] = None

T = TypeVar("T")
@dataclass
class Tree(Generic[T]):
    value: T
    children: List[Tree[T]] = field(default_factory=list)

class Pair(NamedTuple):
    a: Union[int, List[Pair]]
    b: str = "b"

Json = Union[None, bool, List["Json"]]

def row(x: Row): return x
def given(x: Given) -> Given: return [x.a, x.f, x.g, x.d]
def node(x: Node): return x
def tree(x: Tree[int]): return x
def pair(x: Pair): return x
def truths(x: Json): return x
'''
NODE = {"value": 1, "children": [], "named": None}


class Members(OneFile):
    SOURCE = SOURCE

    def check(self, function, cases):
        for x, expected in cases:
            answer = self.worker.call(self.numbers[function], {"x": x})
            if answer.kind == b"A":
                self.assertEqual(answer.json(), x if expected is None else expected, f"{function}({x!r})")
            else:
                self.assertEqual(answer.message, expected, f"{function}({x!r})")

    def test_required_members_in_a_file_that_makes_texts_of_hints(self):
        if "few" not in self.endpoints:
            self.skipTest("this Python has no `Required`")
        self.check("few", [
            ({"a": 1, "c": 2}, None), ({"a": 1, "c": 2, "b": "x"}, None),
            ({"b": "x"}, "`x` is not right: the member `a` is missing"),
            ({"a": 1}, "`x` is not right: the member `c` is missing"),
            ({"a": 1, "c": "x"}, "`x.c` is not right: it is not a whole number"),
        ])
        self.check("more", [
            ({"a": 1, "c": 2, "e": True}, None), ({"a": 1, "c": 2, "e": True, "d": [1]}, None),
            ({"a": 1, "c": 2, "e": True, "d": ["x"]}, "`x.d[0]` is not right: it is not a whole number"),
            ({"a": 1, "c": 2}, "`x` is not right: the member `e` is missing"),
        ])
        schemas = [self.endpoints["few"]["answer"], self.endpoints["more"]["parameters"][0]["schema"]]
        self.assertEqual([each["required"] for each in schemas], [["a", "c"], ["a", "c", "e"]])
        self.assertEqual(schemas[1]["properties"]["d"], {"type": "array", "items": {"type": "integer"}})

    def test_members_whose_hints_are_not_to_be_found(self):
        self.check("row", [({"b": [1], "c": None}, None), ({"a": 1}, "`x` is not right: the member `c` is missing")])

    def test_what_a_dataclass_is_made_of(self):
        self.check("given", [
            ({"a": 1, "b": 2}, [1, 2, "c", 3]), ({"a": 1, "b": 2, "c": "d"}, [1, 2, "d", 3]),
            ({"a": 1}, "`x` is not right: the member `b` is missing"),
            ({"a": 1, "b": "x"}, "`x.b` is not right: it is not a whole number"),
            ({"a": 1, "b": 2, "d": 3}, "`x` is not right: there is no member `d`"),
            ({"a": 1, "b": 2, "e": 3}, "`x` is not right: there is no member `e`"),
        ])
        schema = self.endpoints["given"]["parameters"][0]["schema"]
        self.assertEqual((schema["required"], list(schema["properties"])), (["a", "b"], ["a", "b", "c"]))
        self.assertEqual(schema["properties"]["b"], {"type": "integer"})
        schema = self.endpoints["given"]["answer"]
        self.assertEqual((schema["required"], list(schema["properties"])), (["a"], ["a", "d"]))

    def test_classes_that_contain_themselves(self):
        self.check("node", [
            ({**NODE, "children": [{**NODE, "named": {"a": NODE}}]}, None),
            ({"value": 1, "children": [{"value": 1, "named": {"a": {"value": "x"}}}]},
             '`x.children[0].named["a"].value` is not right: it is not a whole number'),
        ])
        self.check("tree", [({"value": 1, "children": [{"value": 2, "children": [{"value": "x"}]}]},
                             "`x.children[0].children[0].value` is not right: it is not a whole number")])
        self.check("pair", [([[[1], [[[2, "c"]], "d"]]], [[[1, "b"], [[[2, "c"]], "d"]], "b"])])
        self.check("truths", [([None, [True, []]], None),
                              ([[[1]]], "`x[0][0][0]` is not right: it is of none of its types")])


if __name__ == "__main__":
    unittest.main()
