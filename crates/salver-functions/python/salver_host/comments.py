"""Annotations: what the comment directly above a `def` says of it, as in plumber's files.

    #* The first line is the summary,
    #* further ones are the description.
    #* @param n:int* How many. The star says that it must be given.
    #* @pure
    #* @get /fib/<n:int>
"""

import ast
import re

_COMMENT = re.compile(r"\s*#+[*']?\s?(.*)$")
_MARKED = re.compile(r"\s*#+([*']|\s*@\w)")
_WORD = re.compile(r"\s*@(\w+)\s*(.*)$")
_PARAM = re.compile(r"([A-Za-z_]\w*)(?::(\[?)([\w ]+)\]?)?(\*?)(?:\s+(.*))?$")
_IN_PATH = re.compile(r"<([A-Za-z_]\w*)(?::(\[?)([\w ]+)\]?)?>|\{([A-Za-z_]\w*)\}")
_METHODS = {"get", "post", "put", "delete", "patch", "head", "options", "any"}

# What annotations call the kinds of the offer; plumber's words and Python's.
KINDS = {}
for _kind, _names in {
    "boolean": "bool boolean logical",
    "integer": "int integer",
    "number": "float number numeric double dbl",
    "text": "str string text character chr",
    "object": "object dict list df",
    "bytes": "bytes file raw",
}.items():
    KINDS.update(dict.fromkeys(_names.split(), _kind))


class Annotation:
    """What the comment above one function says."""

    def __init__(self, lines=()):
        self.routes, self.parameters, self.pure, said = [], {}, False, []
        self.vectorized, self.result = False, None
        for line in lines:
            word = _WORD.match(line)
            if word is None:
                said.append(line.strip())
            else:
                self._take(word.group(1).lower(), word.group(2).strip())
        self.summary, self.description = paragraphs("\n".join(said))

    def _take(self, word, rest):
        if word in _METHODS:
            path = "/" + rest.strip("\"'").lstrip("/")
            for name, kind, is_list in in_path(path):
                if kind:
                    self.parameters.setdefault(name, (kind, is_list, None, None))
            self.routes.append(("*" if word == "any" else word.upper(), path))
        elif word == "pure":
            self.pure = True
        elif word == "vectorized":
            self.vectorized = True
        elif word == "return":
            # Only a type that stands alone: other comments have prose there.
            self.result = KINDS.get(rest.strip("[]").lower())
        elif word == "param":
            match = _PARAM.match(rest)
            if match:
                name, bracket, kind, star, description = match.groups()
                self.parameters[name] = (
                    KINDS.get((kind or "").strip().lower()), bool(bracket), True if star else None, description
                )


def in_path(path):
    """The parameters of a path: name, kind (`None`: not said) and whether it is a list."""
    for name, bracket, kind, braced in _IN_PATH.findall(path):
        yield name or braced, KINDS.get(kind.strip().lower()), bool(bracket)


def paragraphs(said):
    """A text's first line, and the rest."""
    first, _, rest = (said or "").strip().partition("\n")
    return first.strip() or None, rest.strip() or None


def functions(tree, source):
    """The functions a file defines at its top level, in order: name, docstring and annotation."""
    lines = source.split("\n")
    found = {}
    for node in _definitions(tree.body):
        first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
        found.pop(node.name, None)  # The last definition of a name is the one that is there.
        found[node.name] = (ast.get_docstring(node), Annotation(_comment_above(lines, first - 1)))
    return found


def _definitions(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            for part in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from _definitions(handler.body)


def _comment_above(lines, index):
    """The lines of the comment that ends above `index`; none when nothing in it is meant for us."""
    start = index
    while start > 0 and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    block = lines[start:index]
    if not any(_MARKED.match(line) for line in block):
        return []
    return [_COMMENT.match(line).group(1) for line in block]
