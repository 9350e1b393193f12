//! Types of placeholders that the statement says itself: by a cast, or by a place that takes a number of rows.

use std::ops::ControlFlow;

use ahash::AHashMap;
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, DataType, Expr, LimitClause, Query, Statement, TimezoneInfo, Value, Visit, Visitor,
};
use salver_model::PgParameter;
use salver_model::pg_parameter::Element;
use salver_model::pg_type::Scalar;

/// Returns the types by the names of the placeholders, without their `$`. The first place of one decides.
pub(super) fn written_types(statement: &Statement) -> AHashMap<String, PgParameter> {
    let mut found = Found::default();
    let _ = statement.visit(&mut found);
    found.0
}

#[derive(Default)]
struct Found(AHashMap<String, PgParameter>);

impl Found {
    fn note(&mut self, expression: &Expr, kind: PgParameter) {
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
            self.note(rows, PgParameter::of_scalar(Scalar::Int8));
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
fn of_cast(data_type: &DataType) -> PgParameter {
    if let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = data_type {
        return PgParameter { is_array: true, ..of_cast(element) };
    }
    let scalar = match data_type {
        DataType::SmallInt(_) | DataType::TinyInt(_) | DataType::Int2(_) => Scalar::Int2,
        DataType::Int(_) | DataType::Integer(_) | DataType::Int4(_) => Scalar::Int4,
        DataType::BigInt(_) | DataType::Int8(_) => Scalar::Int8,
        DataType::Real | DataType::Float4 => Scalar::Float4,
        DataType::Float8 | DataType::Float(_) | DataType::DoublePrecision | DataType::Double(_) => Scalar::Float8,
        DataType::Numeric(_) | DataType::Decimal(_) => Scalar::Numeric,
        DataType::Bool | DataType::Boolean => Scalar::Bool,
        DataType::Bytea => Scalar::Bytea,
        DataType::Date => Scalar::Date,
        DataType::Time(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Scalar::Time,
        DataType::Timestamp(_, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone) => Scalar::TimestampTz,
        DataType::Timestamp(..) | DataType::Datetime(_) => Scalar::Timestamp,
        DataType::Interval { .. } => Scalar::Interval,
        DataType::JSON => Scalar::Json,
        DataType::JSONB => return PgParameter { element: Element::Jsonb, is_array: false },
        DataType::Uuid => return PgParameter { element: Element::Uuid, is_array: false },
        _ => Scalar::Text,
    };
    PgParameter::of_scalar(scalar)
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::written_types;

    #[test]
    fn casts_and_limits_say_types() {
        let text = "SELECT $1::int8, CAST($2 AS boolean), $3::date, $4::timestamp, $5::numeric, $6 + 1, $10::int4[], \
                    $11::uuid, $12::timestamptz, $13::bytea, $14::interval, $15::time, $16::jsonb, $17::varchar[] \
                    FROM t WHERE a IN (SELECT b FROM u LIMIT $7) LIMIT $8 OFFSET $9";
        let found = written_types(&parse::parse_open(text).unwrap());
        let mut found: Vec<(u32, u32)> = found.iter().map(|(name, kind)| (name.parse().unwrap(), kind.oid())).collect();
        found.sort_unstable();
        let wanted = [
            (1, 20),
            (2, 16),
            (3, 1082),
            (4, 1114),
            (5, 1700),
            (7, 20),
            (8, 20),
            (9, 20),
            (10, 1007),
            (11, 2950),
            (12, 1184),
            (13, 17),
            (14, 1186),
            (15, 1083),
            (16, 3802),
            (17, 1009),
        ];
        assert_eq!(found, wanted);
    }
}
