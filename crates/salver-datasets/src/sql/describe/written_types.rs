//! Types of placeholders that the statement says itself: by a cast, or by a place that takes a condition, a number of
//! rows, or another whole number.

use std::ops::ControlFlow;

use ahash::AHashMap;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, ArrayElemTypeDef, BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, LimitClause, ObjectNamePart, Query, Select, Statement, Subscript, TimezoneInfo, UnaryOperator,
    Value, Visit, Visitor,
};
use salver_model::PgParameter;
use salver_model::pg_parameter::Element;
use salver_model::pg_type::Scalar;

use super::super::pg_rewrites::is_oid;

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
        match expression {
            Expr::Nested(inner) => self.note(inner, kind),
            Expr::Value(value) => {
                if let Value::Placeholder(name) = &value.value {
                    self.0.entry(name.trim_start_matches('$').to_owned()).or_insert(kind);
                }
            }
            _ => {}
        }
    }

    /// Notes a place that takes a condition.
    fn condition(&mut self, expression: &Expr) {
        self.note(expression, PgParameter::of_scalar(Scalar::Bool));
    }

    /// Notes a place that takes a whole number.
    fn whole(&mut self, expression: &Expr) {
        self.note(expression, PgParameter::of_scalar(Scalar::Int4));
    }

    fn arguments(&mut self, function: &Function) {
        let FunctionArguments::List(list) = &function.args else { return };
        let Some(name) = function.name.0.last().and_then(ObjectNamePart::as_ident) else { return };
        let Some((_, places)) = WHOLE.iter().find(|(own, _)| name.value.eq_ignore_ascii_case(own)) else { return };
        for place in *places {
            if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))) = list.args.get(*place) {
                self.whole(argument);
            }
        }
    }
}

/// Functions with the places, from 0, of their arguments that are whole numbers.
const WHOLE: [(&str, &[usize]); 16] = [
    ("chr", &[0]),
    ("lag", &[1]),
    ("lead", &[1]),
    ("left", &[1]),
    ("lpad", &[1]),
    ("make_date", &[0, 1, 2]),
    ("nth_value", &[1]),
    ("ntile", &[0]),
    ("repeat", &[1]),
    ("right", &[1]),
    ("round", &[1]),
    ("rpad", &[1]),
    ("split_part", &[2]),
    ("substr", &[1, 2]),
    ("substring", &[1, 2]),
    ("trunc", &[1]),
];

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

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        select.selection.iter().chain(&select.having).for_each(|condition| self.condition(condition));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        match expression {
            Expr::Cast { expr, data_type, .. } => self.note(expr, of_cast(data_type)),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => self.condition(expr),
            Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                self.condition(left);
                self.condition(right);
            }
            Expr::Case { operand: None, conditions, .. } => {
                conditions.iter().for_each(|when| self.condition(&when.condition));
            }
            Expr::Function(function) => self.arguments(function),
            Expr::Substring { substring_from, substring_for, .. } => {
                substring_from.iter().chain(substring_for).for_each(|place| self.whole(place));
            }
            Expr::CompoundFieldAccess { access_chain, .. } => access_chain.iter().for_each(|access| {
                if let AccessExpr::Subscript(Subscript::Index { index }) = access {
                    self.whole(index);
                }
            }),
            _ => {}
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
        DataType::Custom(name, _) if is_oid(name) => Scalar::Oid,
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
                    $11::uuid, $12::timestamptz, $13::bytea, $14::interval, $15::time, $16::jsonb, $17::varchar[], \
                    $18::oid, $19::pg_catalog.oid[] FROM t WHERE a IN (SELECT b FROM u LIMIT $7) LIMIT $8 OFFSET $9";
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
            (18, 26),
            (19, 1028),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn places_say_types() {
        for (text, oid) in [
            ("SELECT a FROM t WHERE $1", 16),
            ("SELECT a FROM t WHERE NOT ($1)", 16),
            ("SELECT a = 1 OR $1 FROM t", 16),
            ("SELECT CASE WHEN $1 THEN a END FROM t", 16),
            ("SELECT left(a, $1) FROM t", 23),
            ("SELECT substring(a FROM $1) FROM t", 23),
            ("SELECT round(a, $1) FROM t", 23),
            ("SELECT a[$1] FROM t", 23),
        ] {
            let found = written_types(&parse::parse_open(text).unwrap());
            assert_eq!(found.get("1").map(|kind| kind.oid()), Some(oid), "{text}");
        }
        let found = written_types(&parse::parse_open("SELECT upper($1), $2 = a, CASE $3 WHEN a THEN $4 END").unwrap());
        assert!(found.is_empty());
    }
}
