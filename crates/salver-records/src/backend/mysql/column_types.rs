//! Maps types of MySQL and MariaDB to column kinds.

use salver_model::records::ColumnKind;

/// Returns the kind of a column whose type is called `base`, in full `native`, like `int` and `int(10) unsigned`.
pub(super) fn kind(base: &str, native: &str) -> ColumnKind {
    let base = base.to_ascii_lowercase();
    let native = native.to_ascii_lowercase();
    match base.as_str() {
        "tinyint" if native == "tinyint(1)" => ColumnKind::Boolean,
        "bit" if native == "bit(1)" => ColumnKind::Boolean,
        "bit" if native.trim_start_matches("bit(").trim_end_matches(')').parse().is_ok_and(|bits: u32| bits < 32) => {
            ColumnKind::Integer
        }
        "int" | "integer" if native.contains("unsigned") => ColumnKind::BigInt,
        "tinyint" | "smallint" | "mediumint" | "int" | "integer" | "year" => ColumnKind::Integer,
        "bigint" | "bit" => ColumnKind::BigInt,
        "float" => ColumnKind::Float,
        "double" | "real" => ColumnKind::Double,
        "decimal" | "numeric" => ColumnKind::Decimal,
        "char" | "varchar" | "enum" | "set" | "inet4" | "inet6" => ColumnKind::Varchar,
        "json" => ColumnKind::Json,
        "uuid" => ColumnKind::Uuid,
        "date" => ColumnKind::Date,
        "time" => ColumnKind::Time,
        "datetime" | "timestamp" => ColumnKind::Timestamp,
        "binary" | "varbinary" => ColumnKind::Varbinary,
        "tinyblob" | "blob" | "mediumblob" | "longblob" | "vector" => ColumnKind::Blob,
        "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon"
        | "geometrycollection" | "geomcollection" => ColumnKind::Geometry,
        _ => ColumnKind::Clob,
    }
}

/// Parses the labels of `enum('a','it''s')`, or the members of `set(...)`.
pub(super) fn words(native: &str) -> Vec<String> {
    let list = native.strip_prefix("enum(").or_else(|| native.strip_prefix("set("));
    let Some(list) = list.and_then(|rest| rest.strip_suffix(')')) else {
        return Vec::new();
    };
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if quoted && chars.peek() == Some(&'\'') => {
                chars.next();
                word.push('\'');
            }
            '\'' if quoted => {
                quoted = false;
                words.push(std::mem::take(&mut word));
            }
            '\'' => quoted = true,
            _ if quoted => word.push(c),
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use salver_model::records::ColumnKind;

    use super::{kind, words};

    #[test]
    fn kinds_that_hang_on_more_than_the_name() {
        assert_eq!(kind("tinyint", "tinyint(1)"), ColumnKind::Boolean);
        assert_eq!(kind("tinyint", "tinyint(1) unsigned"), ColumnKind::Integer);
        assert_eq!(kind("bit", "bit(1)"), ColumnKind::Boolean);
        assert_eq!(kind("bit", "bit(8)"), ColumnKind::Integer);
        assert_eq!(kind("bit", "bit(64)"), ColumnKind::BigInt);
        assert_eq!(kind("int", "int(10) unsigned"), ColumnKind::BigInt);
        assert_eq!(kind("mediumint", "mediumint(8) unsigned"), ColumnKind::Integer);
        assert_eq!(kind("whatever", "whatever"), ColumnKind::Clob);
    }

    #[test]
    fn words_of_an_enumeration() {
        assert_eq!(words("enum('a','it''s','x,y)','')"), ["a", "it's", "x,y)", ""]);
        assert_eq!(words("set('a','b')"), ["a", "b"]);
        assert!(words("int(11)").is_empty());
    }
}
