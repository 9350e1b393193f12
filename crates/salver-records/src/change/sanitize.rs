//! Sanitizes values before they are validated: trims white space, rounds numbers, formats dates in any common notation,
//! strips HTML tags. Only where the entry configures it.

use std::borrow::Cow;

use salver_model::records::{ColumnInfo, ColumnKind, Field, TableInfo};
use salver_model::spec::{DatabaseSpec, matches_pattern};

use super::context::means;
use super::convert::truth;
use super::decimal::Decimal;
use super::{html_tags, loose_moment};

/// The sanitizer of one table's values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sanitizer<'a> {
    spec: &'a DatabaseSpec,
    table: &'a TableInfo,
    typed: bool,
}

impl<'a> Sanitizer<'a> {
    /// Returns `None` when values of this table are not sanitized.
    pub(crate) fn of(spec: &'a DatabaseSpec, table: &'a TableInfo) -> Option<Self> {
        let typed = spec.sanitize.iter().any(|pattern| matches_pattern(pattern, &table.name));
        (typed || !spec.strip_tags.is_empty()).then_some(Self { spec, table, typed })
    }

    /// Sanitizes one value.
    pub(crate) fn clean(&self, column: &ColumnInfo, field: &mut Cow<'_, Field>) {
        if let Field::Text(text) = &**field
            && text.contains('<')
            && self.spec.strip_tags.iter().any(|pattern| means(pattern, &self.table.name, &column.name))
        {
            *field = Cow::Owned(Field::Text(html_tags::strip(text)));
        }
        if self.typed
            && let Some(cleaned) = cleaned(column, field)
        {
            *field = Cow::Owned(cleaned);
        }
    }
}

/// Returns the value in its column's form; `None` when it stays unchanged, for the checks to judge.
fn cleaned(column: &ColumnInfo, field: &Field) -> Option<Field> {
    let scale = || column.scale.unwrap_or(0) as usize;
    match field {
        Field::Number(text) => match column.kind {
            ColumnKind::Integer | ColumnKind::BigInt => Some(Field::Number(Decimal::parse(text)?.rounded(0))),
            ColumnKind::Decimal => Some(Field::Text(Decimal::parse(text)?.rounded(scale()))),
            ColumnKind::Boolean => truth(text).map(Field::Bool),
            _ => None,
        },
        Field::Text(text) => {
            let trimmed = text.trim();
            match column.kind {
                ColumnKind::Integer | ColumnKind::BigInt => {
                    trimmed.parse::<i64>().ok().map(|_| Field::Number(trimmed.to_owned()))
                }
                ColumnKind::Decimal => Some(Field::Text(Decimal::parse(trimmed)?.rounded(scale()))),
                ColumnKind::Float | ColumnKind::Double => {
                    Decimal::parse(trimmed).map(|_| Field::Number(trimmed.to_owned()))
                }
                ColumnKind::Boolean => truth(trimmed).map(Field::Bool),
                ColumnKind::Date => loose_moment::read(trimmed).map(|(date, _)| Field::Text(date)),
                ColumnKind::Time => loose_moment::clock(trimmed).map(Field::Text),
                ColumnKind::Timestamp => {
                    loose_moment::read(trimmed).map(|(date, clock)| Field::Text(format!("{date} {clock}")))
                }
                ColumnKind::Varbinary | ColumnKind::Blob => {
                    Some(Field::Text(trimmed.replace('-', "+").replace('_', "/")))
                }
                ColumnKind::Geometry => Some(Field::Text(trimmed.to_owned())),
                ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Json | ColumnKind::Uuid => None,
            }
        }
        Field::Null | Field::Bool(_) | Field::Json(_) | Field::Back { .. } => None,
    }
}
