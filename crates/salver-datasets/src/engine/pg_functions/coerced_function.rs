//! Functions whose arguments have one type that the engine does not find.
//!
//! Those of a list and elements compare decimals of different digits in a type that has the digits of both, dates with
//! timestamps without nanoseconds, and read texts as elements. And a text beside dates, times, booleans or bytes, as in
//! `coalesce(born, '1970-01-01')`, is one of these.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, FieldRef, IntervalUnit, TimeUnit,
};
use datafusion::common::Result;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::functions_nested::concat::{array_append_udf, array_prepend_udf};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::{common_type, list_items};

/// The functions, with the number of elements behind the list.
const SEARCHES: [(&str, usize); 10] = [
    ("array_append", 1),
    ("array_has", 1),
    ("array_position", 1),
    ("array_positions", 1),
    ("array_remove", 1),
    ("array_remove_all", 1),
    ("array_remove_n", 1),
    ("array_replace", 2),
    ("array_replace_all", 2),
    ("array_replace_n", 2),
];

/// Returns the places of the list and of its elements among the arguments of a function.
pub(in crate::engine) fn list_and_elements(name: &str) -> Option<(usize, Range<usize>)> {
    if name == "array_prepend" {
        return Some((1, 0..1));
    }
    SEARCHES.iter().find(|(own, _)| *own == name).map(|(_, count)| (0, 1..1 + count))
}

/// Functions whose arguments are all of one type.
const ALIKE: [&str; 5] = ["coalesce", "greatest", "least", "make_array", "nullif"];

/// Replaces the session's functions.
///
/// # Errors
/// A session that lacks one of the functions, or takes none.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let searches = SEARCHES.into_iter().map(|(name, count)| (name, Arguments::ListAnd(count)));
    let alike = ALIKE.into_iter().map(|name| (name, Arguments::Alike));
    for (name, arguments) in searches.chain(alike).chain([("array_prepend", Arguments::ElementAndList)]) {
        let inner = state.udf(name)?;
        state.register_udf(CoercedFunction::around(inner, arguments).into())?;
    }
    Ok(())
}

/// Returns `array_append`, which is also an operator.
pub(in crate::engine) fn array_append() -> ScalarUDF {
    CoercedFunction::around(array_append_udf(), Arguments::ListAnd(1))
}

/// Returns `array_prepend`, which is also an operator.
pub(in crate::engine) fn array_prepend() -> ScalarUDF {
    CoercedFunction::around(array_prepend_udf(), Arguments::ElementAndList)
}

/// What arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Arguments {
    /// A list, so many elements, and others.
    ListAnd(usize),
    /// An element and a list.
    ElementAndList,
    /// Values of one type.
    Alike,
}

/// Such a function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::engine) struct CoercedFunction {
    inner: Arc<ScalarUDF>,
    arguments: Arguments,
    signature: Signature,
}

impl CoercedFunction {
    fn around(inner: Arc<ScalarUDF>, arguments: Arguments) -> ScalarUDF {
        let signature = Signature::user_defined(Volatility::Immutable);
        ScalarUDF::new_from_impl(Self { inner, arguments, signature })
    }
}

impl ScalarUDFImpl for CoercedFunction {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        Ok(match self.inner.simplify(args, info)? {
            // `x = any(array[...])` is `x in (...)`.
            ExprSimplifyResult::Simplified(Expr::InList(mut list)) => {
                list_items::in_each_row(&mut list.list);
                ExprSimplifyResult::Simplified(Expr::InList(list))
            }
            other => other,
        })
    }

    fn is_strict(&self) -> bool {
        self.inner.is_strict()
    }

    fn short_circuits(&self) -> bool {
        self.inner.short_circuits()
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.conditional_arguments(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.inner.invoke_with_args(args)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let common = match self.arguments {
            Arguments::ListAnd(count) => in_one_type(arg_types, count).map(|types| match types.get(1) {
                // `x = any(list)` compares a `real` with any other number in double precision.
                Some(DataType::Float32) if self.inner.name() == "array_has" => {
                    with_elements(&types, DataType::Float64, count)
                }
                _ => types,
            }),
            Arguments::ElementAndList => match arg_types {
                [element, list] => in_one_type(&[list.clone(), element.clone()], 1).map(|mut types| {
                    types.reverse();
                    types
                }),
                _ => None,
            },
            Arguments::Alike => of_all(arg_types),
        };
        if let Some(common) = common {
            return Ok(common);
        }
        let fields: Vec<FieldRef> = arg_types.iter().map(|own| Arc::new(Field::new("f", own.clone(), true))).collect();
        let coerced = fields_with_udf(&fields, &*self.inner)?;
        Ok(coerced.iter().map(|field| field.data_type().clone()).collect())
    }
}

