//! Hash of a query that is independent of the page.

use std::hash::{Hash, Hasher};

use salver_model::{Filter, Query, Value, Version};

/// Returns the same number for queries that differ only in the page.
pub(crate) fn of(query: &Query) -> u64 {
    Version::of(&QueryShape(query)).0
}

struct QueryShape<'a>(&'a Query);

impl Hash for QueryShape<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.items.hash(state);
        self.0.sort.hash(state);
        if let Some(filter) = &self.0.filter {
            hash_filter(filter, state);
        }
    }
}

fn hash_filter<H: Hasher>(filter: &Filter, state: &mut H) {
    match filter {
        Filter::And(all) | Filter::Or(all) => {
            state.write_u8(u8::from(matches!(filter, Filter::Or(_))));
            state.write_usize(all.len());
            all.iter().for_each(|inner| hash_filter(inner, state));
        }
        Filter::Not(inner) => {
            state.write_u8(2);
            hash_filter(inner, state);
        }
        Filter::Compare { column, op, value } => {
            state.write_u8(3);
            column.hash(state);
            state.write_u8(*op as u8);
            hash_value(value, state);
        }
        Filter::In { column, values } => {
            state.write_u8(4);
            column.hash(state);
            state.write_usize(values.len());
            values.iter().for_each(|value| hash_value(value, state));
        }
        Filter::Like { column, pattern, ignore_case } => {
            state.write_u8(5);
            (column, pattern, ignore_case).hash(state);
        }
        Filter::IsNull { column } => {
            state.write_u8(6);
            column.hash(state);
        }
    }
}

fn hash_value<H: Hasher>(value: &Value, state: &mut H) {
    match value {
        Value::Null => state.write_u8(0),
        Value::Bool(b) => (1_u8, b).hash(state),
        Value::Int(i) => (2_u8, i).hash(state),
        Value::UInt(u) => (3_u8, u).hash(state),
        Value::Float(x) => (4_u8, x.to_bits()).hash(state),
        Value::Text(s) => (5_u8, s).hash(state),
        Value::Bare(s) => (6_u8, s).hash(state),
    }
}
