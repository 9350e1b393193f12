//! `array_agg(distinct x order by x)` and `string_agg` of distinct values. The engine sorts these values itself, by the
//! order it is given; but where other aggregates of the query have the reverse order, it gives the reverse one, and the
//! values come out in that (`DistinctArrayAggAccumulator` of DataFusion 55).

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, GroupsAccumulator, ReversedUDAF, Signature,
};

/// Replaces the function of an aggregate of distinct values in an order, under the same name.
pub(super) fn insensitive(expr: Expr) -> Expr {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = expr else { return expr };
    let is_list = ["array_agg", "string_agg"].contains(&func.name()) && !func.inner().is::<Sorted>();
    let is_sorted = is_list && params.distinct && !params.order_by.is_empty();
    let func = if is_sorted { Arc::new(AggregateUDF::new_from_impl(Sorted(func))) } else { func };
    Expr::AggregateFunction(AggregateFunction { func, params })
}

/// Aggregate that takes its values in any order, and is never reversed.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sorted(Arc<AggregateUDF>);

impl AggregateUDFImpl for Sorted {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.0.inner().coerce_types(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.0.return_type(arg_types)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.0.accumulator(args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.0.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.0.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.0.create_groups_accumulator(args)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::NotSupported
    }
}
