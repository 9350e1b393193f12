//! Comparisons of times with texts, with dates, and with times of other units: all are cast to the finer unit. The
//! engine would truncate to the coarser one, so that `at = '10:00:00.5'` held for 10:00:00, and would cast texts and
//! dates to nanoseconds, which end in 2262.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, cast};

use super::{TypeOf, has_columns, kept, operands};

fn is_coarse(data_type: &DataType) -> bool {
    use DataType::{Time32, Time64, Timestamp};
    use TimeUnit::{Microsecond, Millisecond, Second};
    matches!(data_type, Timestamp(Second | Millisecond, _) | Time32(_) | Time64(Microsecond))
}

/// Returns the type to which times beside a value of this type are cast; `None` if the engine's coercion is correct.
fn beside(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Timestamp(TimeUnit::Nanosecond, _) => None,
        DataType::Timestamp(_, zone) => Some(DataType::Timestamp(TimeUnit::Microsecond, zone.clone())),
        DataType::Time32(_) | DataType::Time64(_) => Some(DataType::Time64(TimeUnit::Nanosecond)),
        _ => None,
    }
}

/// Returns the type to which the texts and the times of coarser units are cast, if one of the expressions is a time and
/// their types differ.
fn wanted(parts: &[&Expr], type_of: TypeOf<'_>) -> Option<DataType> {
    let types: Vec<DataType> = parts.iter().map(|part| type_of(part)).collect::<Option<_>>()?;
    let has_text = types.iter().any(DataType::is_string);
    let is_time = |own: &&DataType| matches!(own, DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_));
    let mut times = types.iter().filter(is_time);
    let first = times.next()?;
    let unit = |own: &DataType| match own {
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => Some(*unit),
        _ => None,
    };
    let have_units = times.any(|other| unit(other) != unit(first));
    let has_date = types.iter().any(|own| matches!(own, DataType::Date32));
    // A date is its midnight in any unit.
    if has_date && !has_text && !have_units {
        let is_exact = matches!(first, DataType::Timestamp(unit, _) if *unit != TimeUnit::Nanosecond);
        return is_exact.then(|| first.clone());
    }
    let differ = types.iter().any(is_coarse) && have_units;
    (has_text || differ).then(|| types.iter().find_map(beside))?
}

/// Rewrites a comparison to cast its texts to times.
pub(super) fn compared(expr: Expr, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let stamped = |part: Expr, to: &DataType| match (type_of(&part), to) {
        (Some(own), to) if own.is_string() => cast(part, to.clone()),
        (Some(DataType::Date32), DataType::Timestamp(..)) => cast(part, to.clone()),
        // Each side keeps its zone. The engine would move the cast to the other side, and truncate that.
        (Some(DataType::Timestamp(unit, zone)), DataType::Timestamp(finer, _)) if unit != *finer => {
            fine(part, DataType::Timestamp(*finer, zone))
        }
        (Some(own @ (DataType::Time32(_) | DataType::Time64(_))), to @ DataType::Time64(_)) if own != *to => {
            fine(part, to.clone())
        }
        _ => part,
    };
    match wanted(&operands::of(&expr), type_of) {
        Some(to) => Transformed::yes(operands::each(expr, &|part| stamped(part, &to))),
        None => Transformed::no(expr),
    }
}

fn fine(expr: Expr, to: DataType) -> Expr {
    let is_column = has_columns(&expr);
    let cast = cast(expr, to);
    if is_column { kept(cast) } else { cast }
}
