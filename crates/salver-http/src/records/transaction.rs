//! `POST /api/records`: a transaction of changes to any tables of one database.
//!
//! ```json
//! {"operations": [
//!   {"create": "posts", "record": {"user_id": 1, "content": "new"}},
//!   {"create": "comments", "record": {"post_id": {"$ref": "0.id"}, "message": "first"}, "returning": ["id"]},
//!   {"update": "posts", "id": 1, "record": {"content": "old"}, "if_match": "8d3c"},
//!   {"increment": "events", "id": 1, "record": {"visitors": 1}},
//!   {"upsert": "tags", "record": {"name": "funny"}, "on": ["name"], "ignore": true},
//!   {"delete": "comments", "id": [3, 7]}
//! ]}
//! ```
//!
//! `id` is a key, or an array with one value per column of a composite key. `"$ref": "0.id"` is the column `id` of the
//! first row created by operation 0. Unknown members are errors.

use salver_model::limits::CHANGES_MAX;
use salver_model::records::{Change, ChangeKind, Field, Record};
use salver_model::{Code, Error, Result, suggest};

use super::body::unreadable;
use super::json::Reader;

/// The kinds of operations, by the member that names their table.
const KINDS: [&str; 5] = ["create", "update", "increment", "delete", "upsert"];
/// The other members of an operation.
const MEMBERS: [&str; 6] = ["record", "id", "returning", "on", "ignore", "if_match"];

/// Parses the operations of a body.
///
/// # Errors
/// `InvalidBody` when it is not JSON, `InvalidRequest` when an operation is invalid.
pub(super) fn read(body: &[u8]) -> Result<Vec<Change>> {
    let text = std::str::from_utf8(body).map_err(|_| unreadable())?;
    let mut operations = Vec::new();
    let (mut problem, mut count) = (None, 0);
    let read = Reader::whole(text, |reader| {
        reader.object(|reader, name| {
            if name != "operations" {
                problem.get_or_insert_with(|| unknown(&name, "the body", &["operations"]));
                return reader.skip().map(|_| ());
            }
            reader.array(|reader| {
                let members = reader.record()?;
                count += 1;
                // After the first error the rest is only checked to be JSON.
                if problem.is_none() {
                    match operation(members, operations.len()) {
                        Ok(change) => operations.push(change),
                        Err(error) => problem = Some(error),
                    }
                }
                (count <= CHANGES_MAX).then_some(())
            })
        })
    });
    if count > CHANGES_MAX {
        return Err(Error::new(Code::InvalidRequest, format!("there are more than {CHANGES_MAX} operations")));
    }
    match (read, problem) {
        (None, _) => Err(unreadable()),
        (_, Some(problem)) => Err(problem),
        (Some(()), None) => Ok(operations),
    }
}

/// Parses one operation.
fn operation(members: Record, index: usize) -> Result<Change> {
    let refuse = |what: String| Err(Error::new(Code::InvalidRequest, format!("operation {index} {what}")));
    let mut kinds = members.iter().filter(|(name, _)| KINDS.contains(&name.as_str()));
    let (Some((word, table)), None) = (kinds.next(), kinds.next()) else {
        return refuse(format!("must have one of {}", KINDS.join(", ")));
    };
    let Field::Text(table) = table else { return refuse(format!("has no name of a table in `{word}`")) };
    let (word, mut change) = (word.clone(), Change::new(ChangeKind::Create, table.as_str()));
    let (mut on, mut ignore) = (Vec::new(), false);
    change.strict = true;
    for (name, field) in members {
        match (name.as_str(), field) {
            ("record", Field::Json(text)) => match Reader::whole(&text, Reader::record) {
                Some(record) => change.records = vec![with_references(record, index)?],
                None => return refuse("has a `record` that is not an object".to_owned()),
            },
            ("id", field) => {
                change.keys_text = field.scalar().unwrap_or_default();
                change.keys = vec![key(&field).ok_or_else(|| no_key(index))?];
            }
            ("returning", field) => change.returning = Some(names(&field).ok_or_else(|| no_names(index, &name))?),
            ("on", field) => on = names(&field).ok_or_else(|| no_names(index, &name))?,
            ("ignore", Field::Bool(value)) => ignore = value,
            ("if_match", Field::Text(tag)) => {
                let tag = tag.trim_matches('"');
                change.if_match = Some(tag.split('-').next().unwrap_or_default().to_owned());
            }
            (name, _) if KINDS.contains(&name) => {}
            (name, _) if MEMBERS.contains(&name) => return refuse(format!("has a `{name}` that can't be read")),
            (name, _) => {
                return Err(unknown(name, &format!("operation {index}"), &[&KINDS[..], &MEMBERS[..]].concat()));
            }
        }
    }
    let (wants_key, wants_record) = match word.as_str() {
        "create" => (false, true),
        "upsert" => {
            change.kind = ChangeKind::Upsert { on, ignore };
            (false, true)
        }
        "update" => {
            change.kind = ChangeKind::Update;
            (true, true)
        }
        "increment" => {
            change.kind = ChangeKind::Increment;
            (true, true)
        }
        _ => {
            change.kind = ChangeKind::Delete;
            (true, false)
        }
    };
    if wants_key == change.keys.is_empty() {
        return refuse(format!("{} `id`", if wants_key { "needs an" } else { "can't have an" }));
    }
    if wants_record == change.records.is_empty() {
        return refuse(format!("{} `record`", if wants_record { "needs a" } else { "can't have a" }));
    }
    Ok(change)
}

