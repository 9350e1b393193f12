//! Times beside texts: the texts become times of microseconds, which reach as far as PostgreSQL's. The engine would
//! make nanoseconds of both, which end in 2262.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, cast};

use super::is_comparison;

type TypeOf<'a> = &'a dyn Fn(&Expr) -> Option<DataType>;

/// What texts become beside values of this type; none where the engine's way is right.
fn beside(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Timestamp(TimeUnit::Nanosecond, _) => None,
        DataType::Timestamp(_, zone) => Some(DataType::Timestamp(TimeUnit::Microsecond, zone.clone())),
        _ => None,
    }
}

/// What the texts among these become: something else of them is a time.
fn wanted(parts: &[&Expr], type_of: TypeOf<'_>) -> Option<DataType> {
    let types: Vec<DataType> = parts.iter().map(|part| type_of(part)).collect::<Option<_>>()?;
    types.iter().any(DataType::is_string).then(|| types.iter().find_map(beside))?
}

/// A comparison with its texts as times.
pub(super) fn compared(expr: Expr, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let stamped = |part: Expr, to: &DataType| {
        if type_of(&part).is_some_and(|own| own.is_string()) { cast(part, to.clone()) } else { part }
    };
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(op) => {
            match wanted(&[&left, &right], type_of) {
                Some(to) => {
                    let (left, right) = (Box::new(stamped(*left, &to)), Box::new(stamped(*right, &to)));
                    Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right }))
                }
                None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
            }
        }
        Expr::Between(Between { expr, negated, low, high }) => match wanted(&[&expr, &low, &high], type_of) {
            Some(to) => {
                let [expr, low, high] = [expr, low, high].map(|part| Box::new(stamped(*part, &to)));
                Transformed::yes(Expr::Between(Between { expr, negated, low, high }))
            }
            None => Transformed::no(Expr::Between(Between { expr, negated, low, high })),
        },
        Expr::InList(InList { expr, list, negated }) => {
            match wanted(&std::iter::once(&*expr).chain(&list).collect::<Vec<_>>(), type_of) {
                Some(to) => {
                    let list = list.into_iter().map(|part| stamped(part, &to)).collect();
                    Transformed::yes(Expr::InList(InList { expr: Box::new(stamped(*expr, &to)), list, negated }))
                }
                None => Transformed::no(Expr::InList(InList { expr, list, negated })),
            }
        }
        other => Transformed::no(other),
    }
}
