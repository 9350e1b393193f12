"""What Schemathesis can't know from the document: how some media types are written, and the values that are good where
a schema can only say that they are texts. A request that is meant to be good gets good ones: a statement, a condition
on a column that there is, a token that the server gave out. Requests that are meant to be bad go out as they are, but
for `If-Match`: no request that is made up has the state of a record, and 412 comes before what else is wrong.
"""

import json
import re
import uuid

import requests
import schemathesis


@schemathesis.serializer("application/graphql")
def graphql(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


STATEMENT = "select 1 as one"
DOCUMENT = "{ __typename }"
# Bodies of which the rows are read as they arrive.
LOADS = ("application/x-ndjson", "text/csv")
# Tables of the demo.
TABLES = ("categories", "comments", "post_tags", "posts", "tags", "users")
# Parameters of records that exclude or need others.
UNGROUPED = ("aggregate", "having", "exclude", "join", "page", "geometry", "bbox", "tile")
GROUPED = ("include", "exclude", "join", "order", "distinct", "page", "geometry", "bbox", "tile")


@schemathesis.hook
def before_call(ctx, case, kwargs):
    if case.meta is None:
        return
    query, headers = dict(case.query or {}), dict(case.headers or {})
    if headers.pop("If-Match", None) is not None:
        case.headers = headers
    # Otherwise a consumer waits as long as it may for records that don't come.
    if case.path.startswith("/consumers/") and str(query.get("timeout", "")).isdigit():
        query["timeout"] = "0"
        case.query = query
    if not case.meta.generation.mode.is_positive:
        return
    query.pop("after", None)
    if "Idempotency-Key" in headers:
        headers["Idempotency-Key"] = str(uuid.uuid4())
    for prefix, repair in REPAIRS.items():
        if case.path.startswith(prefix):
            repair(case, query, headers)
    case.query, case.headers = query, headers


def schema_of(case, path):
    """What is at a path of the document; `None` if nothing is."""
    found = case.operation.schema.raw_schema
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found


def table(case, query, headers):
    """Rows of an entry: with columns that it has, and no two parameters that exclude each other."""
    name = case.path.rpartition("/")[2]
    row = schema_of(case, ("components", "schemas", f"row.{name}", "properties"))
    column = next(iter(row or {"id": {}}))
    for word in ("columns", "sort", "group"):
        if word in query:
            query[word] = column
    if "distinct" in query:
        # Objects and arrays can't be made distinct.
        query["columns"] = column
    for word in ("or", "and", "not"):
        if word in query:
            query[word] = f"({column}.null,{column}.not_null)"
    if "page" in query:
        query.pop("offset", None)


def sql(case, query, headers):
    if case.method == "GET":
        query["q"] = STATEMENT
        if "params" in query:
            query["params"] = "[]"
    elif isinstance(case.body, dict):
        case.body = {**case.body, "sql": STATEMENT, **({"params": []} if "params" in case.body else {})}
    else:
        case.body = STATEMENT


def graphql_door(case, query, headers):
    if case.path != "/api/graphql":
        return
    if case.method == "GET":
        query["query"] = DOCUMENT
        query.pop("operationName", None)
        if "variables" in query:
            query["variables"] = "{}"
    elif isinstance(case.body, dict):
        case.body = {**case.body, "query": DOCUMENT, "operationName": None}
    else:
        case.body = DOCUMENT


def records(case, query, headers):
    """Rows of a database: conditions and keys of columns that there are, and an array where there are several keys."""
    name = case.path.split("/")[3] if case.path.count("/") > 2 else ""
    row = schema_of(case, ("components", "schemas", f"records.read-{name}", "properties")) or {"id": {}}
    column, last = next(iter(row)), list(row)[-1]
    query.pop("on_conflict", None)
    for word, value in (("include", column), ("returning", column), ("size", "5")):
        if word in query:
            query[word] = value
    if name in TABLES and "id" in (case.path_parameters or {}):
        # Several keys are answered by an array, which is told of any table only.
        case.path_parameters = {"id": "1~2" if name == "post_tags" else str(case.path_parameters["id"]).replace(",", ".")}
    for word, value in (("order", f"{column},desc"), ("filter", f"{column},ge,0")):
        if word in query:
            query[word] = [value]
    if "group" in query:
        query.update(group=column, aggregate=["count,*,n"], having=["n,gt,0"])
    for word in GROUPED if "group" in query else UNGROUPED:
        query.pop(word, None)
    if case.path == "/api/records":
        case.body = {"operations": [{"create": "tags", "record": {"name": str(uuid.uuid4())}}]}
        return
    if case.media_type in LOADS:
        headers.pop("Idempotency-Key", None)
        query.pop("returning", None)
        if "upsert" in query:
            query["upsert"] = "update"
        case.body = "{}" if case.media_type == "application/x-ndjson" else f"{column}\n"
    else:
        for word in ("keep_good", "dry_run", "bytes"):
            query.pop(word, None)
    if isinstance(case.body, dict) and name in TABLES:
        # What is not a column is passed over as in PHP-CRUD-API, but not by a request with parameters of Salver.
        is_key = case.method != "POST" and "id" not in (case.path_parameters or {})
        kept = {column for column in row if not (is_key and row[column].get("x-primary-key"))}
        case.body = {column: value for column, value in case.body.items() if column in kept}
    if case.media_type == "application/x-www-form-urlencoded" and not any(case.body):
        # A form without a field can't be told from no body.
        case.media_type, case.body = "application/json", {}
    if isinstance(case.body, list):
        bodies = [body for body in case.body if isinstance(body, dict)] or [{last: "1"}]
        case.body = bodies[0] if "id" in (case.path_parameters or {}) else bodies


def export(case, query, headers):
    """A stream of an export that is open."""
    if case.path == "/api/export/{id}/{stream}":
        opened = requests.post(f"{address(case)}/api/export", json={"entry": "rockets"}, timeout=60).json()
        case.path_parameters = {"id": opened["export"], "stream": "0"}
        query.pop("offset", None)
    if case.path == "/api/export/{id}":
        query.pop("columns", None)
        headers.pop("Range", None)
    if case.path == "/api/export" and case.method == "POST":
        body = case.body if isinstance(case.body, dict) else {}
        if "entry" in body:
            query.pop("collection", None)
            body = {**body, "entry": "rockets"}
            body.pop("columns", None)
        elif "collection" not in query:
            query["collection"] = "rockets"
        case.body = body


def address(case):
    return case.operation.base_url.rstrip("/")


def streams(case, query, headers):
    """Events that a stream takes, from places that it has, without waiting."""
    for word in ("or", "and", "not"):
        if word in query:
            query[word] = "(user.not_null)"
    for words in (query, headers):
        for word in ("from", "time", "Salver-Time"):
            # A pattern of days has those that no month has.
            if word in words and not re.fullmatch("earliest|latest|[0-9]{1,12}", str(words[word])):
                words[word] = "2026-01-31T10:20:30Z"
    if "wait" in query and case.path != "/v0/events":
        query["wait"] = "0s"
    for words, word in ((query, "partition"), (headers, "Salver-Partition")):
        if word in words:
            words[word] = "0"
    if case.path.endswith("/tail"):
        query["limit"] = 0
    if case.path.endswith("/commit"):
        case.body = {"offset": 0}
    elif case.method == "POST":
        event = {"user": "ada"}
        is_lines = case.media_type == "application/x-ndjson"
        case.body = json.dumps(event) if is_lines else [event] if isinstance(case.body, list) else event


def numbers(case, query, headers):
    """Few numbers, of a function that counts as far as it is told."""
    if "to" in query:
        query["to"] = 3
    if isinstance(case.body, dict) and case.body.get("to"):
        case.body = {**case.body, "to": 3}


def cursor(case, query, headers):
    """A statement with values for its parameters, and room for its result."""
    if not isinstance(case.body, dict) or "query" not in case.body:
        return
    options = case.body.get("options") or {}
    is_counted = bool(options.get("fullCount"))
    body = {**case.body, "query": "FOR r IN rockets RETURN r" if is_counted else STATEMENT, "bindVars": {}}
    if body.get("memoryLimit"):
        body["memoryLimit"] = max(body["memoryLimit"], 1 << 20)
    if options.get("maxRuntime"):
        body["options"] = {**options, "maxRuntime": max(options["maxRuntime"], 60)}
    case.body = body


REPAIRS = {
    "/api/tables/": table,
    "/api/sql": sql,
    "/api/graphql": graphql_door,
    "/api/records": records,
    "/api/geojson": records,
    "/api/export": export,
    "/_api/export": export,
    "/api/streams/": streams,
    "/v0/events": streams,
    "/words/numbers": numbers,
    "/api/functions/words/numbers": numbers,
    "/api/cursor": cursor,
    "/_api/cursor": cursor,
}
