//! The views of `information_schema` that tell of entries, in PostgreSQL's words
//! (`src/backend/catalog/information_schema.sql` in its sources).

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringArray};
use salver_model::EntryKind;
use salver_model::pg_type::{PgType, Scalar};
use salver_model::ports::Table;

use super::filled_table::Columns;
use super::pg_types;
use super::relations::Relations;
use crate::engine::{CATALOG, SCHEMA};

/// Most bytes of a text, as PostgreSQL says it.
const TEXT_BYTES: i32 = 1 << 30;

/// Returns the number of rows of a view, and its known columns. Those that have nothing to tell of are empty.
pub(super) fn rows(view: &str, relations: &Relations) -> (usize, Columns) {
    match view {
        "tables" => tables(relations),
        "columns" => columns(relations),
        "views" => views(relations),
        "schemata" => schemata(),
        "information_schema_catalog_name" => (1, Columns::from([("catalog_name", same(CATALOG, 1))])),
        "enabled_roles" => (1, Columns::from([("role_name", same(OWNER, 1))])),
        _ => (0, Columns::new()),
    }
}

/// Name of the role that everything belongs to.
const OWNER: &str = "salver";

fn is_view(table: &Arc<dyn Table>) -> bool {
    table.describe().kind == EntryKind::View
}

fn tables(relations: &Relations) -> (usize, Columns) {
    let names: Vec<&str> = relations.tables().map(|(name, _)| name).collect();
    let kinds = relations.tables().map(|(_, table)| if is_view(table) { "VIEW" } else { "BASE TABLE" });
    let count = names.len();
    let columns = Columns::from([
        ("table_catalog", same(CATALOG, count)),
        ("table_schema", same(SCHEMA, count)),
        ("table_type", texts(kinds)),
        ("table_name", texts(names)),
        ("is_insertable_into", same("NO", count)),
        ("is_typed", same("NO", count)),
    ]);
    (count, columns)
}

fn views(relations: &Relations) -> (usize, Columns) {
    let names: Vec<&str> = relations.tables().filter(|(_, table)| is_view(table)).map(|(name, _)| name).collect();
    let count = names.len();
    let mut columns = Columns::from([
        ("table_catalog", same(CATALOG, count)),
        ("table_schema", same(SCHEMA, count)),
        ("table_name", texts(names)),
        ("check_option", same("NONE", count)),
    ]);
    for question in [
        "is_updatable",
        "is_insertable_into",
        "is_trigger_updatable",
        "is_trigger_deletable",
        "is_trigger_insertable_into",
    ] {
        columns.insert(question, same("NO", count));
    }
    (count, columns)
}

fn schemata() -> (usize, Columns) {
    let names = ["information_schema", "pg_catalog", SCHEMA];
    let columns = Columns::from([
        ("catalog_name", same(CATALOG, names.len())),
        ("schema_name", texts(names)),
        ("schema_owner", same(OWNER, names.len())),
    ]);
    (names.len(), columns)
}

