//! The relations of the system catalog with their columns.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// Relations by name.
static RELATIONS: LazyLock<BTreeMap<&str, SchemaRef>> =
    LazyLock::new(|| parsed(include_str!("relations.txt")).collect());

/// Views of `information_schema` by name.
static INFORMATION: LazyLock<BTreeMap<&str, SchemaRef>> =
    LazyLock::new(|| parsed(include_str!("information_schema.txt")).collect());

/// Beginning of the names that views of `information_schema` have in a rewritten statement, so that one is told from
/// an entry of that name.
pub(super) const INFORMATION_PREFIX: &str = "pg_information_schema_";

/// Returns the columns of a relation; `None` if there is none of that name.
pub(super) fn columns(name: &str) -> Option<&'static SchemaRef> {
    match name.strip_prefix(INFORMATION_PREFIX) {
        Some(view) => INFORMATION.get(view),
        None => RELATIONS.get(name),
    }
}

/// Returns the names of all relations, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    RELATIONS.keys().copied()
}

/// Parses the file, in which a line that begins with a space goes on with the one before.
fn parsed(text: &'static str) -> impl Iterator<Item = (&'static str, SchemaRef)> {
    let mut relations: Vec<(&str, Vec<Field>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        if !line.starts_with(' ') {
            relations.extend(words.next().map(|name| (name, Vec::new())));
        }
        if let Some((_, fields)) = relations.last_mut() {
            fields.extend(words.filter_map(field));
        }
    }
    relations.into_iter().map(|(name, fields)| (name, Arc::new(Schema::new(fields))))
}

fn field(word: &str) -> Option<Field> {
    let (name, letter) = word.split_once(':')?;
    let list = |of| DataType::List(Arc::new(Field::new_list_field(of, true)));
    let data_type = match letter.trim_end_matches('?') {
        "i" => DataType::Int32,
        "s" => DataType::Int16,
        "l" => DataType::Int64,
        "b" => DataType::Boolean,
        "f" => DataType::Float32,
        "d" => DataType::Float64,
        "z" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        "t" => DataType::Utf8,
        "S" => list(DataType::Int16),
        "I" => list(DataType::Int32),
        "T" => list(DataType::Utf8),
        _ => return None,
    };
    Some(Field::new(name, data_type, letter.ends_with('?')))
}

#[cfg(test)]
mod tests {
    use super::{columns, names};

    #[test]
    fn relations_have_their_columns() {
        assert_eq!(names().count(), 88);
        assert_eq!(columns("pg_class").unwrap().fields().len(), 33);
        assert_eq!(columns("pg_attribute").unwrap().fields().len(), 26);
        assert!(columns("pg_index").unwrap().field_with_name("indkey").unwrap().data_type().is_nested());
        assert!(columns("people").is_none() && columns("columns").is_none());
        assert_eq!(columns("pg_information_schema_columns").unwrap().fields().len(), 44);
        assert_eq!(columns("pg_information_schema_tables").unwrap().fields().len(), 12);
        let written: usize = include_str!("relations.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split(':').count() - 1)
            .sum();
        assert_eq!(names().map(|name| columns(name).unwrap().fields().len()).sum::<usize>(), written);
    }
}
