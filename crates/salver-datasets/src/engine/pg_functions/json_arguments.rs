//! Functions of JSON, which is text, and what they take beside it: keys, places, and paths, which are arrays of texts
//! or texts such as `{a,b,0}`.

use std::hash::{Hash, Hasher};

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ExpressionPlacement, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::json_document::{Fault, Step, comparable, normal};
use super::super::literal_text::{Element, elements};
use super::super::row_function::{answered, rows_of};
use super::text_cast::item;

/// A function whose first argument is JSON.
#[derive(Debug)]
pub(super) struct JsonFunction {
    name: &'static str,
    signature: Signature,
    returns: DataType,
    /// Whether it takes a part out of a column, which is best done where the column is read.
    takes_part: bool,
    values: fn(&[Argument], usize) -> Result<ArrayRef>,
}

impl JsonFunction {
    /// Returns a function of so many arguments.
    pub(super) fn of(
        name: &'static str,
        count: usize,
        returns: DataType,
        values: fn(&[Argument], usize) -> Result<ArrayRef>,
    ) -> ScalarUDF {
        let signature = Signature::any(count, Volatility::Immutable);
        ScalarUDF::new_from_impl(Self { name, signature, returns, takes_part: false, values })
    }

    /// Returns a function of three arguments or four.
    pub(super) fn of_three(name: &'static str, values: fn(&[Argument], usize) -> Result<ArrayRef>) -> ScalarUDF {
        let counts = [3, 4].map(|count| Signature::any(count, Volatility::Immutable).type_signature);
        let signature = Signature::one_of(counts.into(), Volatility::Immutable);
        ScalarUDF::new_from_impl(Self { name, signature, returns: DataType::Utf8, takes_part: false, values })
    }

    /// Returns a function of any number of documents.
    pub(super) fn of_any(name: &'static str, values: fn(&[Argument], usize) -> Result<ArrayRef>) -> ScalarUDF {
        let signature = Signature::variadic_any(Volatility::Immutable);
        ScalarUDF::new_from_impl(Self { name, signature, returns: DataType::Utf8, takes_part: false, values })
    }

    /// Returns a function that takes a part, at the end of any number of steps.
    pub(super) fn of_steps(name: &'static str, values: fn(&[Argument], usize) -> Result<ArrayRef>) -> ScalarUDF {
        let signature = Signature::variadic_any(Volatility::Immutable);
        ScalarUDF::new_from_impl(Self { name, signature, returns: DataType::Utf8, takes_part: true, values })
    }
}

impl PartialEq for JsonFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for JsonFunction {}

impl Hash for JsonFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for JsonFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types.first() {
            Some(DataType::Struct(_) | DataType::Map(..)) => {
                plan_err!("`{}` takes JSON, which is text: `to_json(x)` makes it", self.name)
            }
            Some(own) if item(own).is_some() => {
                plan_err!("`{}` takes JSON, which is text: `to_json(x)` makes it of an array", self.name)
            }
            _ => Ok(self.returns.clone()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arguments = args.args.iter().map(Argument::of).collect::<Result<Vec<_>>>()?;
        let (are_constants, rows) = rows_of(&args);
        answered((self.values)(&arguments, rows)?, are_constants)
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        match args.split_first() {
            Some((ExpressionPlacement::Column, behind))
                if self.takes_part && behind.iter().all(|arg| matches!(arg, ExpressionPlacement::Literal)) =>
            {
                ExpressionPlacement::MoveTowardsLeafNodes
            }
            _ => ExpressionPlacement::KeepInPlace,
        }
    }
}

/// What an argument has.
enum Values {
    Texts(StringArray),
    Numbers(Int64Array),
    /// Lists of texts.
    Lists(ListArray),
}

/// An argument of a [`JsonFunction`].
pub(super) struct Argument {
    values: Values,
    /// Whether it is the same in all rows.
    pub(super) is_same: bool,
}

impl Argument {
    fn of(value: &ColumnarValue) -> Result<Self> {
        let (array, is_same) = match value {
            ColumnarValue::Scalar(value) => (value.to_array_of_size(1)?, true),
            ColumnarValue::Array(array) => (ArrayRef::clone(array), false),
        };
        let array = unfolded(array)?;
        let values = if array.data_type().is_integer() {
            Values::Numbers(cast(&array, &DataType::Int64)?.as_primitive::<Int64Type>().clone())
        } else if item(array.data_type()).is_some() {
            let texts = DataType::new_list(DataType::Utf8, true);
            Values::Lists(cast(&array, &texts)?.as_list::<i32>().clone())
        } else {
            Values::Texts(cast(&array, &DataType::Utf8)?.as_string::<i32>().clone())
        };
        Ok(Self { values, is_same })
    }

