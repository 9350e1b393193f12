//! Adapter from functions over rows to functions of the engine.

use std::hash::{Hash, Hasher};

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};

/// Function that returns a value for each row of its arguments.
#[derive(Debug)]
pub(super) struct RowFunction {
    pub(super) name: &'static str,
    pub(super) signature: Signature,
    /// Returns the result type.
    pub(super) returns: fn(&[DataType]) -> Result<DataType>,
    /// Computes the values from arguments of the same length, as an array of that type.
    pub(super) values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>,
}

impl RowFunction {
    pub(super) fn function(self) -> ScalarUDF {
        ScalarUDF::new_from_impl(self)
    }
}

impl PartialEq for RowFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for RowFunction {}

impl Hash for RowFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for RowFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        (self.returns)(arg_types)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let all_scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if all_scalar { 1 } else { args.number_rows };
        let arrays = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<_>>>()?;
        let values = (self.values)(&arrays, args.return_field.data_type())?;
        if all_scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?));
        }
        Ok(ColumnarValue::Array(values))
    }
}

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
        let all_same = texts.iter().all(|texts| texts.is_same);
        let values = (self.values)(&texts, if all_same { 1 } else { args.number_rows })?;
        if all_same {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?));
        }
        Ok(ColumnarValue::Array(values))
    }
}
