//! Named queries as root fields: their arguments become the values of parameters, and their rows are read like those of
//! `/api/queries`.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use salver_model::spec::{Parameter, RunsAs};
use salver_model::{Code, Error, ParameterType, Result, Value};

use crate::graphql::collect::Collected;
use crate::graphql::input::Input;
use crate::graphql::level::{Compiler, field_plan};
use crate::graphql::plan::{QueryCall, Selection, ValuePlan};
use crate::graphql::run::{Reading, Runner};
use crate::graphql::scalar::Scalar;

/// Characters of a wrong value that its error repeats.
const SHOWN_CHARS: usize = 100;

impl<'a> Compiler<'a> {
    /// Compiles the call of a named query, by its index in the graph.
    ///
    /// # Errors
    /// `InvalidValue` for an argument that is no value of its parameter.
    pub(crate) fn named(&self, query: usize, root: &Collected<'a>) -> Result<QueryCall> {
        let of = &self.graph.queries.all[query];
        let mut fields = Vec::new();
        for field in self.fields(&root.sets) {
            let found = of.columns.iter().position(|column| column.name == field.field.name.as_str());
            let value = match found {
                None => ValuePlan::Constant(format!("\"{}\"", of.type_name).into_bytes()),
                Some(index) => ValuePlan::Column(index, self.part(&of.columns[index].shape, &field.sets)),
            };
            fields.push(field_plan(field.key(), fields.is_empty(), value));
        }
        let arguments = self.arguments(root).0;
        let mut values = Vec::with_capacity(of.arguments.len());
        for (name, parameter) in of.arguments.iter().zip(&of.description.parameters) {
            let given = arguments.iter().find(|(own, _)| own == name).map(|(_, input)| input);
            values.push(parameter.filled(given.map(|input| value(parameter, input)).transpose()?.flatten()));
        }
        let selection = Arc::new(Selection { fields, relations: Vec::new() });
        Ok(QueryCall { query, statement: of.query.statement(values), selection })
    }
}

/// Returns the value of an argument; `None` for null.
fn value(parameter: &Parameter, input: &Input) -> Result<Option<Value>> {
    let (name, kind) = (&parameter.name, parameter.kind);
    let text = match (input, kind) {
        (Input::Null, _) if parameter.default.is_none() && !parameter.required => return Ok(None),
        (Input::Null, _) => {
            let error = Error::new(Code::InvalidValue, format!("the parameter `{name}` can't be null"));
            let hint = parameter.default.is_some().then(|| "leave it out for its default".to_owned());
            return Err(error.with_hint_if(hint));
        }
        (Input::Bool(value), ParameterType::Boolean) => return Ok(Some(Value::Bool(*value))),
        (Input::Number(digits), ParameterType::Integer | ParameterType::Number) => digits.clone(),
        // Clients whose numbers have fewer digits send whole numbers as text.
        (Input::Text(text), kind) if kind != ParameterType::Boolean => text.clone(),
        (Input::Number(other) | Input::Text(other), _) => return Err(wrong(parameter, other)),
        (Input::Bool(other), _) => return Err(wrong(parameter, &other.to_string())),
        (Input::List(_), _) => return Err(wrong(parameter, "a list")),
        (Input::Object(_), _) => return Err(wrong(parameter, "an object")),
    };
    kind.parse(&text).map(Some).ok_or_else(|| wrong(parameter, &text))
}

fn wrong(parameter: &Parameter, text: &str) -> Error {
    let (name, kind) = (&parameter.name, parameter.kind);
    let shown: String = text.chars().take(SHOWN_CHARS).collect();
    let message = format!("the parameter `{name}` can't be `{shown}`: it is of type {}", kind.word());
    Error::new(Code::InvalidValue, message).with_hint(format!("send {}", kind.example()))
}

impl<'a> Runner<'a> {
    /// Runs a named query with a permit of the document, over the catalog of the document, or over all of it where the
    /// query has the operator's rights.
    pub(crate) async fn run_named(&self, call: &QueryCall) -> Result<Reading<'a>> {
        let of = &self.graph.queries.all[call.query];
        let turn = self.budget.turn().await?;
        let snapshot = match of.query.spec().runs_as {
            RunsAs::Owner if self.caller.grants.is_some() => self.whole.get_or_init(|| self.service.snapshot_of_all()),
            RunsAs::Caller | RunsAs::Owner => self.snapshot,
        };
        let rows = self.service.run_query(self.caller, &of.query, (snapshot, &call.statement)).await?;
        if fits(&of.description.columns, &rows.schema) {
            return Ok(Reading { rows, turn });
        }
        let message = format!("the columns of the query `{}` have just changed", of.query.spec().name);
        Err(Error::new(Code::EntryUnavailable, message).with_hint("send the document again"))
    }
}

/// Returns whether rows with the columns of `now` can be given as those that are `described`. What is computed from a
/// number may be of another type of number for another value.
fn fits(described: &Schema, now: &Schema) -> bool {
    let is_like = |one: &DataType, two: &DataType| {
        let (first, second) = (Scalar::of(one), Scalar::of(two));
        one == two || first != Scalar::Json && first == second || first.is_numeric() && second.is_numeric()
    };
    let mut pairs = described.fields().iter().zip(now.fields());
    described.fields().len() == now.fields().len()
        && pairs.all(|(one, two)| one.name() == two.name() && is_like(one.data_type(), two.data_type()))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field, Fields, Schema};

    use super::fits;

    #[test]
    fn columns_that_fit() {
        let of = |name: &str, data_type: DataType| Schema::new(vec![Field::new(name, data_type, true)]);
        let nested = |name: &str| DataType::Struct(Fields::from(vec![Field::new(name, DataType::Int64, true)]));
        for (one, two, expected) in [
            (of("a", DataType::Int64), of("a", DataType::Float64), true),
            (of("a", DataType::Utf8), of("a", DataType::Utf8View), true),
            (of("a", DataType::Int64), of("a", DataType::Utf8), false),
            (of("a", DataType::Int64), of("b", DataType::Int64), false),
            (of("a", nested("x")), of("a", nested("x")), true),
            (of("a", nested("x")), of("a", nested("y")), false),
            (of("a", DataType::Int64), Schema::empty(), false),
        ] {
            assert_eq!(fits(&one, &two), expected, "{one:?} {two:?}");
        }
    }
}
