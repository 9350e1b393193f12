//! The order of lists: element by element, nulls greater than every value, as in PostgreSQL. The engine's kernels treat
//! a null as the least element, and so do its sorts if nulls are not at their default end.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int8Array, make_comparator};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{
    Between, BinaryExpr, ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, binary_expr, lit, not,
};

use super::super::row_function::computed;
use super::call;
use super::float_normalization::one_of_each;

/// Sort options that put nulls last, in nested lists too.
const ASCENDING: SortOptions = SortOptions { descending: false, nulls_first: false };

/// Returns whether values of a type are compared element by element.
pub(super) fn is_list(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

/// Returns whether an expression compares the order of lists.
pub(super) fn is_order(expr: &Expr, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> bool {
    let are_lists = |parts: &[&Expr]| parts.iter().all(|part| type_of(part).as_ref().is_some_and(is_list));
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq) && are_lists(&[left, right])
        }
        Expr::Between(Between { expr, low, high, .. }) => are_lists(&[expr, low, high]),
        _ => false,
    }
}

/// Rewrites such an expression to use the order of lists.
pub(super) fn compared(expr: Expr) -> Expr {
    let compare = |left: Expr, op: Operator, right: Expr| binary_expr(self::compare(left, right), op, lit(0_i8));
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => compare(*left, op, *right),
        Expr::Between(Between { expr, negated, low, high }) => {
            let within = compare((*expr).clone(), Operator::GtEq, *low).and(compare(*expr, Operator::LtEq, *high));
            if negated { not(within) } else { within }
        }
        other => other,
    }
}

/// Returns the order of two lists, as a number.
pub(super) fn compare(left: Expr, right: Expr) -> Expr {
    call(Lists::Compare.function(), vec![left, right])
}

/// Returns `greatest` over lists. The engine's own `least` already orders nulls last.
pub(super) fn greatest(lists: Vec<Expr>) -> Expr {
    call(Lists::Greatest.function(), lists)
}

/// Adds a sort key on whether a list is null wherever nulls are not at their default end, and then sorts by the list.
/// Returns whether there is such a key.
pub(super) fn sorts(keys: &mut Vec<Sort>, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> bool {
    let is_apart = |key: &Sort| key.nulls_first == key.asc && type_of(&key.expr).as_ref().is_some_and(is_list);
    if !keys.iter().any(is_apart) {
        return false;
    }
    let both = |mut key: Sort| {
        let apart = is_apart(&key).then(|| Sort::new(key.expr.clone().is_null(), !key.nulls_first, false));
        if apart.is_some() {
            key.nulls_first = !key.asc;
        }
        apart.into_iter().chain([key])
    };
    *keys = std::mem::take(keys).into_iter().flat_map(both).collect();
    true
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Lists {
    /// Negative if the first list comes first, zero if both are equal.
    Compare,
    Greatest,
}

impl Lists {
    fn function(self) -> ScalarUDF {
        let signature = Signature::variadic_any(Volatility::Immutable);
        ScalarUDF::new_from_impl(ListFunction { asked: self, signature })
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ListFunction {
    asked: Lists,
    signature: Signature,
}

impl ScalarUDFImpl for ListFunction {
    fn name(&self) -> &'static str {
        match self.asked {
            Lists::Compare => "list_compare",
            Lists::Greatest => "greatest",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match (&self.asked, arg_types) {
            (Lists::Compare, _) => Ok(DataType::Int8),
            (Lists::Greatest, [first, ..]) => Ok(first.clone()),
            _ => internal_err!("lists are compared"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        computed(&args, |lists| match (&self.asked, lists) {
            (Lists::Compare, [first, second]) => order(first, second),
            (Lists::Compare, _) => internal_err!("two lists are compared"),
            (Lists::Greatest, [first, others @ ..]) => {
                others.iter().try_fold(Arc::clone(first), |greatest, other| greater(&greatest, other))
            }
            (Lists::Greatest, []) => internal_err!("lists are compared"),
        })
    }
}

fn order(one: &ArrayRef, other: &ArrayRef) -> Result<ArrayRef> {
    let compare = make_comparator(&one_of_each(one), &one_of_each(&like(other, one)?), ASCENDING)?;
    let known = |row: &usize| one.is_valid(*row) && other.is_valid(*row);
    let order: Int8Array =
        (0..one.len()).map(|row| Some(row).filter(known).map(|row| compare(row, row) as i8)).collect();
    Ok(Arc::new(order))
}

/// Returns the greater of two lists in each row, or the one that is not null.
fn greater(one: &ArrayRef, other: &ArrayRef) -> Result<ArrayRef> {
    let other = like(other, one)?;
    let compare = make_comparator(&one_of_each(one), &one_of_each(&other), ASCENDING)?;
    let is_other = |row: usize| other.is_valid(row) && (one.is_null(row) || compare(row, row).is_lt());
    let is_other: BooleanArray = (0..one.len()).map(|row| Some(is_other(row))).collect();
    Ok(zip(&is_other, &other, one)?)
}

/// Casts lists to the type of others, which may differ in the name of the element field.
fn like(lists: &ArrayRef, others: &ArrayRef) -> Result<ArrayRef> {
    Ok(if lists.data_type() == others.data_type() { Arc::clone(lists) } else { cast(lists, others.data_type())? })
}
