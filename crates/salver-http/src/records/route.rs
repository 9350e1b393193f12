//! The paths of the records doors, below `/api`.

use percent_encoding::percent_decode_str;
use salver_model::limits::CHANGES_MAX;
use salver_model::records::{DatabaseSchema, RecordKey};
use salver_model::{Code, Error, Result};

use super::account::Step;
use crate::segment::segment;

/// What a path names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target<'p> {
    /// `/records`: several tables at once.
    Records,
    /// `/records/{table}`
    Table(String),
    /// `/records/{table}/{id}`; the keys are told apart once the table is known.
    Row(String, &'p str),
    /// `/geojson/{table}`
    Map(String),
    /// `/geojson/{table}/{id}`
    MapRow(String, &'p str),
    /// `/columns`
    Schema,
    /// `/columns/{table}`
    SchemaTable(String),
    /// `/columns/{table}/{column}`
    SchemaColumn(String, String),
    /// `/openapi`
    Openapi,
    /// `/cache/clear`
    ClearCache,
    /// `/status/ping`
    Ping,
    /// `/login` and its like.
    Account(Step),
}

/// The first segments that belong to the records doors.
const FIRST: [&str; 11] =
    ["records", "geojson", "columns", "openapi", "cache", "status", "login", "logout", "register", "password", "me"];

/// The part of `path` below `/api`, when it belongs to the records doors.
pub(crate) fn below_api(path: &str) -> Option<&str> {
    let below = path.strip_prefix("/api")?;
    let first = below.strip_prefix('/')?.split('/').next()?;
    FIRST.contains(&first).then_some(below)
}

impl<'p> Target<'p> {
    /// What `path` names.
    pub(super) fn of(path: &'p str) -> Option<Self> {
        let trimmed = path.strip_suffix('/').unwrap_or(path);
        let mut segments = trimmed.strip_prefix('/')?.split('/');
        let (first, second, third) = (segments.next()?, segments.next(), segments.next());
        if segments.next().is_some() || second == Some("") || third == Some("") {
            return None;
        }
        Some(match (first, second, third) {
            ("records", None, _) => Self::Records,
            ("records", Some(table), None) => Self::Table(segment(table)),
            ("records", Some(table), Some(id)) => Self::Row(segment(table), id),
            ("geojson", Some(table), None) => Self::Map(segment(table)),
            ("geojson", Some(table), Some(id)) => Self::MapRow(segment(table), id),
            ("columns", None, _) => Self::Schema,
            ("columns", Some(table), None) => Self::SchemaTable(segment(table)),
            ("columns", Some(table), Some(column)) => Self::SchemaColumn(segment(table), segment(column)),
            ("openapi", None, _) => Self::Openapi,
            ("cache", Some("clear"), None) => Self::ClearCache,
            ("status", Some("ping"), None) => Self::Ping,
            ("login", None, _) => Self::Account(Step::Login),
            ("logout", None, _) => Self::Account(Step::Logout),
            ("register", None, _) => Self::Account(Step::Register),
            ("password", None, _) => Self::Account(Step::Password),
            ("me", None, _) => Self::Account(Step::Me),
            _ => return None,
        })
    }
}

/// The keys in a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// One for each record.
    pub(super) keys: Vec<RecordKey>,
    /// As they stood there.
    pub(super) text: String,
    /// Whether there is a comma, so that the answer is an array.
    pub(super) many: bool,
}

impl Keys {
    /// Reads `id`, a segment as it came. Keys stand apart by commas; the parts of a key of several columns by `~`, and
    /// a `~` inside such a part is written `%7E`.
    ///
    /// # Errors
    /// `InvalidRequest` when there are too many.
    pub(super) fn read(id: &str, schema: &DatabaseSchema, table: &str) -> Result<Self> {
        let is_composite = schema.table(table).is_some_and(|table| table.key.len() > 1);
        let text = segment(id);
        let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let single = id.replace("%2C", ",").replace("%2c", ",");
        if single.split(',').nth(CHANGES_MAX).is_some() {
            return Err(Error::new(Code::InvalidRequest, format!("the path names more than {CHANGES_MAX} keys"))
                .with_hint("send several requests; a list takes many keys in `filter=id,in,...`"));
        }
        let keys: Vec<RecordKey> = single
            .split(',')
            .map(|key| if is_composite { key.split('~').map(decode).collect() } else { vec![decode(key)] })
            .collect();
        let many = text.contains(',');
        Ok(Self { keys, text, many })
    }
}

#[cfg(test)]
mod tests {
    use salver_model::records::DatabaseSchema;

    use super::{Keys, Target, below_api};

    #[test]
    fn paths() {
        assert_eq!(below_api("/api/records/a"), Some("/records/a"));
        assert_eq!(below_api("/api/recordsets"), None);
        assert_eq!(Target::of("/records/a%20b/1,2/"), Some(Target::Row("a b".into(), "1,2")));
        assert_eq!(Target::of("/columns"), Some(Target::Schema));
        assert_eq!(Target::of("/status/ping/"), Some(Target::Ping));
        for none in ["/records/a/b/c", "/records//1", "/cache", "/openapi/x", "/status", "/records/a//"] {
            assert_eq!(Target::of(none), None, "{none}");
        }
    }

    #[test]
    fn keys() {
        let schema = DatabaseSchema::default();
        let keys = Keys::read("1,a%2Cb~c", &schema, "t").unwrap();
        assert_eq!(keys.keys, [vec!["1".to_owned()], vec!["a".to_owned()], vec!["b~c".to_owned()]]);
        assert_eq!((keys.text.as_str(), keys.many), ("1,a,b~c", true));
        assert_eq!(Keys::read(&"1,".repeat(9_999), &schema, "t").unwrap().keys.len(), 10_000);
        assert!(Keys::read(&"1,".repeat(10_000), &schema, "t").is_err());
    }
}
