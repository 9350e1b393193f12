//! Predicate pushdown: skips row groups by the minimum and maximum of each column chunk. It is conservative: a row that
//! may match is never skipped.

use std::ops::Range;

use chrono::DateTime;
use parquet::file::statistics::Statistics;
use salver_model::filter::Comparison;
use salver_model::value::Value;
use salver_model::{ColumnPath, Filter};

use super::Footer;
use crate::event::OWN_COLUMNS;
use crate::table::layout::{OFFSET, TIME};

/// Minimum and maximum of a column.
enum Bounds {
    Numbers(f64, f64),
    Texts(Vec<u8>, Vec<u8>),
}

/// Value in the form in which it is compared with bounds.
enum Bound {
    Number(f64),
    Text(Vec<u8>),
}

/// Returns whether a row of a row group may match.
pub(super) fn may_match(filter: &Filter, footer: &Footer, group: usize) -> bool {
    match filter {
        Filter::And(all) => all.iter().all(|filter| may_match(filter, footer, group)),
        Filter::Or(all) => all.iter().any(|filter| may_match(filter, footer, group)),
        Filter::Compare { column, op, value } => bounds(footer, group, column)
            .zip(bound(column, value))
            .is_none_or(|(bounds, value)| may_compare(&bounds, *op, &value)),
        Filter::In { column, values } => bounds(footer, group, column).is_none_or(|bounds| {
            values
                .iter()
                .any(|value| bound(column, value).is_none_or(|value| may_compare(&bounds, Comparison::Eq, &value)))
        }),
        Filter::Not(_) | Filter::Like { .. } | Filter::IsNull { .. } => true,
    }
}

fn may_compare(bounds: &Bounds, op: Comparison, value: &Bound) -> bool {
    match (bounds, value) {
        // Integers keep their order as floats, except that different ones may become equal, so equal bounds always
        // match.
        (Bounds::Numbers(min, max), Bound::Number(value)) => may(op, min <= value, value <= max),
        (Bounds::Texts(min, max), Bound::Text(value)) => may(op, min <= value, value <= max),
        _ => true,
    }
}

/// Compares bounds with a value. Equal bounds count as a match even for a strict comparison, which keeps a row group
/// too many at most.
fn may(op: Comparison, from_min: bool, to_max: bool) -> bool {
    match op {
        Comparison::Eq => from_min && to_max,
        Comparison::NotEq => true,
        Comparison::Lt | Comparison::LtEq => from_min,
        Comparison::Gt | Comparison::GtEq => to_max,
    }
}

fn bounds(footer: &Footer, group: usize, column: &ColumnPath) -> Option<Bounds> {
    if !column.fields.is_empty() {
        return None;
    }
    let metadata = footer.metadata.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let leaf = (0..schema.num_columns()).find(|leaf| {
        let path = schema.column(*leaf);
        let parts = path.path().parts();
        parts.len() == 1 && parts[0] == column.column
    })?;
    match metadata.row_group(group).column(leaf).statistics()? {
        Statistics::Int64(own) => Some(Bounds::Numbers(*own.min_opt()? as f64, *own.max_opt()? as f64)),
        Statistics::Double(own) => Some(Bounds::Numbers(*own.min_opt()?, *own.max_opt()?)),
        Statistics::ByteArray(own) => Some(Bounds::Texts(own.min_bytes_opt()?.to_vec(), own.max_bytes_opt()?.to_vec())),
        _ => None,
    }
}

fn bound(column: &ColumnPath, value: &Value) -> Option<Bound> {
    if column.column == OWN_COLUMNS[TIME] {
        return time_of(value).map(|ms| Bound::Number(ms as f64));
    }
    match value {
        Value::Int(value) => Some(Bound::Number(*value as f64)),
        Value::UInt(value) => Some(Bound::Number(*value as f64)),
        Value::Float(value) if value.is_finite() => Some(Bound::Number(*value)),
        Value::Text(text) => Some(Bound::Text(text.clone().into_bytes())),
        _ => None,
    }
}

/// Returns a time in milliseconds since 1970, if the value is one unambiguously.
fn time_of(value: &Value) -> Option<i64> {
    match value {
        Value::Text(text) | Value::Bare(text) => {
            DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis())
        }
        _ => None,
    }
}

/// Returns the offsets within `all` whose rows may match.
pub(in crate::table) fn offsets_of(filter: &Filter, all: Range<u64>) -> Range<u64> {
    match filter {
        Filter::And(parts) => parts.iter().fold(all, |left, part| offsets_of(part, left)),
        Filter::Compare { column, op, value } if column.column == OWN_COLUMNS[OFFSET] && column.fields.is_empty() => {
            let value = match value {
                Value::Int(value) => u64::try_from(*value).ok(),
                Value::UInt(value) => Some(*value),
                _ => None,
            };
            let Some(value) = value else { return all };
            let behind = value.saturating_add(1);
            match op {
                Comparison::Eq => all.start.max(value)..all.end.min(behind),
                Comparison::NotEq => all,
                Comparison::Lt => all.start..all.end.min(value),
                Comparison::LtEq => all.start..all.end.min(behind),
                Comparison::Gt => all.start.max(behind)..all.end,
                Comparison::GtEq => all.start.max(value)..all.end,
            }
        }
        _ => all,
    }
}
