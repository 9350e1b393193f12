//! Selects the conditions that the Parquet reader may apply. The reader turns any error in a condition into text, so
//! that a failed cast would look like a damaged file. A condition that may fail stays above the reader, where its error
//! keeps its kind; the others are pushed down. This is decided here and not in the plan, because conditions arrive in
//! several ways: through projections that compute their operands, and from joins at run time.

mod adaptive;
mod together;

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, ScalarValue};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, DynamicFilterPhysicalExpr, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr,
    Literal, NotExpr, TryCastExpr, lit,
};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{
    DynamicFilterTracking, EquivalenceProperties, PhysicalExpr, PhysicalSortExpr, ScalarFunctionExpr,
};
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, SortOrderPushdownResult};
use datafusion_datasource::morsel::Morselizer;
use object_store::ObjectStore;

use self::adaptive::Adaptive;
use self::together::steps;
use crate::held_rows::Opened;
use crate::udf;

/// Functions that never fail, whatever their arguments.
const SURE_FUNCTIONS: [&str; 7] =
    ["ordered", "coalesce", "character_length", "starts_with", "ends_with", "contains", "strpos"];

/// A source that accepts only conditions that can't fail.
pub(crate) struct SureSource {
    /// The source with its conditions, and without.
    inner: Arc<dyn FileSource>,
    bare: Arc<dyn FileSource>,
    /// All conditions that were accepted so far.
    conditions: Vec<Arc<dyn PhysicalExpr>>,
    /// The files.
    opened: Arc<Opened>,
    /// Columns that no condition of a reader can see, with the least value of each.
    unseen: Arc<[(&'static str, ScalarValue)]>,
}

impl SureSource {
    /// Wraps another source of these files, which has no conditions yet. The reader gives the columns `unseen` only
    /// after it has filtered. Rows that are otherwise equal are in ascending order of them, if they are in an order.
    pub(crate) fn new(
        inner: impl Into<Arc<dyn FileSource>>,
        opened: Arc<Opened>,
        unseen: impl Into<Arc<[(&'static str, ScalarValue)]>>,
    ) -> Self {
        let inner = inner.into();
        Self { bare: Arc::clone(&inner), inner, conditions: Vec::new(), opened, unseen: unseen.into() }
    }

    /// Returns the files.
    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Returns whether some condition becomes known while the plan runs.
    pub(crate) fn has_later_conditions(&self) -> bool {
        self.conditions.iter().any(is_dynamic)
    }

    /// Returns the other source, with the conditions as they were asked for.
    #[cfg(feature = "ballista")]
    pub(crate) fn plain(&self, config: &ConfigOptions) -> Result<Arc<dyn FileSource>> {
        let updated = self.bare.try_pushdown_filters(self.conditions.clone(), config)?.updated_node;
        Ok(updated.unwrap_or_else(|| Arc::clone(&self.bare)))
    }

    fn again(&self, inner: Arc<dyn FileSource>, bare: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(self.with(inner, bare, self.conditions.clone()))
    }

    fn with(
        &self,
        inner: Arc<dyn FileSource>,
        bare: Arc<dyn FileSource>,
        conditions: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Self {
        Self { inner, bare, conditions, opened: Arc::clone(&self.opened), unseen: Arc::clone(&self.unseen) }
    }

    /// Returns a condition that becomes known later without the columns that the reader can't see: rows with their
    /// least values are before all others that are equal, so the condition lets as many rows through or more.
    fn seen(&self, filter: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        if !filter.is::<DynamicFilterPhysicalExpr>() {
            return Ok(filter);
        }
        let least = |child: &Arc<dyn PhysicalExpr>| {
            let column = child.downcast_ref::<Column>()?;
            let (_, value) = self.unseen.iter().find(|(name, _)| *name == column.name())?;
            Some(Arc::new(Literal::new(value.clone())) as Arc<dyn PhysicalExpr>)
        };
        let children = filter.children().into_iter().map(|child| least(child).unwrap_or_else(|| Arc::clone(child)));
        let children = children.collect();
        filter.with_new_children(children)
    }
}

impl FileSource for SureSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        self.inner.create_file_opener(store, config, partition)
    }

    fn create_morselizer(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        self.inner.create_morselizer(store, config, partition)
    }

    fn table_schema(&self) -> &TableSchema {
        self.inner.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        self.again(self.inner.with_batch_size(batch_size), self.bare.with_batch_size(batch_size))
    }

    /// Tells that there is a filter, and nothing of it. `d = 5` would make `d` constant to the planner until a
    /// projection stands over the scan, through which this is lost (DataFusion 55): sorts by `d, v` became sorts by
    /// `v` that did not satisfy who asked for the former.
    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.inner.filter().map(|_| lit(true))
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.inner.projection()
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.inner.metrics()
    }

    fn file_type(&self) -> &str {
        self.inner.file_type()
    }

    fn fmt_extra(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_extra(format, f)
    }

    fn supports_repartitioning(&self) -> bool {
        self.inner.supports_repartitioning()
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let schema = self.table_schema().table_schema();
        let are_sure: Vec<bool> = filters.iter().map(|filter| is_sure(filter, schema)).collect();
        let sure = filters.into_iter().zip(&are_sure).filter(|(_, is_sure)| **is_sure).map(|(filter, _)| filter);
        let sure = sure.map(|filter| self.seen(filter)).collect::<Result<Vec<_>>>()?;
        // Asked one by one first: of conditions in one, the reader takes all or none.
        let answers = self.bare.try_pushdown_filters(sure.clone(), config)?.filters;
        let accepted = sure.into_iter().zip(&answers).filter(|(_, answer)| matches!(answer, PushedDown::Yes));
        let accepted = accepted.map(|(filter, _)| match is_dynamic(&filter) {
            true => Arc::new(Adaptive::new(filter)) as _,
            false => filter,
        });
        let conditions: Vec<_> = self.conditions.iter().cloned().chain(accepted).collect();
        let updated = match conditions.len() > self.conditions.len() {
            true => self.bare.try_pushdown_filters(steps(&conditions, schema), config)?.updated_node,
            false => None,
        };
        let updated = updated.map(|inner| Arc::new(self.with(inner, Arc::clone(&self.bare), conditions)) as _);
        let mut answers = answers.into_iter();
        let answer = |is_sure: bool| if is_sure { answers.next().unwrap_or(PushedDown::No) } else { PushedDown::No };
        let filters = are_sure.into_iter().map(answer).collect();
        Ok(FilterPushdownPropagation { filters, updated_node: updated })
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        let bare = match self.bare.try_pushdown_sort(order, properties)? {
            SortOrderPushdownResult::Exact { inner } | SortOrderPushdownResult::Inexact { inner } => inner,
            SortOrderPushdownResult::Unsupported => Arc::clone(&self.bare),
        };
        Ok(self.inner.try_pushdown_sort(order, properties)?.map(|inner| self.again(inner, bare)))
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        self.inner.reorder_files(files)
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        let Some(inner) = self.inner.try_pushdown_projection(projection)? else { return Ok(None) };
        let bare = self.bare.try_pushdown_projection(projection)?.unwrap_or_else(|| Arc::clone(&self.bare));
        Ok(Some(self.again(inner, bare)))
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.inner.apply_expressions(visit)
    }
}

/// Returns whether a condition becomes known while the plan runs.
fn is_dynamic(filter: &Arc<dyn PhysicalExpr>) -> bool {
    DynamicFilterTracking::classify(filter).contains_dynamic_filter()
}

/// Returns whether `expr` can be computed for every row.
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
        || expr.downcast_ref::<ScalarFunctionExpr>().is_some_and(is_sure_call);
    is_sure_itself && expr.children().into_iter().all(|child| is_sure(child, schema))
}

/// Returns whether a function can't fail. A pattern that ends with its escape character can.
fn is_sure_call(call: &ScalarFunctionExpr) -> bool {
    let pattern = || call.args().get(1)?.downcast_ref::<Literal>()?.value().try_as_str().flatten();
    // A function of a file may have the name of one that only the engine itself calls.
    !udf::is_of_file(call.fun())
        && (SURE_FUNCTIONS.contains(&call.name())
            || (matches!(call.name(), "like" | "ilike") && pattern().is_some_and(|pattern| !pattern.ends_with('\\'))))
}

/// Returns whether an operator can't fail.
fn is_sure_operator(binary: &BinaryExpr, schema: &Schema) -> bool {
    use Operator::{
        And, Divide, Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, Minus, Multiply, NotEq, Or, Plus,
    };
    match binary.op() {
        And | Or | Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom => true,
        Plus | Minus | Multiply | Divide => binary.left().data_type(schema).is_ok_and(|of| of.is_floating()),
        _ => false,
    }
}

/// Returns whether every value of the source type is one of the target type.
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

/// Returns the most digits of an integer type.
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
