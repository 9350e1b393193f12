"""The offer: a file loaded, and what its functions are to the server."""

import ast
import functools
import importlib.util
import inspect
import os
import re
import sys
import typing

import salver
from salver_host import applications, beside, comments, faults, json_text, names, scalars, schemas, type_hints
from salver_host.parameters import NAMED, NO_DEFAULT, Parameter, filled, without_fields

_TITLE = re.compile(r"^#+[*']?\s*@api(Title|Description)\s+(.+?)\s*$", re.MULTILINE)
_IN_ORDER = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Endpoint:
    """A function and what calling it takes."""

    def __init__(self, name, function, found, route, file):
        docstring, annotation = found
        self.name, self.route, self.pure, self.file = name, route, annotation.pure, file
        self.vectorized = annotation.vectorized
        self.summary, self.description = annotation.summary, annotation.description
        if self.summary is None:
            self.summary, self.description = comments.paragraphs(docstring)
        hints = names.hints(function)
        self.signature, self.made = without_fields(inspect.signature(function), hints)
        self.own, self.function = function, filled(_by_name(function, self.signature), self.made)
        self.answer = None
        # The names of parameters that get the request, and of the one that gets all other arguments.
        self.parameters, self.requests, self.further, self.rest = [], [], None, scalars.Taken()
        with names.within(function):
            self._read(hints, dict(annotation.parameters))
            said = type_hints.of_kind(annotation.result, False)
            result = type_hints.taken(hints["return"]) if "return" in hints else said
        self.result = "object" if result.is_list and not self.vectorized else result.kind
        if "return" in hints and not self.vectorized:
            self.answer = schemas.of(hints["return"], is_answer=True)
        # What has to be done before the call, mostly nothing: values are converted, and `null` for a parameter that
        # has a default and does not take `None` leaves the default.
        is_exact = any(each.taken.digits for each in self.parameters) or self.rest.digits
        self.read = json_text.read_exact if is_exact else json_text.read
        self.converted = [
            (each.name, _converter(each.taken, is_exact), _has_typed_default(each)) for each in self.parameters
        ]
        self.converted = [each for each in self.converted if each[1] or each[2]]
        self.convert_rest = _converter(self.rest, is_exact) if self.further else None
        self.converts = bool(self.converted or self.convert_rest)
        self.tables = {each.name: each.taken.of_table for each in self.parameters if each.taken.of_table}
        self.bodies = [(each.name, each.taken.from_body) for each in self.parameters if each.taken.from_body]
        self.nulls = [each.name for each in self.parameters if not each.required and self._has_no_default(each.name)]
        self.completed = bool(self.requests or self.bodies or self.nulls)
        special = self.requests or self.bodies or self.further or self.result == "bytes"
        self.gathers = self.vectorized and not special

    def _read(self, hints, said):
        for name, each in self.signature.parameters.items():
            if each.kind is inspect.Parameter.VAR_POSITIONAL:
                self._read_positional(name, hints.get(name), said.pop(name, (None, False, None, None)))
            if each.kind not in NAMED:
                continue
            kind, is_list, required, description = said.pop(name, (None, False, None, None))
            taken = type_hints.taken(hints[name]) if name in hints else type_hints.of_kind(kind, is_list)
            if taken.kind == "request" or (name == "request" and name not in hints):
                self.requests.append(name)
                continue
            required = required or (self._has_no_default(name) and not taken.optional)
            parameter = Parameter(name, taken, required, description)
            schema = schemas.of(hints[name]) if name in hints else None
            has_default = not required and not self._has_no_default(name)
            parameter.schema = schemas.with_default(schema, each.default) if has_default and schema else schema
            self.parameters.append(parameter)
        for each in self.signature.parameters.values():
            if each.kind is inspect.Parameter.VAR_KEYWORD:
                for name, (kind, is_list, required, description) in said.items():
                    taken = type_hints.of_kind(kind, is_list)
                    self.parameters.append(Parameter(name, taken, bool(required), description))
                self.further, self.names = f"**{each.name}", {name for name in self.signature.parameters}
                self.names.update(parameter.name for parameter in self.parameters)
                self.rest = type_hints.taken(hints[each.name]) if each.name in hints else self.rest

    def _read_positional(self, name, hint, said):
        """Reads `*name`, which is given as a list."""
        element = hint or {"integer": int, "number": float, "text": str}.get(said[0], typing.Any)
        taken = type_hints.taken(typing.List[element])
        self.parameters.append(Parameter(name, taken, bool(said[2]), said[3]))

    def _has_no_default(self, name):
        parameter = self.signature.parameters.get(name)
        return parameter is not None and parameter.default in NO_DEFAULT and parameter.kind in NAMED

    def convert(self, arguments, is_of_columns=False):
        """Makes of JSON's values, or of those in columns, what the parameters take."""
        for name, convert, has_default in self.converted:
            if name in arguments:
                value = arguments[name]
                if value is None and has_default:
                    del arguments[name]
                elif convert is not None:
                    try:
                        if is_of_columns and value is not None:
                            arguments[name] = [convert(each) for each in value]
                        else:
                            arguments[name] = convert(value)
                    except scalars.PASSING:
                        raise
                    except Exception as error:
                        raise _wrong(name, error) from error
        if self.convert_rest is not None:
            for name in arguments:
                if name not in self.names:
                    try:
                        arguments[name] = self.convert_rest(arguments[name])
                    except scalars.PASSING:
                        raise
                    except Exception as error:
                        raise _wrong(name, error) from error

    def table(self, name, body):
        """The value of the parameter that a call's body is the table for."""
        try:
            return self.tables[name](body)
        except scalars.PASSING:
            raise
        except ImportError as error:
            raise faults.ArgumentFault(f"`{name}` can't be a table here: {error}") from error
        except Exception as error:
            raise faults.ArgumentFault(f"the body is not right for `{name}`: {error}") from error

    def complete(self, arguments, call):
        """Adds what is no argument of the call: the request, its body, and `None` for what may be left away."""
        if self.requests:
            arguments.update(dict.fromkeys(self.requests, salver.Request(call, dict(arguments))))
        for name, read in self.bodies:
            if name not in arguments:
                try:
                    value = read(call)
                except Exception as error:
                    raise faults.ArgumentFault(f"the body is not right for `{name}`: {error}") from error
                if value is not None:
                    arguments[name] = value
        for name in self.nulls:
            arguments.setdefault(name)

    def by_position(self, count):
        """The function, such that its first `count` parameters are given in order; others that have no default and may
        be left away are `None`."""
        given = [parameter.name for parameter in self.parameters[:count]]
        absent = dict.fromkeys(name for name in self.nulls if name not in given)
        in_order = [name for name, each in self.signature.parameters.items() if each.kind in _IN_ORDER]
        if in_order[:count] == given and not self.made:
            return functools.partial(self.own, **absent) if absent else self.own
        return lambda *values: self.function(**dict(zip(given, values)), **absent)

    def misfit(self, error, arguments):
        """What to say of a call that raised a `TypeError` before the function began: which argument does not fit."""
        own = self.signature.parameters
        for name, each in own.items():
            if each.kind in NAMED and name not in arguments and self._has_no_default(name):
                return faults.ArgumentFault(f"`{name}` is missing")
        for name in arguments:
            if name not in own and not self.further:
                return faults.ArgumentFault(f"`{self.name}` has no parameter `{name}`")
        return error

    def offer(self):
        """Its part of the offer."""
        method, path = self.route or (None, None)
        prefix = bool(path) and path.endswith("/*")
        further = [Parameter(self.further, self.rest, False)] if self.further else []
        answer = {} if self.answer is None else {"answer": self.answer}
        return {
            **answer,
            "function": self.name,
            "method": method,
            "path": (path[:-2] or "/") if prefix else path,
            "prefix": prefix,
            "parameters": [parameter.offer() for parameter in self.parameters + further],
            "summary": self.summary,
            "description": self.description,
            "pure": self.pure,
            "result": self.result,
            "vectorized": self.vectorized,
            "gathers": self.gathers,
            "request": bool(self.requests),
        }


