//! ROAPI's result: the bare rows of one root field, for any format. Columns are renamed to the selected names, and
//! structs are reduced to the selected fields.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeListArray, GenericListArray, OffsetSizeTrait, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use futures::StreamExt;
use salver_model::{Batches, Error, Item, Query, Result, Rows};

use crate::graphql::plan::{DocumentPlan, FieldPlan, Level, Part, ValuePlan, Work};
use crate::graphql::run::{Reading, Runner};

/// Returns the level of a plan that consists of nothing but columns of one table.
pub(crate) fn level_of(plan: DocumentPlan) -> Result<Arc<Level>, DocumentPlan> {
    let bare = match plan.roots.as_slice() {
        [root] => matches!(&root.work, Work::Rows(level)
            if level.selection.fields.iter().all(|f| matches!(&f.value, ValuePlan::Column(_, part) if is_bare(part)))
                && level.query.group.is_empty() && !level.query.is_grouped()),
        _ => false,
    };
    if !bare {
        return Err(plan);
    }
    let mut plan = plan;
    match plan.roots.pop() {
        Some(root) => match root.work {
            Work::Rows(level) => Ok(level),
            work => Err(DocumentPlan { roots: vec![crate::graphql::plan::RootPlan { key: root.key, work }] }),
        },
        None => Err(plan),
    }
}

fn is_bare(part: &Part) -> bool {
    match part {
        Part::Whole => true,
        Part::Items(item) => is_bare(item),
        Part::Fields(fields) => {
            fields.iter().all(|field| matches!(&field.value, ValuePlan::Column(_, part) if is_bare(part)))
        }
    }
}

/// Reads the rows of `level` under the selected names.
pub(crate) async fn rows(runner: Runner<'_>, level: Arc<Level>) -> Result<Rows> {
    let fields = &level.selection.fields;
    let mut items = Vec::with_capacity(fields.len());
    for field in fields {
        if let ValuePlan::Column(place, _) = &field.value
            && let Item::Column { path, .. } = &level.query.items[*place]
        {
            items.push(Item::Column { path: path.clone(), name: field.key.clone() });
        }
    }
    let query = Query { items, ..level.query.clone() };
    let Reading { rows, .. } = runner.read(&level, &query).await?;
    if fields.iter().all(|field| matches!(&field.value, ValuePlan::Column(_, Part::Whole))) {
        return Ok(rows);
    }
    let columns = rows.schema.fields().iter().zip(fields);
    let cut: Vec<FieldRef> = columns.map(|(column, field)| cut_field(column, part_of(field))).collect();
    let schema = Arc::new(Schema::new(cut));
    let batches = match rows.batches {
        Batches::Ready(batches) => {
            Batches::Ready(batches.iter().map(|batch| cut_batch(batch, &schema, &level)).collect::<Result<_>>()?)
        }
        Batches::Stream(stream) => {
            let schema = Arc::clone(&schema);
            Batches::Stream(stream.map(move |batch| cut_batch(&batch?, &schema, &level)).boxed())
        }
    };
    Ok(Rows { schema, batches, ..rows })
}

fn part_of(field: &FieldPlan) -> &Part {
    match &field.value {
        ValuePlan::Column(_, part) => part,
        _ => &Part::Whole,
    }
}

fn cut_batch(batch: &RecordBatch, schema: &SchemaRef, level: &Level) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields()).zip(&level.selection.fields);
    let columns = columns.map(|((column, to), field)| cut_array(column, to, part_of(field)));
    let columns = columns.collect::<Result<Vec<_>, ArrowError>>().map_err(refused)?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(refused)
}

fn refused(error: ArrowError) -> Error {
    Error::internal("a struct can't be cut down to the fields selected").with_source(error)
}

fn cut_field(field: &FieldRef, part: &Part) -> FieldRef {
    let cut = cut_type(field.data_type(), part);
    if cut == *field.data_type() { Arc::clone(field) } else { Arc::new(field.as_ref().clone().with_data_type(cut)) }
}

fn cut_type(data_type: &DataType, part: &Part) -> DataType {
    match (data_type, part) {
        (DataType::Struct(inner), Part::Fields(fields)) => {
            let selected = fields.iter().filter_map(|field| match &field.value {
                ValuePlan::Column(index, part) => {
                    let cut = cut_field(&inner[*index], part);
                    Some(Field::new(&field.key, cut.data_type().clone(), cut.is_nullable()))
                }
                _ => None,
            });
            DataType::Struct(selected.collect())
        }
        (DataType::List(item), Part::Items(part)) => DataType::List(cut_field(item, part)),
        (DataType::LargeList(item), Part::Items(part)) => DataType::LargeList(cut_field(item, part)),
        (DataType::FixedSizeList(item, size), Part::Items(part)) => {
            DataType::FixedSizeList(cut_field(item, part), *size)
        }
        (other, _) => other.clone(),
    }
}

fn cut_array(array: &ArrayRef, to: &FieldRef, part: &Part) -> Result<ArrayRef, ArrowError> {
    Ok(match (to.data_type(), part) {
        (DataType::Struct(inner), Part::Fields(fields)) => {
            let source = array.as_struct();
            let selected = fields.iter().zip(inner).filter_map(|(field, to)| match &field.value {
                ValuePlan::Column(index, part) => Some(cut_array(source.column(*index), to, part)),
                _ => None,
            });
            let columns = selected.collect::<Result<Vec<_>, _>>()?;
            Arc::new(StructArray::try_new(inner.clone(), columns, source.nulls().cloned())?)
        }
        (DataType::List(item), Part::Items(part)) => cut_list(array.as_list::<i32>(), item, part)?,
        (DataType::LargeList(item), Part::Items(part)) => cut_list(array.as_list::<i64>(), item, part)?,
        (DataType::FixedSizeList(item, size), Part::Items(part)) => {
            let source = array.as_fixed_size_list();
            let values = cut_array(source.values(), item, part)?;
            Arc::new(FixedSizeListArray::try_new(Arc::clone(item), *size, values, source.nulls().cloned())?)
        }
        _ => Arc::clone(array),
    })
}

fn cut_list<O: OffsetSizeTrait>(
    source: &GenericListArray<O>,
    item: &FieldRef,
    part: &Part,
) -> Result<ArrayRef, ArrowError> {
    let values = cut_array(source.values(), item, part)?;
    let list = GenericListArray::try_new(Arc::clone(item), source.offsets().clone(), values, source.nulls().cloned())?;
    Ok(Arc::new(list))
}