    fn row(&self, row: usize) -> usize {
        if self.is_same { 0 } else { row }
    }

    fn array(&self) -> &dyn Array {
        match &self.values {
            Values::Texts(texts) => texts,
            Values::Numbers(numbers) => numbers,
            Values::Lists(lists) => lists,
        }
    }

    /// Returns whether there is nothing in a row.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.array().is_null(self.row(row))
    }

    /// Returns the number in a row; `None` for what is not one.
    pub(super) fn number(&self, row: usize) -> Option<i64> {
        match &self.values {
            Values::Numbers(numbers) if !self.is_null(row) => Some(numbers.value(self.row(row))),
            _ => None,
        }
    }

    /// Returns the text in a row; `None` for null and for what is not a text.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        match &self.values {
            Values::Texts(texts) if !self.is_null(row) => Some(texts.value(self.row(row))),
            _ => None,
        }
    }

    /// Returns a row as JSON: a number is JSON itself.
    pub(super) fn document(&self, row: usize) -> Option<std::borrow::Cow<'_, str>> {
        let number = || self.number(row).map(|number| number.to_string().into());
        self.text(row).map(Into::into).or_else(number)
    }

    /// Returns whether an argument is an array.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.values, Values::Lists(_))
    }

    /// Returns the elements of an array in a row, or of a text such as `{a,b}`; `None` for null.
    ///
    /// # Errors
    /// A text that is no array.
    pub(super) fn path(&self, row: usize) -> Result<Option<Vec<Option<String>>>> {
        if self.is_null(row) {
            return Ok(None);
        }
        match &self.values {
            Values::Lists(lists) => {
                let items = lists.value(self.row(row));
                let items = items.as_string::<i32>().iter();
                Ok(Some(items.map(|item| item.map(str::to_owned)).collect()))
            }
            Values::Texts(texts) => {
                let text = texts.value(self.row(row));
                let Ok(all) = elements(text) else {
                    return exec_err!("`{text}` is not a path: that is an array of texts, as `{{a,b,0}}`");
                };
                let step = |element| match element {
                    Element::Null => Ok(None),
                    Element::Text(text) => Ok(Some(text)),
                    Element::Array(_) => exec_err!("`{text}` is not a path: it has arrays in it"),
                };
                all.into_iter().map(step).collect::<Result<_>>().map(Some)
            }
            Values::Numbers(_) => exec_err!("a path is an array of texts, as `{{a,b,0}}`, and no number"),
        }
    }

    /// Returns the step that an argument is in a row: to a key, or to a place. `None` for null.
    pub(super) fn step(&self, row: usize) -> Result<Option<Step>> {
        match &self.values {
            Values::Lists(_) => exec_err!("`->` takes one step: for a path write `#>`"),
            _ => Ok(self.number(row).map(Step::Index).or_else(|| self.text(row).map(|key| Step::Key(key.to_owned())))),
        }
    }
}

/// Returns what `json_get` gave as the JSON that it is.
fn unfolded(array: ArrayRef) -> Result<ArrayRef> {
    if !matches!(array.data_type(), DataType::Union(..)) {
        return Ok(array);
    }
    let texts = datafusion_functions_json::udfs::json_union_to_text_udf();
    let field = |name, own: DataType| std::sync::Arc::new(arrow::datatypes::Field::new(name, own, true));
    let rows = array.len();
    let args = ScalarFunctionArgs {
        arg_fields: vec![field("json", array.data_type().clone())],
        args: vec![ColumnarValue::Array(array)],
        number_rows: rows,
        return_field: field("text", DataType::Utf8View),
        config_options: std::sync::Arc::default(),
    };
    texts.invoke_with_args(args)?.into_array(rows)
}

/// Returns the normal form of a text.
///
/// # Errors
/// A text that is not JSON.
pub(super) fn read(text: &str) -> Result<String> {
    within(text, normal(text))
}

/// Returns the form of a text by which documents are compared.
///
/// # Errors
/// A text that is not JSON.
pub(super) fn read_comparable(text: &str) -> Result<String> {
    within(text, comparable(text))
}

fn within(text: &str, form: Result<String, Fault>) -> Result<String> {
    match form {
        Ok(form) => Ok(form),
        Err(fault) => exec_err!("{}", fault.about(text)),
    }
}
