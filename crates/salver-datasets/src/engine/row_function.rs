//! Functions over rows as functions of the engine. What is computed of constants alone is computed once, and is a
//! constant itself.

use std::hash::{Hash, Hasher};

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

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

    /// Returns a function of one argument of any type.
    pub(super) fn of_one(
        name: &'static str,
        returns: fn(&[DataType]) -> Result<DataType>,
        values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>,
    ) -> ScalarUDF {
        Self { name, signature: Signature::any(1, Volatility::Immutable), returns, values }.function()
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
        computed(&args, |arrays| (self.values)(arrays, args.return_field.data_type()))
    }
}

/// Returns the type of the only argument.
pub(super) fn same_type(types: &[DataType]) -> Result<DataType> {
    match types {
        [only] => Ok(only.clone()),
        _ => internal_err!("a function of one argument has {}", types.len()),
    }
}

/// Returns whether all arguments are constants, and the number of rows to compute: one of constants.
pub(super) fn rows_of(args: &ScalarFunctionArgs) -> (bool, usize) {
    let are_constants = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    (are_constants, if are_constants { 1 } else { args.number_rows })
}

/// Returns computed values as the column they are, or as the constant of the only row.
pub(super) fn answered(values: ArrayRef, is_constant: bool) -> Result<ColumnarValue> {
    if is_constant {
        return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?));
    }
    Ok(ColumnarValue::Array(values))
}

/// Computes values from the arguments as arrays of equal length.
pub(super) fn computed(
    args: &ScalarFunctionArgs,
    compute: impl FnOnce(&[ArrayRef]) -> Result<ArrayRef>,
) -> Result<ColumnarValue> {
    let (are_constants, rows) = rows_of(args);
    let arrays = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<_>>>()?;
    answered(compute(&arrays)?, are_constants)
}
