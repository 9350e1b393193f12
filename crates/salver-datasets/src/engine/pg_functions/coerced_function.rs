//! Functions whose arguments have one type that the engine does not find.
//!
//! Those of a list and elements compare decimals of different digits in a type that has the digits of both, dates with
//! timestamps without nanoseconds, and read texts as elements. And a text beside dates, times, booleans or bytes, as in
//! `coalesce(born, '1970-01-01')`, is one of these.

use std::sync::Arc;

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, FieldRef, TimeUnit};
use datafusion::common::Result;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

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

/// Functions whose arguments are all of one type.
const ALIKE: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];

/// Replaces the session's functions.
///
/// # Errors
/// A session that lacks one of the functions, or takes none.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let searches = SEARCHES.into_iter().map(|(name, count)| (name, Arguments::ListAnd(count)));
    for (name, arguments) in searches.chain(ALIKE.into_iter().map(|name| (name, Arguments::Alike))) {
        let inner = state.udf(name)?;
        let signature = Signature::user_defined(Volatility::Immutable);
        state.register_udf(Arc::new(ScalarUDF::new_from_impl(CoercedFunction { inner, arguments, signature })))?;
    }
    Ok(())
}

/// What arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Arguments {
    /// A list, so many elements, and others.
    ListAnd(usize),
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
        self.inner.simplify(args, info)
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
            Arguments::ListAnd(count) => in_one_type(arg_types, count),
            Arguments::Alike => beside_texts(arg_types),
        };
        if let Some(common) = common {
            return Ok(common);
        }
        let fields: Vec<FieldRef> = arg_types.iter().map(|own| Arc::new(Field::new("f", own.clone(), true))).collect();
        let coerced = fields_with_udf(&fields, &*self.inner)?;
        Ok(coerced.iter().map(|field| field.data_type().clone()).collect())
    }
}

/// Returns the type of dates, times, booleans or bytes among texts, for all; `None` for other arguments.
fn beside_texts(types: &[DataType]) -> Option<Vec<DataType>> {
    let mut others = types.iter().filter(|own| !own.is_string() && !own.is_null());
    let first = others.next()?;
    let is_read = matches!(first, DataType::Boolean) || first.is_temporal() || first.is_binary();
    let has_texts = types.iter().any(DataType::is_string);
    (is_read && has_texts && others.all(|other| other == first)).then(|| vec![first.clone(); types.len()])
}

/// Returns the types of the arguments with one for the list's elements and those beside it; `None` if they have one, or
/// the engine finds it.
fn in_one_type(types: &[DataType], count: usize) -> Option<Vec<DataType>> {
    let (DataType::List(item), behind) = types.split_first()? else { return None };
    let elements = behind.get(..count)?;
    let all = || elements.iter().chain([item.data_type()]).filter(|own| !own.is_null());
    if all().all(|own| own == item.data_type()) {
        return None;
    }
    let common = if all().any(DataType::is_decimal) && !all().any(DataType::is_string) {
        holding(&all().map(digits).collect::<Option<Vec<_>>>()?)?
    } else if elements.iter().any(DataType::is_string) && !item.data_type().is_string() && !item.data_type().is_nested()
    {
        // A text is an element of the list.
        item.data_type().clone()
    } else {
        of_times(&all().collect::<Vec<_>>())?
    };
    let list = DataType::List(Arc::new(item.as_ref().clone().with_data_type(common.clone())));
    let elements = std::iter::repeat_n(common, count);
    Some([list].into_iter().chain(elements).chain(behind[count..].iter().cloned()).collect())
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

    use super::{beside_texts, in_one_type};

    #[test]
    fn texts_are_of_the_type_beside() {
        let (date, text) = (DataType::Date32, DataType::Utf8);
        assert_eq!(beside_texts(&[date.clone(), DataType::Null, text.clone()]), Some(vec![date.clone(); 3]));
        assert_eq!(beside_texts(&[text.clone(), DataType::Boolean]), Some(vec![DataType::Boolean; 2]));
        assert_eq!(beside_texts(&[date.clone(), date.clone()]), None);
        assert_eq!(beside_texts(&[date, DataType::Boolean, text.clone()]), None);
        assert_eq!(beside_texts(&[text, DataType::Int64]), None);
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
