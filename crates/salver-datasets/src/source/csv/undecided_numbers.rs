//! Numbers such as `1.234`, which are one and a fraction, or more than a thousand where decimals have commas. A column
//! can't tell; the other columns and files of the dataset can. Where some of them have decimal commas, such a column is
//! read as its namesake in another file, or else as text.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Result};

use super::super::{Input, Outline};
use super::column_inference::{THOUSANDS_POINTS, Told, notes};

/// Settles how such columns are read, in the columns of all files; returns whether there are any.
///
/// # Errors
/// [`Code::Source`] if the column is declared as a number, and no file tells which.
pub(crate) fn settle_numbers(outlines: &mut [Outline], inputs: &[Input], spec: &DatasetSpec) -> Result<bool> {
    let is_open = outlines.iter().any(|outline| !outline.undecided.is_empty());
    if !is_open || !outlines.iter().any(|outline| outline.shows_commas) {
        return Ok(false);
    }
    let grouped = outlines.iter().flat_map(|outline| outline.forms.iter());
    let grouped = grouped.filter(|(_, form)| form.marks == THOUSANDS_POINTS.marks);
    let grouped: HashMap<String, _> = grouped.map(|(name, form)| (name.clone(), *form)).collect();
    for (outline, input) in outlines.iter_mut().zip(inputs) {
        let (decided, open): (Vec<_>, Vec<_>) =
            outline.undecided.drain(..).partition(|name| grouped.contains_key(name));
        if !decided.is_empty() {
            let forms = Arc::make_mut(&mut outline.forms);
            forms.extend(decided.into_iter().filter_map(|name| grouped.get(&name).map(|form| (name, *form))));
        }
        let declared = |name: &String| spec.schema.iter().find(|column| column.name == *name);
        let (declared, open): (Vec<_>, Vec<_>) = open.into_iter().partition(|name| declared(name).is_some());
        if let Some(name) = declared.iter().find(|name| is_number(spec, name)) {
            return Err(unclear(&input.label, name));
        }
        let fields = outline.schema.fields().iter().map(|field| match open.contains(field.name()) {
            true => Arc::new(Field::new(field.name(), DataType::Utf8, true)),
            false => Arc::clone(field),
        });
        outline.schema.fields = fields.collect();
        outline.guesses.extend(notes(open.iter().map(|name| (name.as_str(), Told::AmbiguousNumbers))));
    }
    Ok(true)
}

fn is_number(spec: &DatasetSpec, name: &str) -> bool {
    spec.schema.iter().any(|column| column.name == name && column.data_type.is_numeric())
}

fn unclear(label: &str, name: &str) -> Error {
    let message = format!(
        "`{label}`: column `{name}` has numbers such as `1.234`, and others of the dataset have decimal commas: the \
         points may stand before decimals or between thousands"
    );
    Error::new(Code::Source, message).with_hint("set `decimal`, and `thousands` if there are any")
}
