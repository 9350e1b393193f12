//! Types of placeholders that the statement says itself: by a cast, or by a place that takes a number of rows.

use std::ops::ControlFlow;

use ahash::AHashMap;
use datafusion::sql::sqlparser::ast::{DataType, Expr, LimitClause, Query, Statement, Value, Visit, Visitor};
use salver_model::ParameterType;

/// Returns the types by the names of the placeholders, without their `$`. The first place of one decides.
pub(super) fn written_types(statement: &Statement) -> AHashMap<String, ParameterType> {
    let mut found = Found::default();
    let _ = statement.visit(&mut found);
    found.0
}

#[derive(Default)]
struct Found(AHashMap<String, ParameterType>);

impl Found {
    fn note(&mut self, expression: &Expr, kind: ParameterType) {
        if let Expr::Value(value) = expression
            && let Value::Placeholder(name) = &value.value
        {
            self.0.entry(name.trim_start_matches('$').to_owned()).or_insert(kind);
        }
    }
}

impl Visitor for Found {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let (limit, offset) = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            None => (None, None),
        };
        let fetched = query.fetch.as_ref().and_then(|fetch| fetch.quantity.as_ref());
        for rows in [limit, offset, fetched].into_iter().flatten() {
            self.note(rows, ParameterType::Integer);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if let Expr::Cast { expr, data_type, .. } = expression {
            self.note(expr, of_cast(data_type));
        }
        ControlFlow::Continue(())
    }
}

/// Returns the type in which a value for a cast is sent. Text can be cast to all that has no type of its own here.
fn of_cast(data_type: &DataType) -> ParameterType {
    match data_type {
        DataType::SmallInt(_)
        | DataType::Int(_)
        | DataType::Integer(_)
        | DataType::BigInt(_)
        | DataType::TinyInt(_)
        | DataType::Int2(_)
        | DataType::Int4(_)
        | DataType::Int8(_) => ParameterType::Integer,
        DataType::Real | DataType::Float4 | DataType::Float8 | DataType::Float(_) | DataType::DoublePrecision => {
            ParameterType::Number
        }
        DataType::Double(_) => ParameterType::Number,
        DataType::Bool | DataType::Boolean => ParameterType::Boolean,
        DataType::Date => ParameterType::Date,
        DataType::Timestamp(..) | DataType::Datetime(_) => ParameterType::Timestamp,
        _ => ParameterType::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::{ParameterType, written_types};

    #[test]
    fn casts_and_limits_say_types() {
        let text = "SELECT $1::int8, CAST($2 AS boolean), $3::date, $4::timestamp, $5::numeric, $6 + 1 \
                    FROM t WHERE a IN (SELECT b FROM u LIMIT $7) LIMIT $8 OFFSET $9";
        let found = written_types(&parse::parse_open(text).unwrap());
        let mut found: Vec<(&str, ParameterType)> = found.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        found.sort_unstable_by_key(|(name, _)| *name);
        let wanted = [
            ("1", ParameterType::Integer),
            ("2", ParameterType::Boolean),
            ("3", ParameterType::Date),
            ("4", ParameterType::Timestamp),
            ("5", ParameterType::Text),
            ("7", ParameterType::Integer),
            ("8", ParameterType::Integer),
            ("9", ParameterType::Integer),
        ];
        assert_eq!(found, wanted);
    }
}
