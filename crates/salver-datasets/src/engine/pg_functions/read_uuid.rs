//! `x::uuid` of a text, or of each text of a list: the text as PostgreSQL writes a UUID.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::logical_expr::ScalarUDF;

use super::super::literal_text;
use super::super::row_function::RowFunction;

/// `read_uuid(x)`, which is `x::uuid`.
pub(super) fn read_uuid() -> ScalarUDF {
    RowFunction::of_one("read_uuid", returns, |arrays, _| read_all(arrays, false))
}

/// `try_read_uuid(x)`, which is null if `x` is no UUID.
pub(super) fn try_read_uuid() -> ScalarUDF {
    RowFunction::of_one("try_read_uuid", returns, |arrays, _| read_all(arrays, true))
}

fn returns(types: &[DataType]) -> Result<DataType> {
    match types {
        [own] if own.is_string() || own.is_null() => Ok(DataType::Utf8),
        [DataType::List(item)] => {
            let own = returns(std::slice::from_ref(item.data_type()))?;
            Ok(DataType::List(Arc::new(item.as_ref().clone().with_data_type(own))))
        }
        _ => plan_err!("a text is cast to `uuid`"),
    }
}

fn read_all(arrays: &[ArrayRef], tries: bool) -> Result<ArrayRef> {
    let [values] = arrays else { return plan_err!("one text is cast to `uuid`") };
    if let DataType::List(item) = values.data_type() {
        let (_, offsets, items, nulls) = values.as_list::<i32>().clone().into_parts();
        let items = read_all(&[items], tries)?;
        let item = Arc::new(item.as_ref().clone().with_data_type(items.data_type().clone()));
        return Ok(Arc::new(ListArray::try_new(item, offsets, items, nulls)?));
    }
    let texts = cast(values, &DataType::Utf8)?;
    let texts = texts.as_string::<i32>();
    let mut all = StringBuilder::with_capacity(texts.len(), texts.value_data().len());
    for text in texts {
        match text.map(literal_text::uuid) {
            None => all.append_null(),
            Some(Ok(uuid)) => all.append_value(uuid),
            Some(Err(_)) if tries => all.append_null(),
            Some(Err(error)) => return Err(DataFusionError::External(Box::new(error))),
        }
    }
    Ok(Arc::new(all.finish()))
}
