//! List functions as in PostgreSQL. `x = any(list)` is unknown if the value is not found and the list contains a null;
//! no list contains a null of another; an element before the first is null; and nulls can be removed from a list. The
//! engine's own functions return false and true for the first two, count from the end for the third, and return null
//! for the last.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, GenericListArray, Int64Array, OffsetSizeTrait};
use arrow::buffer::OffsetBuffer;
use arrow::compute::kernels::zip::zip;
use arrow::compute::{cast as cast_array, filter};
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::functions_nested::array_has::{ArrayHas, ArrayHasAll, ArrayHasAny};
use datafusion::functions_nested::expr_fn::array_compact;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::function_bounds;
use super::super::pg_functions::CoercedFunction;
use super::in_subquery::is_null;
use super::{TypeOf, call, float_normalization, list_order};

/// Functions that look for an element in a list: for them, all zeros are equal, and all NaN.
const ELEMENTS_SOUGHT: [&str; 7] = [
    "array_position",
    "array_positions",
    "array_remove_all",
    "array_remove_n",
    "array_replace_all",
    "array_replace_n",
    "array_replace",
];

/// Rewrites a call over lists.
pub(super) fn expression(function: ScalarFunction, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let ScalarFunction { func, mut args } = function;
    let is_changed = with_equal_floats(func.name(), &mut args, type_of);
    let is_index = |arg: &Expr| type_of(arg).as_ref().is_some_and(DataType::is_integer) && !is_positive(arg);
    match (func.name(), args.as_mut_slice()) {
        ("array_has", [_, _])
            if function_bounds::is::<ArrayHas>(&func) || function_bounds::is::<CoercedFunction>(&func) =>
        {
            Transformed::yes(call(Looked::For(ArrayHas::new()).function(), args))
        }
        ("array_has_all", [_, _]) if function_bounds::is::<ArrayHasAll>(&func) => {
            Transformed::yes(call(Looked::ForAll(ArrayHasAll::new()).function(), args))
        }
        ("array_has_any", [_, _]) if function_bounds::is::<ArrayHasAny>(&func) => {
            Transformed::yes(call(Looked::ForAny(ArrayHasAny::new()).function(), args))
        }
        ("array_remove_all", [list, item]) if is_null(item) => Transformed::yes(array_compact(std::mem::take(list))),
        ("array_remove_all", [_, item]) if !matches!(item, Expr::Literal(..)) => {
            Transformed::yes(call(ScalarUDF::new_from_impl(Removed(func)), args))
        }
        // Processors make NaN with a sign, which the engine takes for the least of all.
        ("array_max" | "array_min", [list]) if type_of(list).as_ref().is_some_and(has_floats) => {
            *list = call(float_normalization::function(), vec![std::mem::take(list)]);
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        // The engine takes a negative length for a very large one.
        ("lpad" | "rpad", [_, length, ..]) if is_index(length) => {
            *length = call(ElementPosition { least: 0, below: Below::Least }.function(), vec![std::mem::take(length)]);
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        ("greatest", [first, ..]) if type_of(first).as_ref().is_some_and(list_order::is_list) => {
            Transformed::yes(list_order::greatest(args))
        }
        ("array_element", [_, index]) if is_index(index) => {
            *index = call(ElementPosition { least: 1, below: Below::Null }.function(), vec![std::mem::take(index)]);
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        ("array_slice", [_, from, to, ..]) if is_index(from) || is_index(to) => {
            for (bound, least) in [(from, 1), (to, 0)] {
                if is_index(bound) {
                    *bound =
                        call(ElementPosition { least, below: Below::Least }.function(), vec![std::mem::take(bound)]);
                }
            }
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        _ => {
            let call = Expr::ScalarFunction(ScalarFunction { func, args });
            if is_changed { Transformed::yes(call) } else { Transformed::no(call) }
        }
    }
}

/// Makes equal floats of a list, and of elements that are sought in it, the same; returns whether there are any.
fn with_equal_floats(name: &str, args: &mut [Expr], type_of: TypeOf<'_>) -> bool {
    let Some((list, elements)) = args.split_first_mut() else { return false };
    if !ELEMENTS_SOUGHT.contains(&name) || !type_of(list).as_ref().is_some_and(has_floats) {
        return false;
    }
    let count = if name.starts_with("array_replace") { 2 } else { 1 };
    for part in std::iter::once(list).chain(elements.iter_mut().take(count).filter(|element| !is_null(element))) {
        *part = call(float_normalization::function(), vec![std::mem::take(part)]);
    }
    true
}

/// Returns whether a type is that of lists of floats.
fn has_floats(own: &DataType) -> bool {
    list_order::is_list(own) && float_normalization::holds_floats(own)
}

fn is_positive(index: &Expr) -> bool {
    matches!(index, Expr::Literal(ScalarValue::Int64(Some(1..)), _))
}

/// Returns the functions that stand for others here, of which no session knows.
#[cfg(feature = "ballista")]
pub(super) fn unnamed() -> Vec<ScalarUDF> {
    let searches = [
        Looked::For(ArrayHas::new()).function(),
        Looked::ForAll(ArrayHasAll::new()).function(),
        Looked::ForAny(ArrayHasAny::new()).function(),
    ];
    let places = [(0, Below::Least), (1, Below::Least), (1, Below::Null)];
    let places = places.into_iter().map(|(least, below)| ElementPosition { least, below }.function());
    searches.into_iter().chain(places).collect()
}

/// Position of an element, counted from 1, or a length.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ElementPosition {
    least: i64,
    below: Below,
}

/// Result for a position below the least one.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Below {
    Null,
    Least,
}

impl ElementPosition {
    fn function(self) -> ScalarUDF {
        ScalarUDF::new_from_impl(PlaceFunction { place: self, signature: Signature::any(1, Volatility::Immutable) })
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PlaceFunction {
    place: ElementPosition,
    signature: Signature,
}

impl ScalarUDFImpl for PlaceFunction {
    fn name(&self) -> &'static str {
        "place"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [given] = args.args.as_slice() else { return internal_err!("an item has one place") };
        let given = given.cast_to(&DataType::Int64, None)?;
        let ElementPosition { least, below } = &self.place;
        let place = |index: i64| match below {
            _ if index >= *least => Some(index),
            Below::Null => None,
            Below::Least => Some(*least),
        };
        Ok(match given {
            ColumnarValue::Scalar(ScalarValue::Int64(index)) => {
                ColumnarValue::Scalar(ScalarValue::Int64(index.and_then(place)))
            }
            given => {
                let indexes = given.to_array(args.number_rows)?;
                let places: Int64Array =
                    indexes.as_primitive::<Int64Type>().iter().map(|index| index.and_then(place)).collect();
                ColumnarValue::Array(Arc::new(places))
            }
        })
    }
}

/// `array_remove_all` with an element that may be null. Where it is null, the result is the list without nulls, while
/// the engine returns null.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Removed(Arc<ScalarUDF>);

impl ScalarUDFImpl for Removed {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.0.inner().return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.0.return_field_from_args(args)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.0.coerce_types(arg_types)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (rows, given) = (args.number_rows, args.args.clone());
        let [lists, sought] = given.as_slice() else { return internal_err!("an item is removed from a list") };
        let removed = self.0.invoke_with_args(args)?;
        let sought = sought.to_array(rows)?;
        let Some(known) = sought.logical_nulls().filter(|known| known.null_count() > 0) else { return Ok(removed) };
        let removed = removed.to_array(rows)?;
        let without_nulls = cast_array(&compacted(&lists.to_array(rows)?)?, removed.data_type())?;
        let is_known = BooleanArray::new(known.into_inner(), None);
        Ok(ColumnarValue::Array(zip(&is_known, &removed, &without_nulls)?))
    }
}

/// Search in a list, by our order of floats. Whether a list contains an element is unknown if it is not found and the
/// list contains a null. A list that contains nulls is never contained in another, and no null of one list matches a
/// null of another.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Looked {
    For(ArrayHas),
    ForAll(ArrayHasAll),
    ForAny(ArrayHasAny),
}

impl Looked {
    fn function(self) -> ScalarUDF {
        ScalarUDF::new_from_impl(self)
    }

    fn inner(&self) -> &dyn ScalarUDFImpl {
        match self {
            Self::For(inner) => inner,
            Self::ForAll(inner) => inner,
            Self::ForAny(inner) => inner,
        }
    }

    /// Returns the result for a row, given the engine's.
    fn known(&self, found: Option<bool>, lists: [&ArrayRef; 2], row: usize) -> Option<bool> {
        let [list, sought] = lists;
        if list.is_null(row) {
            return None;
        }
        match self {
            Self::For(_) if items(list, row).is_some_and(|items| items.is_empty()) => Some(false),
            Self::For(_) if sought.is_null(row) => None,
            Self::For(_) => found.filter(|found| *found || !has_null(list, row)),
            _ if sought.is_null(row) => None,
            Self::ForAll(_) => Some(found.unwrap_or(false) && !has_null(sought, row)),
            Self::ForAny(_) => Some(found.unwrap_or(false)),
        }
    }
}

impl ScalarUDFImpl for Looked {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn signature(&self) -> &Signature {
        self.inner().signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner().return_type(arg_types)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        // A list of constants is searched faster, and the statistics of files can be used too.
        if matches!(self, Self::For(_)) && args.first().is_some_and(is_plain) {
            self.inner().simplify(args, info)
        } else {
            Ok(ExprSimplifyResult::Original(args))
        }
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        for (number, value) in args.args.iter_mut().enumerate() {
            let array = float_normalization::one_of_each(&match value {
                ColumnarValue::Array(array) => Arc::clone(array),
                ColumnarValue::Scalar(scalar) => scalar.to_array()?,
            });
            // Without nulls in one list, no null of the other can match.
            let array = if number == 0 && matches!(self, Self::ForAny(_)) { compacted(&array)? } else { array };
            *value = match value {
                ColumnarValue::Array(_) => ColumnarValue::Array(array),
                ColumnarValue::Scalar(_) => ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?),
            };
        }
        let (rows, given) = (args.number_rows, args.args.clone());
        let [list, sought] = given.as_slice() else { return internal_err!("something is looked for in a list") };
        let is_one = given.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let found = match self.inner().invoke_with_args(args)? {
            // For an empty list the engine gives one value for all rows, without a look at which are null.
            ColumnarValue::Scalar(found) if !is_one => ColumnarValue::Array(found.to_array_of_size(rows)?),
            found => found,
        };
        match found {
            ColumnarValue::Scalar(ScalarValue::Boolean(found)) => {
                let known = self.known(found, [&list.to_array(1)?, &sought.to_array(1)?], 0);
                Ok(ColumnarValue::Scalar(ScalarValue::Boolean(known)))
            }
            ColumnarValue::Array(found) => {
                let (list, sought) = (list.to_array(rows)?, sought.to_array(rows)?);
                let found = found.as_boolean().iter().enumerate();
                let known = found.map(|(row, found)| self.known(found, [&list, &sought], row));
                Ok(ColumnarValue::Array(Arc::new(known.collect::<BooleanArray>())))
            }
            found => Ok(found),
        }
    }
}

