//! Which filters the reader of Parquet files may apply by itself. It makes a text of whatever goes wrong in one, so
//! that a value which can't be cast would read as a damaged file. What may fail stays above it, where it fails as what
//! it is; the reader has the rest.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, DynamicFilterPhysicalExpr, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr,
    Literal, NotExpr, TryCastExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr, conjunction, split_conjunction};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};

/// Functions that have a value for whatever they are given.
const SURE_FUNCTIONS: [&str; 8] =
    ["ordered", "coalesce", "character_length", "starts_with", "ends_with", "contains", "strpos", "date_part"];

/// Runs a rule that gives filters to readers, and keeps from it those that may fail.
pub(super) fn without_unsure(
    plan: Arc<dyn ExecutionPlan>,
    rule: impl FnOnce(Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = each_part(
        plan,
        |part, schema| {
            if is_sure(part, schema) { None } else { Some(Arc::new(Withheld(Arc::clone(part)))) }
        },
    )?;
    each_part(rule(plan)?, |part, _| part.downcast_ref::<Withheld>().map(|withheld| Arc::clone(&withheld.0)))
}

/// Puts others in place of the parts of all filters.
fn each_part(
    plan: Arc<dyn ExecutionPlan>,
    other: impl Fn(&Arc<dyn PhysicalExpr>, &Schema) -> Option<Arc<dyn PhysicalExpr>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let changed = plan.transform_up(|node| {
        let Some(filter) = node.downcast_ref::<FilterExec>() else { return Ok(Transformed::no(node)) };
        let schema = filter.input().schema();
        let parts = split_conjunction(filter.predicate());
        let others: Vec<_> = parts.iter().map(|part| other(part, &schema)).collect();
        if others.iter().all(Option::is_none) {
            return Ok(Transformed::no(node));
        }
        let parts = parts.into_iter().zip(others).map(|(part, other)| other.unwrap_or_else(|| Arc::clone(part)));
        let filter = FilterExecBuilder::from(filter).with_predicate(conjunction(parts)).build()?;
        Ok(Transformed::yes(Arc::new(filter) as _))
    })?;
    Ok(changed.data)
}

/// Whether there is a value of `expr` for any row.
fn is_sure(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let is_known = expr.is::<Column>()
        || expr.is::<Literal>()
        || expr.is::<DynamicFilterPhysicalExpr>()
        || expr.is::<InListExpr>()
        || expr.is::<IsNullExpr>()
        || expr.is::<IsNotNullExpr>()
        || expr.is::<LikeExpr>()
        || expr.is::<NotExpr>()
        || expr.is::<CaseExpr>()
        || expr.is::<TryCastExpr>();
    let is_sure_itself = is_known
        || expr.downcast_ref::<BinaryExpr>().is_some_and(|binary| is_sure_operator(binary, schema))
        || expr.downcast_ref::<CastExpr>().is_some_and(|cast| is_sure_cast(cast, schema))
        || expr.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| SURE_FUNCTIONS.contains(&call.name()));
    is_sure_itself && expr.children().into_iter().all(|child| is_sure(child, schema))
}

/// Whether an operator has a value for any two operands.
fn is_sure_operator(binary: &BinaryExpr, schema: &Schema) -> bool {
    use Operator::{And, Divide, Minus, Multiply, Or, Plus};
    match binary.op() {
        And | Or => true,
        Plus | Minus | Multiply | Divide => binary.left().data_type(schema).is_ok_and(|of| of.is_floating()),
        op => op.supports_propagation() || matches!(op, Operator::NotEq | Operator::IsDistinctFrom),
    }
}

/// Whether every value of the one type is one of the other.
fn is_sure_cast(cast: &CastExpr, schema: &Schema) -> bool {
    let Ok(from) = cast.expr().data_type(schema) else { return false };
    let to = cast.cast_type();
    match to {
        DataType::Decimal128(digits, scale) => {
            whole_digits(&from).is_some_and(|whole| *scale >= 0 && whole + i32::from(*scale) <= i32::from(*digits))
        }
        DataType::Float32 | DataType::Float64 => from.is_numeric(),
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => {
            matches!(from, DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 | DataType::Dictionary(..))
        }
        _ => from == *to || CastExpr::check_bigger_cast(to, &from),
    }
}

/// The most digits that an integer of a type has.
fn whole_digits(of: &DataType) -> Option<i32> {
    Some(match of {
        DataType::Int8 | DataType::UInt8 => 3,
        DataType::Int16 | DataType::UInt16 => 5,
        DataType::Int32 | DataType::UInt32 => 10,
        DataType::Int64 => 19,
        DataType::UInt64 => 20,
        _ => return None,
    })
}

/// A part of a filter that stays where it is: volatile, by which rules know that.
#[derive(Debug, Eq)]
struct Withheld(Arc<dyn PhysicalExpr>);

// Derived, it would move what is compared.
impl PartialEq for Withheld {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq(&other.0)
    }
}

impl Hash for Withheld {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl PhysicalExpr for Withheld {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.0.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.0.nullable(schema)
    }

    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.0.return_field(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.0.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.0]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(children.pop().map_or(Arc::clone(&self) as _, |only| Arc::new(Self(only)) as _))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_sql(f)
    }

    fn is_volatile_node(&self) -> bool {
        true
    }
}