/// Returns the type of all arguments, and that of what stands among texts; `None` where the engine finds it.
fn of_all(types: &[DataType]) -> Option<Vec<DataType>> {
    let others: Vec<DataType> = types.iter().filter(|own| !own.is_string() && !own.is_null()).cloned().collect();
    let first = others.first()?;
    let is_read = matches!(first, DataType::Boolean) || first.is_temporal() || first.is_binary() || first.is_list();
    // The difference of two times beside a quoted interval is one.
    if matches!(first, DataType::Duration(_)) && types.iter().any(DataType::is_string) {
        return Some(vec![DataType::Interval(IntervalUnit::MonthDayNano); types.len()]);
    }
    let of_one = || (is_read && others.iter().all(|other| other == first)).then(|| first.clone());
    let to = common_type::of(&others).or_else(of_one)?;
    types.iter().any(|own| *own != to).then(|| vec![to; types.len()])
}

/// Returns the types of the arguments with one for the list's elements and those beside it; `None` if they have one, or
/// the engine finds it.
fn in_one_type(types: &[DataType], count: usize) -> Option<Vec<DataType>> {
    let (DataType::List(item), behind) = types.split_first()? else { return None };
    let elements = behind.get(..count)?;
    let all = || elements.iter().chain([item.data_type()]).filter(|own| !own.is_null());
    if all().all(|own| own == item.data_type()) {
        // The engine does not find the type of a null among bytes.
        let has_null = elements.iter().any(DataType::is_null) && item.data_type().is_binary();
        return has_null.then(|| with_elements(types, item.data_type().clone(), count));
    }
    let common = if all().any(DataType::is_floating) && !all().any(DataType::is_string) {
        common_type::of(&all().cloned().collect::<Vec<_>>())?
    } else if all().any(DataType::is_decimal) && !all().any(DataType::is_string) {
        holding_digits(&all().collect::<Vec<_>>())?
    } else if elements.iter().any(DataType::is_string) && !item.data_type().is_string() && !item.data_type().is_nested()
    {
        // A text is an element of the list.
        item.data_type().clone()
    } else {
        of_times(&all().collect::<Vec<_>>())?
    };
    Some(with_elements(types, common, count))
}

/// Returns the types of a list, so many elements, and what is behind, with this type for the elements.
fn with_elements(types: &[DataType], element: DataType, count: usize) -> Vec<DataType> {
    let list = match types.first() {
        Some(DataType::List(item)) => DataType::List(Arc::new(item.as_ref().clone().with_data_type(element.clone()))),
        _ => DataType::new_list(element.clone(), true),
    };
    let behind = types.iter().skip(1 + count).cloned();
    [list].into_iter().chain(std::iter::repeat_n(element, count)).chain(behind).collect()
}

/// Returns the type that has the digits of decimals and whole numbers; `None` for other types, or if there is none.
pub(in crate::engine) fn holding_digits(types: &[&DataType]) -> Option<DataType> {
    holding(&types.iter().map(|own| digits(own)).collect::<Option<Vec<_>>>()?)
}

