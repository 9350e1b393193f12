//! Parses the keys in the path of a request for rows.

use percent_encoding::percent_decode_str;
use salver_model::limits::CHANGES_MAX;
use salver_model::ports::Database;
use salver_model::records::RecordKey;
use salver_model::{Code, Error, Result};

use crate::segment::segment;

/// The keys in a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PathKeys {
    /// One key per record.
    pub(super) keys: Vec<RecordKey>,
    /// The original text.
    pub(super) text: String,
    /// Whether the text has a comma, so that the response is an array.
    pub(super) many: bool,
}

impl PathKeys {
    /// Parses `id`, an undecoded segment, as keys of `table`. Keys are separated by commas, and the parts of a
    /// composite key by `~`; a `~` within such a part is written `%7E`.
    ///
    /// # Errors
    /// `InvalidRequest` when there are too many.
    pub(super) fn read(id: &str, database: &dyn Database, table: &str) -> Result<Self> {
        let is_composite = id.contains('~') && database.schema().table(table).is_some_and(|table| table.key.len() > 1);
        Self::parse(id, is_composite)
    }

    fn parse(id: &str, is_composite: bool) -> Result<Self> {
        if !id.contains([',', '%', '~']) {
            return Ok(Self { keys: vec![vec![id.to_owned()]], text: id.to_owned(), many: false });
        }
        let text = segment(id).into_owned();
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
    use super::PathKeys;

    #[test]
    fn keys() {
        let read = |id: &str| PathKeys::parse(id, false);
        let keys = read("1,a%2Cb~c").unwrap();
        assert_eq!(keys.keys, [vec!["1".to_owned()], vec!["a".to_owned()], vec!["b~c".to_owned()]]);
        assert_eq!((keys.text.as_str(), keys.many), ("1,a,b~c", true));
        assert_eq!(read(&"1,".repeat(9_999)).unwrap().keys.len(), 10_000);
        assert!(read(&"1,".repeat(10_000)).is_err());
        for id in ["", "7", "a b+c", "ü"] {
            assert_eq!(
                read(id).unwrap(),
                PathKeys { keys: vec![vec![id.to_owned()]], text: id.to_owned(), many: false }
            );
        }
        let composite = PathKeys::parse("a~b%7Ec,d~", true).unwrap();
        assert_eq!(composite.keys, [["a", "b~c"], ["d", ""]].map(|key| key.map(str::to_owned).to_vec()));
    }
}
