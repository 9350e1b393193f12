//! Comparisons of texts with the empty one, in filters. The engine's kernel reads the empty literal through a pointer
//! to nowhere, masked: on processors with AVX-512 each such read is trapped, which took three quarters of a query's
//! time.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{DataType, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};

/// Has filters compare by lengths. The reader of Parquet has its own conditions.
#[derive(Debug)]
pub(super) struct EmptyTexts;

impl PhysicalOptimizerRule for EmptyTexts {
    fn name(&self) -> &'static str {
        "empty_texts"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let by_lengths = plan.transform_up(|node| {
            let Some(filter) = node.downcast_ref::<FilterExec>() else { return Ok(Transformed::no(node)) };
            let condition = Arc::clone(filter.predicate()).transform_up(|part| match parts(&part) {
                Some(_) => Ok(Transformed::yes(EmptyText::of(part))),
                None => Ok(Transformed::no(part)),
            })?;
            if !condition.transformed {
                return Ok(Transformed::no(node));
            }
            let filter = FilterExecBuilder::from(filter).with_predicate(condition.data).build()?;
            Ok(Transformed::yes(Arc::new(filter)))
        })?;
        Ok(by_lengths.data)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A column compared with `''` by its lengths.
#[derive(Debug)]
pub(crate) struct EmptyText {
    /// The comparison as the engine has it.
    comparison: Arc<dyn PhysicalExpr>,
}

impl PartialEq for EmptyText {
    fn eq(&self, other: &Self) -> bool {
        self.comparison.eq(&other.comparison)
    }
}

impl Eq for EmptyText {}

impl Hash for EmptyText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.comparison.hash(state);
    }
}

impl EmptyText {
    /// Returns a condition that is computed by lengths if it is such a comparison, or the condition.
    pub(crate) fn of(condition: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
        if parts(&condition).is_some() { Arc::new(Self { comparison: condition }) } else { condition }
    }
}

/// Returns the column, and whether it has to be empty.
fn parts(condition: &Arc<dyn PhysicalExpr>) -> Option<(&Arc<dyn PhysicalExpr>, bool)> {
    let binary = condition.downcast_ref::<BinaryExpr>()?;
    let is_empty = match binary.op() {
        Operator::Eq => true,
        Operator::NotEq => false,
        _ => return None,
    };
    let has_nothing = |side: &Arc<dyn PhysicalExpr>| {
        let literal = side.downcast_ref::<Literal>().map(Literal::value);
        matches!(literal, Some(ScalarValue::Utf8(Some(text))) if text.is_empty())
    };
    let (left, right) = (binary.left(), binary.right());
    match (left.is::<Column>() && has_nothing(right), right.is::<Column>() && has_nothing(left)) {
        (true, _) => Some((left, is_empty)),
        (_, true) => Some((right, is_empty)),
        _ => None,
    }
}

impl fmt::Display for EmptyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.comparison.fmt(f)
    }
}

impl PhysicalExpr for EmptyText {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.comparison.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let Some((column, is_empty)) = parts(&self.comparison) else { return self.comparison.evaluate(batch) };
        let texts = column.evaluate(batch)?.into_array(batch.num_rows())?;
        let Some(texts) = texts.as_string_opt::<i32>() else { return self.comparison.evaluate(batch) };
        let ends = texts.value_offsets();
        let values = BooleanBuffer::collect_bool(texts.len(), |row| (ends[row] == ends[row + 1]) == is_empty);
        Ok(ColumnarValue::Array(Arc::new(BooleanArray::new(values, texts.nulls().cloned()))))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.comparison]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Self::of(children.pop().unwrap_or_else(|| Arc::clone(&self.comparison))))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.comparison.fmt_sql(f)
    }

    /// Shows the comparison to whoever compares it with the statistics of a file.
    fn snapshot(&self) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        Ok(Some(Arc::clone(&self.comparison)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    use super::EmptyText;

    #[test]
    fn a_text_is_empty_or_not_as_the_engine_has_it() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some(""), None, Some("a"), Some(""), Some(" ")]));
        let rows = RecordBatch::try_from_iter([("t", texts)]).expect("rows").slice(1, 4);
        let schema = rows.schema();
        for op in [Operator::Eq, Operator::NotEq] {
            for literal_first in [false, true] {
                let (column, nothing) = (col("t", &schema).expect("a column"), lit(""));
                let (left, right) = if literal_first { (nothing, column) } else { (column, nothing) };
                let plain = binary(left, op, right, &schema).expect("a comparison");
                let own = EmptyText::of(Arc::clone(&plain));
                assert!(own.is::<EmptyText>());
                let values = [own, plain].map(|condition| {
                    let value = condition.evaluate(&rows).expect("a value").into_array(4).expect("an array");
                    value.as_boolean().clone()
                });
                assert_eq!(values[0], values[1], "{op}");
            }
        }
        let other = binary(col("t", &schema).expect("a column"), Operator::Eq, lit("a"), &schema).expect("one");
        assert!(!EmptyText::of(other).is::<EmptyText>());
    }
}
