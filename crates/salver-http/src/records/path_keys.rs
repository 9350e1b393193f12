//! Parses the keys in the path of a request for rows.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use salver_model::limits::CHANGES_MAX;
use salver_model::ports::Database;
use salver_model::records::RecordKey;
use salver_model::{Code, Error, Result};

use crate::segment::segment;

/// The keys in a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PathKeys<'p> {
    /// One key per record.
    pub(super) keys: Vec<RecordKey>,
    /// Whether the text has a comma, so that the response is an array.
    pub(super) many: bool,
    /// The undecoded segment.
    id: &'p str,
}

impl<'p> PathKeys<'p> {
    /// Parses `id`, an undecoded segment, as keys of `table`. Keys are separated by commas, and the parts of a
    /// composite key by `~`; a `~` within such a part is written `%7E`.
    ///
    /// # Errors
    /// `InvalidRequest` when there are too many.
    pub(super) fn read(id: &'p str, database: &dyn Database, table: &str) -> Result<Self> {
        let is_composite = id.contains('~') && database.schema().table(table).is_some_and(|table| table.key.len() > 1);
        Self::parse(id, is_composite)
    }

    /// Returns the original text, decoded.
    pub(super) fn text(&self) -> Cow<'p, str> {
        segment(self.id)
    }

    fn parse(id: &'p str, is_composite: bool) -> Result<Self> {
        if !id.contains([',', '%', '~']) {
            return Ok(Self { keys: vec![vec![id.to_owned()]], many: false, id });
        }
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
        Ok(Self { keys, many: single.contains(','), id })
    }
}

#[cfg(test)]
mod tests {
    use salver_model::Result;

    use super::PathKeys;

    #[test]
    fn keys() {
        fn read(id: &str) -> Result<PathKeys<'_>> {
            PathKeys::parse(id, false)
        }
        let keys = read("1,a%2Cb~c").unwrap();
        assert_eq!(keys.keys, [vec!["1".to_owned()], vec!["a".to_owned()], vec!["b~c".to_owned()]]);
        assert_eq!((&*keys.text(), keys.many), ("1,a,b~c", true));
        assert_eq!(read(&"1,".repeat(9_999)).unwrap().keys.len(), 10_000);
        assert!(read(&"1,".repeat(10_000)).is_err());
        for id in ["", "7", "a b+c", "ü"] {
            assert_eq!(read(id).unwrap(), PathKeys { keys: vec![vec![id.to_owned()]], many: false, id });
            assert_eq!(read(id).unwrap().text(), id);
        }
        let composite = PathKeys::parse("a~b%7Ec,d~", true).unwrap();
        assert_eq!(composite.keys, [["a", "b~c"], ["d", ""]].map(|key| key.map(str::to_owned).to_vec()));
    }
}