/// Converts the members `{"$ref": "0.id"}` of a record to references to earlier operations.
fn with_references(record: Record, index: usize) -> Result<Record> {
    let refer = |(name, field): (String, Field)| {
        let Field::Json(text) = &field else { return Ok((name, field)) };
        let Some(reference) = reference(text) else { return Ok((name, field)) };
        let read = reference.split_once('.').and_then(|(change, column)| Some((change.parse().ok()?, column)));
        match read {
            Some((change, column)) if change < index => Ok((name, Field::Back { change, column: column.to_owned() })),
            _ => Err(Error::new(
                Code::InvalidRequest,
                format!("operation {index} refers to `{reference}`, which is no earlier one"),
            )
            .with_hint("write the number of an earlier operation, from 0, and a column, like \"0.id\"")),
        }
    };
    record.into_iter().map(refer).collect()
}

/// Returns the text of `{"$ref": "..."}`.
fn reference(text: &str) -> Option<String> {
    let mut members = Reader::whole(text, Reader::record)?;
    match (members.pop()?, members.is_empty()) {
        ((name, Field::Text(reference)), true) if name == "$ref" => Some(reference),
        _ => None,
    }
}

/// Parses a key: a value, or an array of values.
fn key(field: &Field) -> Option<Vec<String>> {
    match field {
        Field::Json(text) => items(text)?.iter().map(Field::scalar).collect(),
        field => Some(vec![field.scalar()?]),
    }
}

fn items(text: &str) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    Reader::whole(text, |reader| reader.array(|reader| reader.field().map(|field| fields.push(field))))?;
    Some(fields)
}

/// Parses names: an array of them, or a comma-separated text.
fn names(field: &Field) -> Option<Vec<String>> {
    match field {
        Field::Text(text) => Some(text.split(',').map(|name| name.trim().to_owned()).collect()),
        Field::Json(text) => items(text)?.into_iter().map(|item| item.scalar()).collect(),
        Field::Bool(true) => Some(vec!["*".to_owned()]),
        _ => None,
    }
}

fn no_key(index: usize) -> Error {
    Error::new(Code::InvalidRequest, format!("operation {index} has an `id` that is not a key"))
        .with_hint("write a value, or an array with a value for each column of the key")
}

fn no_names(index: usize, member: &str) -> Error {
    Error::new(Code::InvalidRequest, format!("operation {index} has no names of columns in `{member}`"))
        .with_hint(format!("write an array, like `\"{member}\": [\"id\"]`"))
}

fn unknown(name: &str, place: &str, known: &[&str]) -> Error {
    Error::new(Code::InvalidRequest, format!("unknown member `{name}` in {place}"))
        .with_hint_if(suggest::hint(name, known.iter().copied()))
}

#[cfg(test)]
mod tests {
    use salver_model::Code;
    use salver_model::records::{ChangeKind, Field};

    use super::read;

    #[test]
    fn operations() {
        let changes = read(
            br#"{"operations":[{"create":"posts","record":{"a":1.50}},
                {"create":"c","record":{"p":{"$ref":"0.id"},"j":{"x":1}},"returning":"*"},
                {"update":"p","id":7,"record":{"a":null},"if_match":"\"ab-cd\""},{"delete":"k","id":[1,"x"]},
                {"upsert":"t","record":{"n":"x"},"on":["n"],"ignore":true},
                {"increment":"e","id":"1","record":{"v":-1}}]}"#,
        )
        .unwrap();
        assert_eq!(changes.len(), 6);
        assert_eq!(changes[0].records[0][0].1, Field::Number("1.50".into()));
        assert_eq!(changes[1].records[0][0].1, Field::Back { change: 0, column: "id".into() });
        assert_eq!(changes[1].records[0][1].1, Field::Json("{\"x\":1}".into()));
        assert_eq!(changes[1].returning.as_deref(), Some(&["*".to_owned()][..]));
        assert_eq!(
            (changes[2].keys.as_slice(), changes[2].if_match.as_deref()),
            (&[vec!["7".to_owned()]][..], Some("ab"))
        );
        assert_eq!(changes[3].keys, [["1", "x"]]);
        assert_eq!(changes[4].kind, ChangeKind::Upsert { on: vec!["n".into()], ignore: true });
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (body, code) in [
            ("", Code::InvalidBody),
            ("[]", Code::InvalidBody),
            (r#"{"operations":[{"create":"a"}"#, Code::InvalidBody),
            (r#"{"operation":[]}"#, Code::InvalidRequest),
            (r#"{"operations":[{"create":"a"}]}"#, Code::InvalidRequest),
            (r#"{"operations":[{"create":"a","record":{},"id":1}]}"#, Code::InvalidRequest),
            (r#"{"operations":[{"delete":"a"}]}"#, Code::InvalidRequest),
            (r#"{"operations":[{"create":"a","delete":"b","record":{}}]}"#, Code::InvalidRequest),
            (r#"{"operations":[{"create":"a","record":{"x":{"$ref":"0.id"}}}]}"#, Code::InvalidRequest),
            (r#"{"operations":[{"create":"a","record":{},"what":1}]}"#, Code::InvalidRequest),
            (r#"{"operations":[{"update":"a","id":{},"record":{}}]}"#, Code::InvalidRequest),
        ] {
            assert_eq!(read(body.as_bytes()).unwrap_err().code, code, "{body}");
        }
    }
}
