//! The type that values of several types have in common, as for the results of a `case` or the columns of a union.
//!
//! The rules are those of PostgreSQL (chapter 10.5, "UNION, CASE, and Related Constructs"), where the engine has
//! others: it takes nanoseconds for a date beside a timestamp, which end in 2262, drops the zone, and widens a `real`
//! beside a decimal.

use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use datafusion::logical_expr::type_coercion::binary::type_union_resolution;

/// Returns the common type, also where the engine finds it; `None` where they are of one type, or where there is none.
pub(super) fn resolved(types: &[DataType]) -> Option<DataType> {
    of(types).or_else(|| {
        let first = types.iter().find(|own| !own.is_null())?;
        if types.iter().all(|own| own == first) {
            return None;
        }
        if types.iter().all(|own| own.is_numeric() || own.is_null()) {
            return type_union_resolution(types);
        }
        let known = || types.iter().filter(|own| !own.is_null());
        if known().all(|own| own == first) {
            return Some(first.clone());
        }
        resolved(&items(known())?).map(|item| DataType::new_list(item, true))
    })
}

/// Returns the common type; `None` where they are of one type, where the engine finds the same, or where there is none.
pub(super) fn of(types: &[DataType]) -> Option<DataType> {
    let known: Vec<&DataType> = types.iter().filter(|own| !own.is_null()).collect();
    let first = known.first()?;
    if known.iter().all(|other| other == first) {
        return None;
    }
    moments(&known)
        .or_else(|| clocks(&known))
        .or_else(|| spans(&known))
        .or_else(|| numbers(&known))
        .or_else(|| lists(&known))
}

/// Arrays have elements of the common type.
fn lists(known: &[&DataType]) -> Option<DataType> {
    of(&items(known.iter().copied())?).map(|item| DataType::new_list(item, true))
}

/// Returns the types of the elements; `None` unless all are arrays.
fn items<'t>(lists: impl Iterator<Item = &'t DataType>) -> Option<Vec<DataType>> {
    let item = |own: &DataType| match own {
        DataType::List(item) => Some(item.data_type().clone()),
        _ => None,
    };
    lists.map(item).collect()
}

/// Dates and timestamps are timestamps, with a zone if one of them has one.
fn moments(known: &[&DataType]) -> Option<DataType> {
    let (mut unit, mut zone) = (TimeUnit::Microsecond, None);
    for own in known {
        match own {
            DataType::Date32 => {}
            DataType::Timestamp(own, of) => {
                unit = unit.max(*own);
                zone = zone.or_else(|| of.clone());
            }
            _ => return None,
        }
    }
    Some(DataType::Timestamp(unit, zone))
}

/// Times of day have the finest unit of all.
fn clocks(known: &[&DataType]) -> Option<DataType> {
    let units = known.iter().map(|own| match own {
        DataType::Time32(unit) | DataType::Time64(unit) => Some(*unit),
        _ => None,
    });
    let finest = units.collect::<Option<Vec<_>>>()?.into_iter().max()?;
    Some(DataType::Time64(finest.max(TimeUnit::Microsecond)))
}

/// The difference of two times beside an interval is one.
fn spans(known: &[&DataType]) -> Option<DataType> {
    let is_span = |own: &&DataType| matches!(own, DataType::Interval(_) | DataType::Duration(_));
    let has_interval = known.iter().any(|own| matches!(own, DataType::Interval(_)));
    (has_interval && known.iter().all(is_span)).then_some(DataType::Interval(IntervalUnit::MonthDayNano))
}

/// A `real` beside decimals and whole numbers is a `real`, and beside a `double precision` that.
fn numbers(known: &[&DataType]) -> Option<DataType> {
    let is_number = |own: &&DataType| own.is_integer() || own.is_decimal() || own.is_floating();
    if !known.iter().all(is_number) {
        return None;
    }
    match known.iter().any(|own| **own == DataType::Float64) {
        true => Some(DataType::Float64),
        false => known.iter().any(|own| own.is_floating()).then_some(DataType::Float32),
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};

    use super::{of, resolved};

    #[test]
    fn the_type_holds_all() {
        use DataType::{
            Date32, Decimal128, Duration, Float32, Float64, Int32, Int64, Interval, Null, Time32, Time64, Timestamp,
            Utf8,
        };
        use IntervalUnit::{DayTime, MonthDayNano};
        use TimeUnit::{Microsecond, Nanosecond, Second};
        let utc = || Some("UTC".into());
        let decimal = || Decimal128(3, 1);
        for (types, wanted) in [
            (vec![Date32, Timestamp(Second, None)], Some(Timestamp(Microsecond, None))),
            (vec![Timestamp(Nanosecond, None), Null, Date32], Some(Timestamp(Nanosecond, None))),
            (vec![Date32, Timestamp(Microsecond, utc())], Some(Timestamp(Microsecond, utc()))),
            (vec![Timestamp(Microsecond, None), Timestamp(Microsecond, utc())], Some(Timestamp(Microsecond, utc()))),
            (vec![Float32, decimal()], Some(Float32)),
            (vec![decimal(), Float32, Int64], Some(Float32)),
            (vec![decimal(), Float64, Float32], Some(Float64)),
            (vec![Float32, Int64], Some(Float32)),
            (vec![decimal(), Int64], None),
            (vec![Int32, Int64], None),
            (vec![Date32, Date32, Null], None),
            (
                vec![DataType::new_list(Float32, true), DataType::new_list(decimal(), true)],
                Some(DataType::new_list(Float32, true)),
            ),
            (vec![Time32(Second), Time64(Nanosecond)], Some(Time64(Nanosecond))),
            (vec![Duration(Second), Interval(DayTime)], Some(Interval(MonthDayNano))),
            (vec![Duration(Second), Duration(Nanosecond)], None),
            (vec![Date32, Utf8], None),
            (vec![Float32, Utf8], None),
            (vec![Null], None),
        ] {
            assert_eq!(of(&types), wanted, "{types:?}");
        }
    }

    #[test]
    fn numbers_of_all_kinds() {
        use DataType::{Decimal128, Float32, Int32, Int64, Null, Utf8};
        let list = |item| DataType::new_list(item, true);
        for (types, wanted) in [
            (vec![Int32, Int64], Some(Int64)),
            (vec![Decimal128(12, 2), Decimal128(4, 3)], Some(Decimal128(13, 3))),
            (vec![Null, Int32], Some(Int32)),
            (vec![Float32, Decimal128(3, 1)], Some(Float32)),
            (vec![list(Int32), list(Decimal128(3, 1))], Some(list(Decimal128(11, 1)))),
            (vec![list(Int32), Int32], None),
            (vec![Int32, Int32], None),
            (vec![Null, Null], None),
            (vec![Int32, Utf8], None),
            (vec![Null, Utf8], Some(Utf8)),
        ] {
            assert_eq!(resolved(&types), wanted, "{types:?}");
        }
    }
}