fn columns(relations: &Relations) -> (usize, Columns) {
    let (mut of, mut names, mut places, mut nullable) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut types = Vec::new();
    for (table, about) in relations.tables().map(|(name, table)| (name, table.describe())) {
        for (field, place) in about.schema.fields().iter().zip(1_i32..) {
            of.push(table);
            names.push(field.name().as_str());
            places.push(place);
            nullable.push(if field.is_nullable() { "YES" } else { "NO" });
            types.push(PgType::of(field.data_type()));
        }
    }
    let count = names.len();
    let digits: Vec<Digits> = types.iter().map(Digits::of).collect();
    let catalog_row = |own: &PgType| pg_types::all().iter().find(|row| u32::try_from(row.oid) == Ok(own.oid));
    let words = |own: &PgType| match catalog_row(own) {
        _ if own.is_array => "ARRAY",
        Some(row) => row.sql_name,
        None => "USER-DEFINED",
    };
    let octets = types.iter().map(|own| (own.scalar == Scalar::Text && !own.is_array).then_some(TEXT_BYTES));
    let identifiers: Vec<String> = places.iter().map(ToString::to_string).collect();
    let mut columns = Columns::from([
        ("table_catalog", same(CATALOG, count)),
        ("table_schema", same(SCHEMA, count)),
        ("table_name", texts(of)),
        ("column_name", texts(names)),
        ("is_nullable", texts(nullable)),
        ("data_type", texts(types.iter().map(words))),
        ("character_octet_length", numbers(octets)),
        ("numeric_precision", numbers(digits.iter().map(|own| own.precision))),
        ("numeric_precision_radix", numbers(digits.iter().map(|own| own.radix))),
        ("numeric_scale", numbers(digits.iter().map(|own| own.scale))),
        ("datetime_precision", numbers(digits.iter().map(|own| own.of_second))),
        ("udt_catalog", same(CATALOG, count)),
        ("udt_schema", same("pg_catalog", count)),
        ("udt_name", texts(types.iter().map(|own| catalog_row(own).map_or("text", |row| row.name)))),
        ("dtd_identifier", texts(identifiers.iter().map(String::as_str))),
        ("is_generated", same("NEVER", count)),
    ]);
    columns.insert("ordinal_position", Arc::new(Int32Array::from(places)));
    for question in ["is_self_referencing", "is_identity", "identity_cycle", "is_updatable"] {
        columns.insert(question, same("NO", count));
    }
    (count, columns)
}

/// How exact the values of a type are; nothing of arrays.
#[derive(Debug, Default, PartialEq, Eq)]
struct Digits {
    precision: Option<i32>,
    radix: Option<i32>,
    scale: Option<i32>,
    /// Digits behind the point of seconds.
    of_second: Option<i32>,
}

impl Digits {
    fn of(own: &PgType) -> Self {
        let binary = |precision: i32, scale: Option<i32>| Self {
            precision: Some(precision),
            radix: Some(2),
            scale,
            of_second: None,
        };
        let times = |digits: i32| Self { of_second: Some(digits), ..Self::default() };
        if own.is_array {
            return Self::default();
        }
        match own.scalar {
            Scalar::Int2 => binary(16, Some(0)),
            Scalar::Int4 => binary(32, Some(0)),
            Scalar::Int8 => binary(64, Some(0)),
            Scalar::Float4 => binary(24, None),
            Scalar::Float8 => binary(53, None),
            Scalar::Numeric => {
                let said = own.modifier.checked_sub(4).filter(|said| *said >= 0);
                let (precision, scale) = (said.map(|said| said >> 16), said.map(|said| said & 0xffff));
                Self { precision, radix: Some(10), scale, of_second: None }
            }
            Scalar::Date => times(0),
            Scalar::Time | Scalar::Timestamp | Scalar::TimestampTz | Scalar::Interval => times(6),
            Scalar::Bool | Scalar::Text | Scalar::Bytea | Scalar::Json | Scalar::Oid => Self::default(),
        }
    }
}

fn same(text: &str, count: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, count)))
}

fn texts<'t>(values: impl IntoIterator<Item = &'t str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn numbers(values: impl IntoIterator<Item = Option<i32>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Int32Array>())
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, TimeUnit};

    use super::{Digits, PgType};

    /// What PostgreSQL 15 says of columns of these types.
    #[test]
    fn types_have_their_digits() {
        for (data_type, precision, radix, scale, of_second) in [
            (DataType::Int16, Some(16), Some(2), Some(0), None),
            (DataType::Float32, Some(24), Some(2), None, None),
            (DataType::UInt64, None, Some(10), None, None),
            (DataType::Decimal128(12, 2), Some(12), Some(10), Some(2), None),
            (DataType::Utf8, None, None, None, None),
            (DataType::Date32, None, None, None, Some(0)),
            (DataType::Timestamp(TimeUnit::Second, None), None, None, None, Some(6)),
            (DataType::new_list(DataType::Int32, true), None, None, None, None),
        ] {
            let wanted = Digits { precision, radix, scale, of_second };
            assert_eq!(Digits::of(&PgType::of(&data_type)), wanted, "{data_type}");
        }
    }
}
