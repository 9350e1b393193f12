//! Parameters of the OpenAPI document.

use salver_model::records::Operation;
use serde_json::{Map, Value as Json, json};

/// Returns the parameters of an operation.
pub(super) fn of(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::List => &[
            "filter",
            "include",
            "exclude",
            "order",
            "size",
            "page",
            "join",
            "after",
            "group",
            "aggregate",
            "having",
            "distinct",
            "if_none_match",
        ],
        Operation::Read => &["pk", "include", "exclude", "join", "if_none_match"],
        Operation::Create => &["returning", "upsert", "on_conflict", "idempotency_key"],
        Operation::Delete | Operation::Update | Operation::Increment => {
            &["pk", "returning", "if_match", "idempotency_key"]
        }
        _ => &[],
    }
}

/// Returns the parameter for keys of several columns, of which there may be `many` in a request.
pub(super) fn composite_key(columns: usize, many: bool) -> Json {
    let one = vec!["[^,~]+"; columns].join("~");
    let pattern = if many { format!("^{one}(,{one})*$") } else { format!("^{one}$") };
    json!({
        "name": "id", "in": "path", "required": true, "schema": { "type": "string", "pattern": pattern },
        "description": "Primary key: the values of its columns with `~` between them; several keys divided by commas.",
    })
}

/// Name, description, and whether it may be repeated; those of PHP-CRUD-API first.
const QUERY: [(&str, &str, bool); 17] = [
    (
        "filter",
        "Condition `column,operator,value`; all must hold; `filter1`, `filter2` make groups of which one must.",
        true,
    ),
    ("include", "Columns to answer, divided by commas.", false),
    ("exclude", "Columns to leave out, divided by commas.", false),
    ("order", "Column to sort by, and `desc` for the largest first: `id,desc`. Repeat it for more columns.", true),
    ("size", "Most records to answer.", false),
    ("page", "Page number and size: `1,20`. The answer tells the number of all records.", false),
    ("join", "Related table to join in, or a path of them: `comments,users`. Repeat it for more.", true),
    ("after", "Page by key: empty for the first page, then `next` of the answer before.", false),
    ("group", "Columns to group by, divided by commas.", false),
    ("aggregate", "Aggregate over each group: `sum,price,total`, `count,*,n`.", true),
    ("having", "Condition on groups: `total,gt,100`.", true),
    ("distinct", "Whether equal rows become one.", false),
    ("returning", "Answer the changed rows with these columns; `*` for all.", false),
    ("upsert", "`update` or `ignore` a row with the same key that exists.", false),
    ("on_conflict", "Columns of the unique key that decides which row exists.", false),
    ("geometry", "The geometry column; the first unless said.", false),
    ("bbox", "Rectangle that the geometry must intersect: `west,south,east,north`.", false),
];

/// Returns all parameters, by the name that operations refer to.
pub(super) fn all() -> Json {
    let mut all = Map::new();
    all.insert(
        "pk".to_owned(),
        json!({
            "name": "id", "in": "path", "required": true, "schema": { "type": "string" },
            "description": "Primary key; several divided by commas; `a~b` for a key of two columns.",
        }),
    );
    let tile = ("tile", "Tile that the geometry must intersect: `zoom,column,row`.", false);
    for (name, description, repeats) in QUERY.into_iter().chain([tile]) {
        let text = json!({ "type": "string" });
        let schema = match name {
            "upsert" => json!({ "type": "string", "enum": ["update", "ignore"] }),
            "returning" | "on_conflict" => json!({ "type": "string", "minLength": 1 }),
            "distinct" => json!({ "type": "boolean" }),
            _ if repeats => json!({ "type": "array", "items": text }),
            _ => text,
        };
        let mut parameter =
            json!({ "name": name, "in": "query", "required": false, "schema": schema, "description": description });
        if name == "distinct" {
            parameter["allowEmptyValue"] = true.into();
        }
        all.insert(name.to_owned(), parameter);
    }
    for (name, header, description) in [
        ("if_none_match", "If-None-Match", "An ETag; when it still holds the answer is 304."),
        ("if_match", "If-Match", "The record's ETag; when it changed the answer is 412."),
        ("idempotency_key", "Idempotency-Key", "A name of this request; sent again it is answered, not done again."),
    ] {
        let mut schema = json!({ "type": "string" });
        if name == "idempotency_key" {
            schema["pattern"] = "^[!-~]([\\t -~]{0,253}[!-~])?$".into();
        }
        let parameter =
            json!({ "name": header, "in": "header", "required": false, "schema": schema, "description": description });
        all.insert(name.to_owned(), parameter);
    }
    Json::Object(all)
}
