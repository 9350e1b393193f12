"""Files that are sent."""

import csv
import hashlib
import io
from typing import List, Optional

from salver import HTTPError, Response, Upload


def digest(body: bytes, algorithm: str = "sha256") -> str:
    return hashlib.new(algorithm, body).hexdigest()


def columns(table: Upload, delimiter: str = ","):
    if table.content_type != "text/csv":
        raise HTTPError(415, f"{table.filename} is {table.content_type}")
    rows = list(csv.DictReader(io.StringIO(table.text()), delimiter=delimiter))
    return {"file": table.filename, "rows": len(rows), "columns": list(rows[0]) if rows else []}


def gallery(pictures: List[Upload], title: str, cover: Optional[bytes] = None):
    sizes = {picture.filename: picture.size for picture in pictures}
    return {"title": title, "sizes": sizes, "cover": cover is not None}


def echoed(request):
    return Response(request.body, content_type=request.header("content-type"))


def first_line(file: Upload) -> str:
    return file.file.readline().decode().strip()
