//! Functions of texts.

use std::hash::{Hash, Hasher};

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};

use super::super::row_function::{answered, rows_of};

/// Function of texts, some of which, such as patterns, are mostly the same in every row.
#[derive(Debug)]
pub(super) struct TextFunction {
    pub(super) name: &'static str,
    pub(super) signature: Signature,
    /// Returns the result type.
    pub(super) returns: fn() -> DataType,
    /// Computes the values from the arguments as texts, for this number of rows.
    pub(super) values: fn(&[Texts], usize) -> Result<ArrayRef>,
}

/// An argument of a [`TextFunction`].
pub(super) struct Texts {
    array: StringArray,
    /// Whether it is one text for all rows.
    pub(super) is_same: bool,
}

impl Texts {
    fn of(argument: &ColumnarValue) -> Result<Self> {
        let (array, is_same) = match argument {
            ColumnarValue::Scalar(value) => (value.to_array_of_size(1)?, true),
            ColumnarValue::Array(array) => (ArrayRef::clone(array), false),
        };
        Ok(Self { array: cast(&array, &DataType::Utf8)?.as_string::<i32>().clone(), is_same })
    }

    /// Returns the text in a row, `None` for null.
    pub(super) fn get(&self, row: usize) -> Option<&str> {
        let row = if self.is_same { 0 } else { row };
        (!self.array.is_null(row)).then(|| self.array.value(row))
    }
}

impl TextFunction {
    pub(super) fn function(self) -> ScalarUDF {
        ScalarUDF::new_from_impl(self)
    }
}

impl PartialEq for TextFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for TextFunction {}

impl Hash for TextFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for TextFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok((self.returns)())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let texts = args.args.iter().map(Texts::of).collect::<Result<Vec<_>>>()?;
        let (are_constants, rows) = rows_of(&args);
        answered((self.values)(&texts, rows)?, are_constants)
    }
}
