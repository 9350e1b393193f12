//! The type that values of several types have in common, as for the results of a `case` or the columns of a union.
//!
//! The rules are those of PostgreSQL (chapter 10.5, "UNION, CASE, and Related Constructs"), where the engine has
//! others: it takes nanoseconds for a date beside a timestamp, which end in 2262, drops the zone, and widens a `real`
//! beside a decimal.

use arrow::datatypes::{DataType, TimeUnit};

/// Returns the common type; `None` where they are of one type, where the engine finds the same, or where there is none.
pub(super) fn of(types: &[DataType]) -> Option<DataType> {
    let known: Vec<&DataType> = types.iter().filter(|own| !own.is_null()).collect();
    let first = known.first()?;
    if known.iter().all(|other| other == first) {
        return None;
    }
    moments(&known).or_else(|| numbers(&known)).or_else(|| lists(&known))
}

/// Arrays have elements of the common type.
fn lists(known: &[&DataType]) -> Option<DataType> {
    let item = |own: &&DataType| match own {
        DataType::List(item) => Some(item.data_type().clone()),
        _ => None,
    };
    let items = known.iter().map(item).collect::<Option<Vec<_>>>()?;
    of(&items).map(|item| DataType::new_list(item, true))
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
    use arrow::datatypes::{DataType, TimeUnit};

    use super::of;

    #[test]
    fn the_type_holds_all() {
        use DataType::{Date32, Decimal128, Float32, Float64, Int32, Int64, Null, Timestamp, Utf8};
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
            (vec![Date32, Utf8], None),
            (vec![Float32, Utf8], None),
            (vec![Null], None),
        ] {
            assert_eq!(of(&types), wanted, "{types:?}");
        }
    }
}
