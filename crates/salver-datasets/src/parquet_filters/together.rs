//! Conditions that the reader applies in one step. Given several, it decodes the column of each one for the rows that
//! the ones before have left. Where those are many and scattered, keeping the list of them costs more than the rows.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::compute::{and_kleene, prep_null_mask_filter};
use arrow::datatypes::{DataType, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, conjunction, split_conjunction};

use super::adaptive::Adaptive;
use crate::engine::EmptyText;

/// Conditions, all of which hold.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Together {
    conditions: Vec<Arc<dyn PhysicalExpr>>,
}

/// Returns these conditions in steps for the reader: first, in one, those that compare numbers and times with a value
/// or with each other, and those of joins; then each of the others. Texts are decoded for the rows that are left.
pub(super) fn steps(conditions: &[Arc<dyn PhysicalExpr>], schema: &Schema) -> Vec<Arc<dyn PhysicalExpr>> {
    let all = conditions.iter().flat_map(split_conjunction).cloned();
    let (of_joins, all): (Vec<_>, Vec<_>) = all.partition(|condition| condition.is::<Adaptive>());
    let (mut first, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|condition| is_cheap(condition, schema));
    first.extend(of_joins);
    let first = match first.len() {
        0 | 1 => first.pop(),
        _ => Some(Arc::new(Together { conditions: first }) as _),
    };
    first.into_iter().chain(others.into_iter().map(EmptyText::of)).collect()
}

/// Returns whether a condition compares numbers or times, as they are.
fn is_cheap(condition: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let is_plain = |side: &Arc<dyn PhysicalExpr>| {
        let is_primitive = || side.data_type(schema).is_ok_and(|of| of.is_primitive());
        (side.is::<Column>() || side.is::<Literal>()) && is_primitive()
    };
    condition.downcast_ref::<BinaryExpr>().is_some_and(|binary| is_plain(binary.left()) && is_plain(binary.right()))
}

impl fmt::Display for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", conjunction(self.conditions.iter().cloned()))
    }
}

impl PhysicalExpr for Together {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(true)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let mut all: Option<BooleanArray> = None;
        for condition in &self.conditions {
            // The keys of a join are looked up one by one.
            let few = all.as_ref().filter(|all| condition.is::<Adaptive>() && all.true_count() * 2 < all.len());
            let value = match few {
                Some(few) if few.null_count() > 0 => {
                    condition.evaluate_selection(batch, &prep_null_mask_filter(few))?
                }
                Some(few) => condition.evaluate_selection(batch, few)?,
                None => condition.evaluate(batch)?,
            };
            if let ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))) = value {
                continue;
            }
            let value = value.into_array(batch.num_rows())?;
            let value = value.as_boolean();
            all = Some(match all {
                Some(all) => and_kleene(&all, value)?,
                None => value.clone(),
            });
        }
        Ok(match all {
            Some(all) => ColumnarValue::Array(Arc::new(all)),
            None => ColumnarValue::Scalar(true.into()),
        })
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.conditions.iter().collect()
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self { conditions: children }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        conjunction(self.conditions.iter().cloned()).fmt_sql(f)
    }

    /// Shows the conditions to whoever compares them with the statistics of a file.
    fn snapshot(&self) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        Ok(Some(conjunction(self.conditions.iter().cloned())))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    use super::super::adaptive::Adaptive;
    use super::steps;

    fn rows() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4), Some(5), Some(6)]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c", "a", "b", "c"]));
        RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).expect("rows")
    }

    fn passing(condition: &Arc<dyn PhysicalExpr>, rows: &RecordBatch) -> Vec<Option<bool>> {
        let value = condition.evaluate(rows).expect("a value").into_array(rows.num_rows()).expect("an array");
        value.as_boolean().iter().collect()
    }

    #[test]
    fn numbers_come_in_one_step_before_texts() {
        let rows = rows();
        let schema = rows.schema();
        let over = |column: &str, op, value: Arc<dyn PhysicalExpr>| {
            binary(col(column, &schema).expect("a column"), op, value, &schema).expect("a comparison")
        };
        let text = over("t", Operator::Eq, lit("a"));
        let of_join = Arc::new(Adaptive::new(over("n", Operator::NotEq, lit(5_i64)))) as Arc<dyn PhysicalExpr>;
        let conditions =
            [Arc::clone(&text), over("n", Operator::Gt, lit(3_i64)), of_join, over("n", Operator::Lt, lit(6_i64))];
        let steps = steps(&conditions, &schema);
        assert_eq!(steps.len(), 2);
        assert_eq!(passing(&steps[0], &rows), [Some(false), None, Some(false), Some(true), Some(false), Some(false)]);
        assert_eq!(steps[1].to_string(), text.to_string());
        // What compares it with statistics sees the conditions themselves.
        let shown = steps[0].snapshot().expect("a condition").expect("a condition").to_string();
        assert_eq!(shown, "n@0 > 3 AND n@0 < 6 AND n@0 != 5");
    }
}