/// Returns the type that holds dates and timestamps of one unit, or times of day of different ones.
fn of_times(all: &[&DataType]) -> Option<DataType> {
    let is_time = |own: &&DataType| matches!(own, DataType::Time32(_) | DataType::Time64(_));
    if all.iter().all(is_time) {
        return Some(DataType::Time64(TimeUnit::Nanosecond));
    }
    let mut moments = all.iter().filter(|own| !matches!(own, DataType::Date32));
    let first =
        moments.next().filter(|own| matches!(own, DataType::Timestamp(unit, _) if *unit != TimeUnit::Nanosecond))?;
    moments.all(|other| other == first).then(|| DataType::clone(first))
}

/// Returns the digits before and behind the point that numbers of a type have; `None` for other types.
fn digits(own: &DataType) -> Option<(u8, u8)> {
    Some(match own {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            let scale = u8::try_from(*scale).ok()?;
            (precision.saturating_sub(scale), scale)
        }
        own if own.is_integer() => (20, 0),
        _ => return None,
    })
}

/// Returns the type that holds so many digits; `None` if there is none.
fn holding(all: &[(u8, u8)]) -> Option<DataType> {
    let whole = all.iter().map(|(whole, _)| *whole).max()?;
    let scale = all.iter().map(|(_, scale)| *scale).max()?;
    let precision = whole.checked_add(scale)?;
    let signed = i8::try_from(scale).ok()?;
    if precision <= DECIMAL128_MAX_PRECISION {
        return Some(DataType::Decimal128(precision.max(1), signed));
    }
    (precision <= DECIMAL256_MAX_PRECISION).then_some(DataType::Decimal256(precision, signed))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::{DataType, Field, TimeUnit};

    use super::{in_one_type, of_all};

    #[test]
    fn texts_are_of_the_type_beside() {
        let (date, text) = (DataType::Date32, DataType::Utf8);
        assert_eq!(of_all(&[date.clone(), DataType::Null, text.clone()]), Some(vec![date.clone(); 3]));
        assert_eq!(of_all(&[text.clone(), DataType::Boolean]), Some(vec![DataType::Boolean; 2]));
        assert_eq!(of_all(&[DataType::Null, DataType::Binary]), Some(vec![DataType::Binary; 2]));
        assert_eq!(of_all(&[date.clone(), date.clone()]), None);
        assert_eq!(of_all(&[date, DataType::Boolean, text.clone()]), None);
        assert_eq!(of_all(&[text, DataType::Int64]), None);
    }

    #[test]
    fn decimals_have_the_digits_of_all() {
        let list = |item| DataType::List(Arc::new(Field::new("item", item, true)));
        let (short, long) = (DataType::Decimal128(3, 2), DataType::Decimal128(30, 20));
        let both = DataType::Decimal128(30, 20);
        assert_eq!(in_one_type(&[list(short.clone()), long.clone()], 1), Some(vec![list(both.clone()), both]));
        let wide = DataType::Decimal256(58, 20);
        let found = in_one_type(&[list(long.clone()), DataType::Decimal128(38, 0), DataType::Int64], 1);
        assert_eq!(found, Some(vec![list(wide.clone()), wide, DataType::Int64]));
        assert_eq!(in_one_type(&[list(short.clone()), short.clone()], 1), None);
        assert_eq!(in_one_type(&[list(DataType::Int64), DataType::Int32], 1), None);
        assert_eq!(
            in_one_type(&[list(short.clone()), DataType::Utf8], 1),
            Some(vec![list(short.clone()), short.clone()])
        );
        let moment = DataType::Timestamp(TimeUnit::Microsecond, None);
        let found = in_one_type(&[list(DataType::Date32), moment.clone()], 1);
        assert_eq!(found, Some(vec![list(moment.clone()), moment]));
        let times = |unit| DataType::Time64(unit);
        let found = in_one_type(&[list(times(TimeUnit::Microsecond)), times(TimeUnit::Nanosecond)], 1);
        assert_eq!(found, Some(vec![list(times(TimeUnit::Nanosecond)), times(TimeUnit::Nanosecond)]));
        assert_eq!(in_one_type(&[list(DataType::Utf8), DataType::Int64], 1), None);
        assert_eq!(in_one_type(&[list(short)], 1), None);
    }
}
