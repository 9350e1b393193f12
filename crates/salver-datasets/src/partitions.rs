//! Hive partitions: directory names like `year=2026` as columns.

use std::iter::repeat_n;
use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Array, Int64Array, StringArray, new_null_array};
use arrow::datatypes::{DataType, Field, Schema};
use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Result, Value};

use crate::infer::{is_code, parse_date};
use crate::source::Input;

/// What Hive writes for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The partition columns of a dataset and their values for each file.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    /// The columns: Int64, Date32 or Utf8.
    pub(crate) fields: Vec<Field>,
    /// For each file, in their order.
    pub(crate) values: Vec<Vec<Value>>,
}

impl Partitions {
    /// The partitions of `inputs`; a column that the files themselves have is left to them.
    ///
    /// # Errors
    /// [`Code::Source`] when files have different keys.
    pub(crate) fn of(inputs: &[Input], spec: &DatasetSpec, files: &Schema) -> Result<Self> {
        let Some(first) = inputs.first() else { return Ok(Self::default()) };
        for input in inputs {
            let is_same = input.partitions.len() == first.partitions.len()
                && input.partitions.iter().zip(&first.partitions).all(|(a, b)| a.0 == b.0);
            if !is_same {
                let message = format!(
                    "`{}` is partitioned by {} and `{}` by {}",
                    first.label,
                    keys(first),
                    input.label,
                    keys(input)
                );
                return Err(Error::new(Code::Source, message)
                    .with_hint("move the files so that all have the same keys, or set `partitions = false`"));
            }
        }
        let mut partitions = Self { fields: Vec::new(), values: vec![Vec::new(); inputs.len()] };
        for (index, (key, _)) in first.partitions.iter().enumerate() {
            let is_taken = files.field_with_name(key).is_ok() || partitions.fields.iter().any(|f| f.name() == key);
            if is_taken {
                continue;
            }
            let texts: Vec<Option<&str>> = inputs.iter().map(|input| text(&input.partitions[index].1)).collect();
            let declared = spec.schema.iter().find(|column| column.name == *key).map(|column| &column.data_type);
            let data_type = type_of(&texts, declared);
            for (values, text) in partitions.values.iter_mut().zip(texts) {
                values.push(match (text, &data_type) {
                    (None, _) => Value::Null,
                    (Some(text), DataType::Int64) => text.parse().map_or(Value::Null, Value::Int),
                    (Some(text), _) => Value::Text(text.to_owned()),
                });
            }
            partitions.fields.push(Field::new(key, data_type, true));
        }
        Ok(partitions)
    }

    /// The columns for `rows` rows of a file.
    pub(crate) fn columns(&self, file: usize, rows: usize) -> Vec<ArrayRef> {
        let values = self.values.get(file).map(Vec::as_slice).unwrap_or_default();
        self.fields.iter().zip(values).map(|(field, value)| constant(field.data_type(), value, rows)).collect()
    }
}

fn keys(input: &Input) -> String {
    let keys: Vec<String> = input.partitions.iter().map(|(key, _)| format!("`{key}`")).collect();
    if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") }
}

fn text(value: &str) -> Option<&str> {
    (value != NULL && !value.is_empty()).then_some(value)
}

fn type_of(texts: &[Option<&str>], declared: Option<&DataType>) -> DataType {
    let all = |fits: fn(&str) -> bool| texts.iter().flatten().all(|text| fits(text));
    let is_int = || all(|text| text.parse::<i64>().is_ok());
    let is_date = || all(|text| parse_date(text).is_some());
    match declared {
        Some(DataType::Utf8) => DataType::Utf8,
        _ if texts.iter().all(Option::is_none) => DataType::Utf8,
        None if texts.iter().flatten().any(|text| is_padded(text)) => DataType::Utf8,
        _ if is_int() => DataType::Int64,
        _ if is_date() => DataType::Date32,
        _ => DataType::Utf8,
    }
}

/// Whether an integer would lose digits that matter: `zip=01234`. In `month=01` the zero only pads.
fn is_padded(text: &str) -> bool {
    text.len() > 2 && is_code(text)
}

/// A partition column of a file, for `rows` rows.
pub(crate) fn constant(data_type: &DataType, value: &Value, rows: usize) -> ArrayRef {
    match (data_type, value) {
        (DataType::Int64, Value::Int(value)) => Arc::new(Int64Array::from_value(*value, rows)),
        (DataType::Date32, Value::Text(text)) => match parse_date(text) {
            Some(days) => Arc::new(Date32Array::from_value(days, rows)),
            None => new_null_array(data_type, rows),
        },
        (DataType::Utf8, Value::Text(text)) => Arc::new(StringArray::from_iter_values(repeat_n(text, rows))),
        _ => new_null_array(data_type, rows),
    }
}
