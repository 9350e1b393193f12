//! `strpos(text, part)`, in linear time even if the part differs per row; the engine's own then compares it at every
//! position.

use std::sync::Arc;

use arrow::array::{AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, plan_err};
use datafusion::functions::unicode;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

use super::super::row_function::computed;

/// Returns the function, which is `position` and `instr` as well.
pub(super) fn strpos() -> ScalarUDF {
    ScalarUDF::new_from_impl(Located(unicode::strpos()))
}

/// Wrapper of the engine's function, which searches one part in many texts.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Located(Arc<ScalarUDF>);

impl ScalarUDFImpl for Located {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn aliases(&self) -> &[String] {
        self.0.aliases()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.0.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.0.return_field_from_args(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if matches!(args.args.as_slice(), [ColumnarValue::Array(_), ColumnarValue::Scalar(_)]) {
            return self.0.invoke_with_args(args);
        }
        computed(&args, |arrays| {
            let [texts, parts] = arrays else { return plan_err!("`strpos` takes a text and a part of it") };
            let (texts, parts) = (cast(texts, &DataType::Utf8)?, cast(parts, &DataType::Utf8)?);
            let pairs = texts.as_string::<i32>().iter().zip(parts.as_string::<i32>());
            let places = pairs.map(|(text, part)| Some(place(text?, part?))).collect::<Int64Array>();
            Ok(cast(&places, args.return_field.data_type())?)
        })
    }
}

/// Returns the position of the part in characters, counted from 1; 0 if it does not occur.
fn place(text: &str, part: &str) -> i64 {
    text.find(part).map_or(0, |at| i64::try_from(text[..at].chars().count() + 1).unwrap_or(i64::MAX))
}
