"""Notes in a file of SQLite, by the request itself, as an application of Flask takes it."""

import os
import sqlite3
import tempfile

from salver import HTTPError, Response

PATH = os.path.join(tempfile.mkdtemp(prefix="notes-"), "notes.db")


def connect():
    """Not a route: nothing says that it is one."""
    connection = sqlite3.connect(PATH)
    connection.row_factory = sqlite3.Row
    return connection


with connect() as setup:
    setup.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, author TEXT)")


#* @post /notes
def add(request):
    data = request.json()
    if not isinstance(data, dict) or not data.get("text"):
        raise HTTPError(422, "a note needs a text", error="no_text", hint='send {"text": "..."}')
    with connect() as connection:
        author = request.header("X-Author", "nobody")
        added = connection.execute("INSERT INTO notes (text, author) VALUES (?, ?)", (data["text"], author))
    return Response({"id": added.lastrowid}, status=201, headers={"Location": f"/notes/{added.lastrowid}"})


#* @get /notes
def all_notes(request):
    order = request.query_values().get("order", ["id"])[0]
    if order not in ("id", "text"):
        raise HTTPError(400, "notes have no such order")
    with connect() as connection:
        return [dict(row) for row in connection.execute(f"SELECT * FROM notes ORDER BY {order}")]


#* @get /notes/<number:int>
def one_note(number):
    with connect() as connection:
        row = connection.execute("SELECT * FROM notes WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise HTTPError(404)
    return dict(row)


#* @delete /notes/<number:int>
def remove(number: int):
    with connect() as connection:
        connection.execute("DELETE FROM notes WHERE id = ?", (number,))
    return Response(status=204)
