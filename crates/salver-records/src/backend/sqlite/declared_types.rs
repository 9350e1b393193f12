//! Maps declared types of SQLite to column kinds. SQLite accepts any words as a type and stores any value in any
//! column; the declaration is what a client may expect.

use salver_model::records::ColumnKind;

/// A declared type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) kind: ColumnKind,
    pub(super) length: Option<u32>,
    pub(super) precision: Option<u32>,
    pub(super) scale: Option<u32>,
}

/// Parses a declared type, like `VARCHAR(255)`, `decimal(10, 2)` or `INT UNSIGNED`.
pub(super) fn declared(native: &str) -> Declared {
    let lower = native.to_ascii_lowercase();
    let (before, rest) = lower.split_once('(').unwrap_or((&lower, ""));
    let (numbers, after) = rest.split_once(')').unwrap_or((rest, ""));
    let mut numbers = numbers.split(',').map(|number| number.trim().parse::<u32>().ok());
    let (first, second) = (numbers.next().flatten(), numbers.next().flatten());
    let words: Vec<&str> = before.split_whitespace().chain(after.split_whitespace()).collect();
    let kind = kind_of(&words.join(" "), first);
    let bounded = matches!(kind, ColumnKind::Varchar | ColumnKind::Varbinary);
    let decimal = kind == ColumnKind::Decimal;
    Declared {
        kind,
        length: first.filter(|_| bounded),
        precision: first.filter(|_| decimal),
        // The scale of a decimal is 0 unless declared.
        scale: if decimal { second.or(first.map(|_| 0)) } else { None },
    }
}

fn kind_of(words: &str, first: Option<u32>) -> ColumnKind {
    match words.trim_end_matches(" unsigned") {
        "tinyint" | "bit" if first == Some(1) => ColumnKind::Boolean,
        "boolean" | "bool" | "bit" => ColumnKind::Boolean,
        "bigint" | "int8" | "bigserial" | "unsigned big int" => ColumnKind::BigInt,
        "float" | "real" | "float4" => ColumnKind::Float,
        // A view's computed number is declared `NUM`, which says nothing about digits.
        "double" | "double precision" | "float8" | "num" => ColumnKind::Double,
        "decimal" | "numeric" | "money" => ColumnKind::Decimal,
        "date" => ColumnKind::Date,
        "varchar" | "char" | "character" | "nchar" | "nvarchar" | "native character" | "varying character"
        | "character varying" | "enum" => ColumnKind::Varchar,
        "binary" | "varbinary" => ColumnKind::Varbinary,
        "json" | "jsonb" => ColumnKind::Json,
        "uuid" | "guid" | "uniqueidentifier" => ColumnKind::Uuid,
        "geometry" | "geography" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring"
        | "multipolygon" | "geometrycollection" => ColumnKind::Geometry,
        "year" => ColumnKind::Integer,
        words if words.starts_with("timestamp") || words.starts_with("datetime") => ColumnKind::Timestamp,
        words if words.starts_with("time") => ColumnKind::Time,
        words => by_affinity(words),
    }
}

/// Returns the kind by SQLite's own affinity rules, for words that are not listed.
fn by_affinity(words: &str) -> ColumnKind {
    let has = |part: &str| words.contains(part);
    if has("int") || has("serial") {
        ColumnKind::Integer
    } else if has("char") || has("clob") || has("text") {
        ColumnKind::Clob
    } else if has("blob") || has("binary") || words == "bytea" || words == "image" {
        ColumnKind::Blob
    } else if has("real") || has("floa") || has("doub") {
        ColumnKind::Double
    } else {
        ColumnKind::Clob
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(native: &str) -> (ColumnKind, Option<u32>, Option<u32>, Option<u32>) {
        let said = declared(native);
        (said.kind, said.length, said.precision, said.scale)
    }

    #[test]
    fn declared_types_are_read() {
        let plain = [
            ("INTEGER", ColumnKind::Integer),
            ("int", ColumnKind::Integer),
            ("INT(11) UNSIGNED", ColumnKind::Integer),
            ("smallint", ColumnKind::Integer),
            ("bigint", ColumnKind::BigInt),
            ("BIGINT UNSIGNED", ColumnKind::BigInt),
            ("boolean", ColumnKind::Boolean),
            ("tinyint(1)", ColumnKind::Boolean),
            ("tinyint(4)", ColumnKind::Integer),
            ("text", ColumnKind::Clob),
            ("LONGTEXT", ColumnKind::Clob),
            ("clob", ColumnKind::Clob),
            ("", ColumnKind::Clob),
            ("whatever", ColumnKind::Clob),
            ("blob", ColumnKind::Blob),
            ("bytea", ColumnKind::Blob),
            ("real", ColumnKind::Float),
            ("double precision", ColumnKind::Double),
            ("date", ColumnKind::Date),
            ("time", ColumnKind::Time),
            ("datetime", ColumnKind::Timestamp),
            ("timestamp with time zone", ColumnKind::Timestamp),
            ("timestamp(6) without time zone", ColumnKind::Timestamp),
            ("json", ColumnKind::Json),
            ("uuid", ColumnKind::Uuid),
            ("geometry", ColumnKind::Geometry),
        ];
        for (native, kind) in plain {
            assert_eq!(all(native), (kind, None, None, None), "{native}");
        }
        assert_eq!(all("VARCHAR(255)"), (ColumnKind::Varchar, Some(255), None, None));
        assert_eq!(all("character varying (36)"), (ColumnKind::Varchar, Some(36), None, None));
        assert_eq!(all("varbinary(16)"), (ColumnKind::Varbinary, Some(16), None, None));
        assert_eq!(all("decimal(10, 2)"), (ColumnKind::Decimal, None, Some(10), Some(2)));
        assert_eq!(all("numeric(8)"), (ColumnKind::Decimal, None, Some(8), Some(0)));
        assert_eq!(all("numeric"), (ColumnKind::Decimal, None, None, None));
    }
}
