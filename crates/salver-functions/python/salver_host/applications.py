"""Applications of web frameworks in a file. The server calls functions by their names, past the application: nothing
that it asks of callers, in dependencies, middleware or hooks, would hold. So such a file is refused."""

import ast
import inspect
import typing

_FRAMEWORKS = frozenset(
    "aiohttp blacksheep bottle cherrypy connexion django eve falcon fastapi flask flask_openapi3 flask_restful "
    "flask_restx hug litestar masonite microdot morepath muffin ninja pyramid quart responder robyn sanic starlette "
    "starlite tornado turbogears web web2py werkzeug".split()
)
# What applications, and the routers that become parts of them, have to declare routes.
_DECLARING = (
    "add_api_route", "add_get", "add_handlers", "add_resource", "add_route", "add_routes", "add_url_rule",
    "api_operation", "register_blueprint", "route",
)
_GATEWAYS = (["scope", "receive", "send"], ["environ", "start_response"])


class Refused(Exception):
    """The file is not served, and no version of it that was loaded before."""


def refuse(module, tree, functions):
    """Raises `Refused` if the module makes an application or a router, or one of its functions is written for one."""
    for name, value in vars(module).items():
        if _declares(value):
            raise Refused(_WHY.format(f"`{name}` is an application or a router of `{_framework(type(value))}`"))
        if _is_gateway(value, module):
            raise Refused(_WHY.format(f"`{name}` is an application of ASGI or WSGI"))
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", []):
            if _declares(_receiver(decorator, module)):
                raise Refused(_WHY.format(f"`{node.name}` is a route of an application"))
        name = _class_of_application(node)
        if name is not None:
            raise Refused(_WHY.format(f"line {node.lineno} has `{name}`, which makes an application"))
    for name, function in functions:
        asked = _asked_of_framework(function)
        if asked is not None:
            raise Refused(_WHY.format(f"`{name}` has the parameter `{asked}`, which only a framework fills"))


_WHY = (
    "{}. Functions are called by their names here, past an application and what it asks of callers. Write a file of "
    "functions without it, with routes in comments (`#* @get /path`), and run the application by itself"
)


def _framework(kind):
    """The framework that a class, or one that it is made of, comes from."""
    for each in inspect.getmro(kind):
        root = str(each.__module__).partition(".")[0]
        if root in _FRAMEWORKS:
            return root
    return None


def _declares(value):
    """Whether an object is an application or a router of a framework. Only its class is looked at: an object may stand
    for another, which it makes when it is asked."""
    kind = type(value)
    return _framework(kind) is not None and any(hasattr(kind, name) for name in _DECLARING)


def _is_gateway(value, module):
    """Whether a function of the module, or an object of one of its classes, takes what ASGI or WSGI give."""
    of = value if inspect.isfunction(value) else type(value)
    if inspect.isclass(value) or getattr(of, "__module__", None) != module.__name__ or not callable(value):
        return False
    call = value if inspect.isfunction(value) else of.__call__
    try:
        names = list(inspect.signature(call).parameters)
    except (TypeError, ValueError):
        return False
    return (names if inspect.isfunction(value) else names[1:]) in _GATEWAYS


def _receiver(decorator, module):
    """The object whose method a decorator is, as in `@parts.app.get("/")`."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not names or not isinstance(node, ast.Name):
        return None
    value = vars(module).get(node.id)
    for name in reversed(names[1:]):
        # What an attribute of another object is only that object can tell, by code of its own.
        value = vars(value).get(name) if inspect.ismodule(value) else None
    return value


# Classes of applications by the module that has them, of those that are used most.
_CLASSES = {
    "aiohttp.web": {"Application", "RouteTableDef"},
    "bottle": {"Bottle"},
    "fastapi": {"APIRouter", "FastAPI"},
    "flask": {"Blueprint", "Flask"},
    "litestar": {"Litestar", "Router"},
    "quart": {"Blueprint", "Quart"},
    "sanic": {"Blueprint", "Sanic"},
    "starlette.applications": {"Starlette"},
    "starlette.routing": {"Router"},
}


def _class_of_application(node):
    """The class of an application that a statement imports, or that an expression takes from its module."""
    if isinstance(node, ast.ImportFrom) and not node.level:
        names = _CLASSES.get(node.module, ())
        return next((each.name for each in node.names if each.name in names), None)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        names = _CLASSES.get("aiohttp.web" if node.value.id == "web" else node.value.id, ())
        return f"{node.value.id}.{node.attr}" if node.attr in names else None
    return None


def _asked_of_framework(function):
    """The parameter of a function whose default or annotation is what only a framework reads: `Depends(user)`."""
    try:
        parameters = inspect.signature(function).parameters
        hints = typing.get_type_hints(inspect.unwrap(function), include_extras=True)
    except Exception:  # The offer says what is wrong with them.
        return None
    for name, each in parameters.items():
        marks = [each.default, *getattr(hints.get(name), "__metadata__", ())]
        if any(_framework(type(mark)) is not None for mark in marks):
            return name
    return None