/// Returns whether a list is a literal with neither nulls, nor NaN, nor zeros.
fn is_plain(list: &Expr) -> bool {
    let plain = |item: &ScalarValue| match item {
        item if item.is_null() => false,
        ScalarValue::Float64(Some(x)) => !x.is_nan() && *x != 0.0,
        ScalarValue::Float32(Some(x)) => !x.is_nan() && *x != 0.0,
        item => !item.data_type().is_floating(),
    };
    match list {
        Expr::Literal(list @ (ScalarValue::List(_) | ScalarValue::LargeList(_)), _) => {
            let Ok(list) = list.to_array() else { return false };
            let items = match list.data_type() {
                DataType::List(_) => Arc::clone(list.as_list::<i32>().values()),
                _ => Arc::clone(list.as_list::<i64>().values()),
            };
            (0..items.len()).all(|at| ScalarValue::try_from_array(&items, at).is_ok_and(|item| plain(&item)))
        }
        Expr::ScalarFunction(made) if made.func.name() == "make_array" => {
            made.args.iter().all(|item| matches!(item, Expr::Literal(item, _) if plain(item)))
        }
        _ => false,
    }
}

/// Returns the lists without their nulls.
fn compacted(lists: &ArrayRef) -> Result<ArrayRef> {
    fn kept<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<ArrayRef> {
        let (field, offsets, items, nulls) = list.clone().into_parts();
        let Some(known) = items.logical_nulls().filter(|known| known.null_count() > 0) else {
            return Ok(Arc::new(list.clone()));
        };
        let count = |row: usize| {
            let (begin, end) = (offsets[row].as_usize(), offsets[row + 1].as_usize());
            known.slice(begin, end - begin).len() - known.slice(begin, end - begin).null_count()
        };
        let lengths = OffsetBuffer::<O>::from_lengths((0..list.len()).map(count));
        let (first, last) = (offsets[0].as_usize(), offsets[list.len()].as_usize());
        let known = BooleanArray::new(known.inner().slice(first, last - first), None);
        let items = filter(&items.slice(first, last - first), &known)?;
        Ok(Arc::new(GenericListArray::try_new(field, lengths, items, nulls)?))
    }
    match lists.data_type() {
        DataType::List(_) => kept(lists.as_list::<i32>()),
        DataType::LargeList(_) => kept(lists.as_list::<i64>()),
        _ => Ok(Arc::clone(lists)),
    }
}

/// Returns the elements of a row's list.
fn items(lists: &ArrayRef, row: usize) -> Option<ArrayRef> {
    match lists.data_type() {
        _ if lists.is_null(row) => None,
        DataType::List(_) => Some(lists.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Some(lists.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => Some(lists.as_fixed_size_list().value(row)),
        _ => None,
    }
}

/// Returns whether a row's list contains a null.
fn has_null(lists: &ArrayRef, row: usize) -> bool {
    items(lists, row).is_some_and(|items| items.logical_null_count() > 0)
}
