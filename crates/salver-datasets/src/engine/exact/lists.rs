//! Lists as in PostgreSQL: `x = any(list)` is unknown where it is not found and a null is in the list, an item before
//! the first is null, and null can be taken out of a list. The engine's own say false, count from the end, and null.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, GenericListArray, Int64Array, OffsetSizeTrait};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::functions_nested::array_has::ArrayHas;
use datafusion::functions_nested::expr_fn::array_compact;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::membership::is_null;
use super::{call, floats};

type TypeOf<'a> = &'a dyn Fn(&Expr) -> Option<DataType>;

/// A call over lists.
pub(super) fn expression(function: ScalarFunction, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let ScalarFunction { func, mut args } = function;
    let is_index = |arg: &Expr| type_of(arg).as_ref().is_some_and(DataType::is_integer) && !is_positive(arg);
    match (func.name(), args.as_mut_slice()) {
        ("array_has", [_, _]) if func.inner().is::<ArrayHas>() => Transformed::yes(call(holds(), args)),
        ("array_remove_all", [list, item]) if is_null(item) => Transformed::yes(array_compact(std::mem::take(list))),
        ("array_element", [_, index]) if is_index(index) => {
            *index = call(Place { least: 1, below: Below::Null }.function(), vec![std::mem::take(index)]);
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        ("array_slice", [_, from, to, ..]) if is_index(from) || is_index(to) => {
            for (bound, least) in [(from, 1), (to, 0)] {
                if is_index(bound) {
                    *bound = call(Place { least, below: Below::Least }.function(), vec![std::mem::take(bound)]);
                }
            }
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        _ => Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args })),
    }
}

fn is_positive(index: &Expr) -> bool {
    matches!(index, Expr::Literal(ScalarValue::Int64(Some(1..)), _))
}

/// Where an item stands, which counts from 1.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Place {
    least: i64,
    below: Below,
}

/// What stands for a place below the least.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Below {
    Null,
    Least,
}

impl Place {
    fn function(self) -> ScalarUDF {
        ScalarUDF::new_from_impl(PlaceFunction { place: self, signature: Signature::any(1, Volatility::Immutable) })
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PlaceFunction {
    place: Place,
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
        let Place { least, below } = &self.place;
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

/// Whether an item is in a list, by the order of floats; unknown where it is not and a null is.
fn holds() -> ScalarUDF {
    ScalarUDF::new_from_impl(Holds { inner: ArrayHas::new() })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Holds {
    inner: ArrayHas,
}

impl ScalarUDFImpl for Holds {
    fn name(&self) -> &'static str {
        "array_has"
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        // A list of constants is looked up faster, and in the statistics of files too.
        if args.first().is_some_and(is_plain) {
            self.inner.simplify(args, info)
        } else {
            Ok(ExprSimplifyResult::Original(args))
        }
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        for value in &mut args.args {
            *value = match value {
                ColumnarValue::Array(array) => ColumnarValue::Array(one_of_each(array)?),
                ColumnarValue::Scalar(scalar) => {
                    let array = one_of_each(&scalar.to_array()?)?;
                    ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)
                }
            };
        }
        let Some(list) = args.args.first().cloned() else { return internal_err!("an item is looked for in a list") };
        let rows = args.number_rows;
        match self.inner.invoke_with_args(args)? {
            ColumnarValue::Scalar(ScalarValue::Boolean(Some(false))) if has_null(&list.to_array(1)?, 0) => {
                Ok(ColumnarValue::Scalar(ScalarValue::Boolean(None)))
            }
            ColumnarValue::Array(found) => {
                let lists = list.to_array(rows)?;
                let found = found.as_boolean().iter().enumerate();
                let known = found.map(|(row, found)| found.filter(|found| *found || !has_null(&lists, row)));
                Ok(ColumnarValue::Array(Arc::new(known.collect::<BooleanArray>())))
            }
            found => Ok(found),
        }
    }
}

/// Whether a list is written out and has neither nulls nor floats that equal others.
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

/// Floats and lists of floats with one NaN and one zero; what are neither as they are.
fn one_of_each(array: &ArrayRef) -> Result<ArrayRef> {
    fn items<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<ArrayRef> {
        let (field, offsets, items, nulls) = list.clone().into_parts();
        Ok(Arc::new(GenericListArray::try_new(field, offsets, floats::one_of_each(&items), nulls)?))
    }
    match array.data_type() {
        DataType::List(item) if item.data_type().is_floating() => items(array.as_list::<i32>()),
        DataType::LargeList(item) if item.data_type().is_floating() => items(array.as_list::<i64>()),
        _ => Ok(floats::one_of_each(array)),
    }
}

/// Whether the list of a row has a null among its items.
fn has_null(lists: &ArrayRef, row: usize) -> bool {
    if lists.is_null(row) {
        return false;
    }
    let items = match lists.data_type() {
        DataType::List(_) => lists.as_list::<i32>().value(row),
        DataType::LargeList(_) => lists.as_list::<i64>().value(row),
        DataType::FixedSizeList(..) => lists.as_fixed_size_list().value(row),
        _ => return false,
    };
    items.logical_null_count() > 0
}
