//! Hive partitions: directory names like `year=2026` as columns.

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field};
use datafusion::common::ScalarValue;
use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Result};

use crate::infer::{is_code, parse_date};
use crate::source::declared_type::from_text;
use crate::source::{Input, Outline};

/// Hive's name for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The partition columns of a dataset and their values for each file.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    /// The columns: of the declared types, else Int64, Date32 or Utf8.
    pub(crate) fields: Vec<Field>,
    /// The values for each file, in the order of the files.
    pub(crate) values: Vec<Vec<ScalarValue>>,
}

impl Partitions {
    /// Determines the partition columns of `inputs`, whose schemas are `outlines`; a column that all files contain
    /// themselves is not one.
    ///
    /// # Errors
    /// [`Code::Source`] if files have different keys, if a value is not of the declared type, or if only some files
    /// contain a column with a key's name.
    pub(crate) fn of(inputs: &[Input], spec: &DatasetSpec, outlines: &[Outline]) -> Result<Self> {
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
        let mut partitions = Self::none(inputs.len());
        for (index, (key, _)) in first.partitions.iter().enumerate() {
            if partitions.fields.iter().any(|field| field.name() == key) {
                continue;
            }
            let has = |outline: &Outline| outline.schema.field_with_name(key).is_ok();
            if let Some(with) = outlines.iter().position(has) {
                let Some(without) = outlines.iter().position(|outline| !has(outline)) else { continue };
                let (with, without) = (&inputs[with].label, &inputs[without].label);
                let message = format!("`{with}` has a column `{key}`, as its directory says, and `{without}` has none");
                return Err(Error::new(Code::Source, message)
                    .with_hint("give all files the column or none, or set `partitions = false`"));
            }
            let texts: StringArray = inputs.iter().map(|input| text(&input.partitions[index].1)).collect();
            let declared = spec.schema.iter().find(|column| column.name == *key);
            let data_type = declared.map_or_else(|| guess(&texts), |column| column.data_type.clone());
            let nullable = declared.is_none_or(|column| column.nullable);
            let labels: Vec<&str> = inputs.iter().map(|input| input.label.as_str()).collect();
            partitions.add(Field::new(key, data_type, nullable), &texts, &labels)?;
        }
        Ok(partitions)
    }

    /// Returns no partition columns yet, for so many files.
    pub(crate) fn none(files: usize) -> Self {
        Self { fields: Vec::new(), values: vec![Vec::new(); files] }
    }

    /// Adds a column with a text for each of the files, which `labels` names.
    ///
    /// # Errors
    /// [`Code::Source`] if a text is not of the column's type.
    pub(crate) fn add(&mut self, field: Field, texts: &StringArray, labels: &[&str]) -> Result<()> {
        let key = field.name();
        let misfit = |file: usize, is: &str| {
            let label = labels.get(file).copied().unwrap_or_default();
            Error::new(Code::Source, format!("`{label}`: its partition column `{key}` is {is}"))
                .with_hint(format!("declare `{key}` in `schema` as what it is, or rename the directory"))
        };
        let column = from_text(texts, field.data_type())
            .map_err(|file| misfit(file, &format!("`{}`, which is not {}", texts.value(file), field.data_type())))?;
        if let Some(file) = (0..texts.len()).find(|file| !field.is_nullable() && column.is_null(*file)) {
            return Err(misfit(file, "null, but was declared not nullable"));
        }
        for (file, values) in self.values.iter_mut().enumerate() {
            let value = ScalarValue::try_from_array(&column, file);
            values.push(value.map_err(|cause| Error::internal("a partition's value is none").with_source(cause))?);
        }
        self.fields.push(field);
        Ok(())
    }

    /// Returns the partition columns for `rows` rows of a file.
    pub(crate) fn columns(&self, file: usize, rows: usize) -> Result<Vec<ArrayRef>> {
        let values = self.values.get(file).map(Vec::as_slice).unwrap_or_default();
        values.iter().map(|value| constant(value, rows)).collect()
    }
}

fn keys(input: &Input) -> String {
    let keys: Vec<String> = input.partitions.iter().map(|(key, _)| format!("`{key}`")).collect();
    if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") }
}

fn text(value: &str) -> Option<&str> {
    (value != NULL && !value.is_empty()).then_some(value)
}

/// Infers the type of partition values: Int64, Date32 or Utf8.
fn guess(texts: &StringArray) -> DataType {
    let all = |fits: fn(&str) -> bool| texts.iter().flatten().all(fits);
    if texts.null_count() == texts.len() || texts.iter().flatten().any(is_padded) {
        DataType::Utf8
    } else if all(|text| text.parse::<i64>().is_ok()) {
        DataType::Int64
    } else if all(|text| parse_date(text).is_some()) {
        DataType::Date32
    } else {
        DataType::Utf8
    }
}

/// Returns whether an integer would lose significant digits: `zip=01234`. In `month=01` the zero is only padding.
fn is_padded(text: &str) -> bool {
    text.len() > 2 && is_code(text)
}

/// Returns a partition column of a file, for `rows` rows.
pub(crate) fn constant(value: &ScalarValue, rows: usize) -> Result<ArrayRef> {
    let column = value.to_array_of_size(rows);
    column.map_err(|cause| Error::internal("a partition's value makes no column").with_source(cause))
}