def _converter(taken, is_exact):
    """What has to be done with what the server has checked; with exact numbers, also where nothing is said."""
    return taken.convert or (taken.strict if is_exact and taken.kind in ("any", "object") else None)


def _has_typed_default(parameter):
    """Whether `null` leaves the default of a parameter."""
    taken = parameter.taken
    return not parameter.required and not taken.nullable and (taken.kind != "any" or taken.convert is not None)


def _wrong(name, error):
    """The fault of an argument that could not be converted."""
    wrong = scalars.misfit(error)
    return faults.ArgumentFault(f"`{name}{wrong.place}` is not right: {wrong.why}")


class File:
    """A loaded file: its module, and its endpoints in the order of the offer."""

    def __init__(self, module, tree, source):
        title, description = comments.paragraphs(ast.get_docstring(tree))
        said = dict(_TITLE.findall(source))
        self.title, self.description = said.get("Title", title), said.get("Description", description)
        found = comments.functions(tree, source)
        present = [(name, vars(module)[name]) for name in found if callable(vars(module).get(name))]
        applications.refuse(module, tree, present)
        self.endpoints = _endpoints(module, found, present)
        self.beside = beside.files(module.__file__, tree)

    def offer(self):
        """The offer, as `wire.rs` has it."""
        return {
            "application": False,
            "title": self.title,
            "description": self.description,
            "endpoints": [endpoint.offer() for endpoint in self.endpoints],
            "files": self.beside,
        }


def load(path):
    """Runs a file as the module that its name says, so that `if __name__ == "__main__"` is left out."""
    path = os.path.abspath(path)
    with open(path, "rb") as opened:
        source = importlib.util.decode_source(opened.read())
    tree = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:  # A file may be named as one of the interpreter's own modules.
        name = f"functions.{name}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # Compiled here and not by the importer, which would write a cache beside the file and may read an old one.
    exec(compile(tree, path, "exec", dont_inherit=True), module.__dict__)
    return File(module, tree, source)


def _endpoints(module, found, present):
    file = os.path.basename(module.__file__)
    routed = [
        Endpoint(name, function, found[name], route, file)
        for name, function in present for route in found[name][1].routes
    ]
    if routed:
        return routed
    return [Endpoint(name, function, found[name], None, file) for name, function in present if not name.startswith("_")]


def _by_name(function, signature):
    """The function, such that all its arguments can be given by name."""
    several = [each.name for each in signature.parameters.values() if each.kind is inspect.Parameter.VAR_POSITIONAL]
    # What stands before `*names` can't be given by name when these are.
    in_order = _IN_ORDER if several else (inspect.Parameter.POSITIONAL_ONLY,)
    positional = [each for each in signature.parameters.values() if each.kind in in_order]
    if not positional and not several:
        return function

    def by_name(**arguments):
        given, more = [], arguments.pop(several[0], None) if several else None
        for each in positional:
            if each.name in arguments:
                given.append(arguments.pop(each.name))
            elif more and each.default not in NO_DEFAULT:
                given.append(each.default)
            else:
                break
        return function(*given, *(more or ()), **arguments)

    return by_name
