"""Pages for browsers."""

import html
import string
from pathlib import Path

from salver import Response

PAGE = string.Template("<!doctype html><title>$title</title><h1>$title</h1>$body")


def page(title, body, status=200):
    filled = PAGE.substitute(title=html.escape(title), body=body)
    return Response(filled, status, content_type="text/html; charset=utf-8")


#* @get /hello
def hello(name="world"):
    return page(f"Hello, {name}", "<p>Welcome.")


#* @get /old
def old():
    return Response(status=301, headers={"Location": "/hello"})


#* @get /source
def source():
    return Path(__file__)


#* @get /missing
def missing():
    return page("Nothing here", "", 404)


#* @get /picture.gif
def picture():
    return Response(b"GIF89a", headers={"Content-Type": "image/gif", "Cache-Control": "max-age=60"})
