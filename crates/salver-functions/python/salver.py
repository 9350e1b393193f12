"""What files of functions may import from Salver: `from salver import HTTPError, Request, Response`."""

import json
from http import HTTPStatus
from urllib.parse import parse_qs

__all__ = ["HTTPError", "Request", "Response"]


class Response:
    """An answer with its own status, header fields or media type.

    The body may be whatever a function may return. Text is `text/plain` and bytes are `application/octet-stream` unless
    `content_type` says otherwise, and both go out as they are; all else is written as if the function had returned it.
    """

    def __init__(self, body=None, status=200, headers=None, content_type=None):
        self.body = body
        self.status = int(status)
        self.headers = dict(headers or {})
        self.content_type = content_type


class HTTPError(Exception):
    """Raised in a function, it is answered with its status and its message, in the shape of all of Salver's errors."""

    def __init__(self, status, message=None, error=None, hint=None, headers=None):
        self.status = int(status)
        try:
            phrase = HTTPStatus(self.status).phrase
        except ValueError:
            phrase = "Error"
        self.message = phrase if message is None else str(message)
        self.error = error or phrase.lower().replace(" ", "_").replace("-", "_").replace("'", "")
        self.hint = hint
        self.headers = dict(headers or {})
        super().__init__(self.status, self.message)

    def __str__(self):
        return f"{self.status} {self.message}"


class Request:
    """The request a function was called by. A parameter named `request`, or with this type, gets it."""

    def __init__(self, method, path, query, headers, body, address, arguments):
        #: The method, in capitals.
        self.method = method
        #: The path as it came, not decoded.
        self.path = path
        #: What stood behind `?`, as it came.
        self.query = query
        #: Header fields: names in lower case to values; those of one name joined by a comma.
        self.headers = headers
        #: The body's bytes.
        self.body = body
        #: The caller's address; empty when none is known.
        self.address = address
        #: The named arguments the server read from path, query and body.
        self.args = arguments

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
