//! The row of an explained plan that says where the statement runs.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, SchemaRef};
use salver_model::{Batches, Result};

use crate::fault;

/// What the row is about, beside `logical_plan` and `physical_plan`.
const KIND: &str = "runs";

/// Adds the row behind those of a plan, if there is a choice of places.
pub(super) fn added(batches: Batches, schema: &SchemaRef, why: Option<String>) -> Result<Batches> {
    let are_texts = schema.fields().iter().all(|field| *field.data_type() == DataType::Utf8);
    let Some(why) = why.filter(|_| are_texts && schema.fields().len() == 2) else { return Ok(batches) };
    let Batches::Ready(mut rows) = batches else { return Ok(batches) };
    let columns: Vec<ArrayRef> = [KIND, &why].map(|text| Arc::new(StringArray::from(vec![text])) as ArrayRef).into();
    rows.push(RecordBatch::try_new(Arc::clone(schema), columns).map_err(fault::arrow)?);
    Ok(Batches::Ready(rows))
}
