"""What files of functions may import from Salver: `from salver import HTTPError, Request, Response, Upload`."""

import io
import json
import re
from http import HTTPStatus
from urllib.parse import parse_qs

__all__ = ["HTTPError", "Request", "Response", "Upload"]

_KNOWN = frozenset(HTTPStatus)


class Response:
    """An answer with its own status, header fields or media type.

    The body may be whatever a function may return. Text is `text/plain` and bytes are `application/octet-stream` unless
    `content_type` says otherwise, and both go out as they are; all else is written as if the function had returned it.
    `headers` are a dictionary or pairs; a list of values, or a name that comes twice, is a field for each.
    """

    def __init__(self, body=None, status=200, headers=None, content_type=None):
        self.body = body
        self.status = _status(status)
        self.headers = _headers(headers)
        self.content_type = content_type


class HTTPError(Exception):
    """Raised in a function, it is answered with its status and its message, in the shape of all of Salver's errors."""

    def __init__(self, status, message=None, error=None, hint=None, headers=None):
        self.status = _status(status)
        phrase = HTTPStatus(self.status).phrase if self.status in _KNOWN else "Error"
        self.message = phrase if message is None else str(message)
        self.error = error or re.sub("[^a-z]+", "_", phrase.lower().replace("'", ""))
        self.hint = None if hint is None else str(hint)
        self.headers = _headers(headers)
        super().__init__(self.status, self.message)

    def __str__(self):
        return f"{self.status} {self.message}"


class Request:
    """The request a function was called by. A parameter named `request`, or with this type, gets it.

    It has `method` (in capitals), `path` (as it came, not decoded), `query` (what stood behind `?`, as it came),
    `headers` (names in lower case to values; those of one name joined by a comma), `body` (bytes), `address` (the
    caller's; empty when none is known) and `args` (the named arguments the server read from path, query and body).
    """

    def __init__(self, call, arguments):
        self._call = call
        self.args = arguments

    def __getattr__(self, name):
        # Taken from the call only when asked for: most functions look at one or two.
        if name not in ("method", "path", "query", "headers", "body", "address"):
            raise AttributeError(f"a request has no attribute {name!r}")
        value = getattr(self._call, name)
        setattr(self, name, value)
        return value

    def header(self, name, default=None):
        """The value of a header field, whatever the case of its name."""
        return self.headers.get(name.lower(), default)

    def query_values(self):
        """The query's names, each to the list of its values."""
        return parse_qs(self.query, keep_blank_values=True)

    def text(self):
        """The body as text."""
        try:
            return str(self.body, "utf-8")
        except UnicodeDecodeError as error:
            raise HTTPError(400, f"the body is not UTF-8 text: {error.reason} at byte {error.start}", "invalid_body")

    def json(self):
        """The body read as JSON."""
        try:
            return json.loads(self.text())
        except ValueError as error:
            raise HTTPError(400, f"the body is not JSON: {error}", "invalid_body") from None


class Upload:
    """A file that came in a form (`multipart/form-data`). A parameter with this type gets it; one with the type `bytes`
    gets its content.

    It has `filename` (as the client says; `None`: it says none), `content_type`, `content` (bytes), and `file`, from
    which it can be read like a file.
    """

    def __init__(self, content, filename=None, content_type=None):
        self.content, self.filename, self.content_type = content, filename, content_type
        self.file = io.BytesIO(content)

    @property
    def size(self):
        """How many bytes it has."""
        return len(self.content)

    def read(self, size=-1):
        """The next bytes of its content, by default all that are left."""
        return self.file.read(size)

    def text(self):
        """The content as text."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise HTTPError(400, f"the file is not UTF-8 text: {error.reason} at byte {error.start}", "invalid_body")

    def __repr__(self):
        return f"<Upload {self.filename!r}, {self.size} bytes>"


def _headers(headers):
    """Header fields by their names; the values of one that comes twice are in a list."""
    found = {}
    for name, value in headers.items() if hasattr(headers, "items") else headers or ():
        if name in found:
            before = found[name] if isinstance(found[name], list) else [found[name]]
            value = [*before, *(value if isinstance(value, list) else [value])]
        found[name] = value
    return found


def _status(status):
    if not 200 <= int(status) <= 599:
        raise ValueError(f"{status} is not the status of an answer")
    return int(status)
