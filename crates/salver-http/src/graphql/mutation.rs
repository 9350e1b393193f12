//! Mutations: they create, update and delete rows of writable tables. The fields of one document form one transaction,
//! which succeeds or fails as a whole. The rows in the result are read afterwards, as by a query.

use std::sync::Arc;

use apollo_compiler::executable::Operation;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use salver_model::limits::FILTER_TERMS_MAX;
use salver_model::records::{Change, ChangeKind, Changed, Field, Record};
use salver_model::{Caller, Code, Comparison, Error, Filter, Name, Result, Value, hexadecimal};
use salver_service::Service;
use serde_json::{Map, Value as Json};

use crate::graphql::collect::Collected;
use crate::graphql::failure::Problem;
use crate::graphql::graph::{MutationKind, TableType};
use crate::graphql::input::{Arguments, Input};
use crate::graphql::level::Compiler;
use crate::graphql::plan::{DocumentPlan, Level, RootPlan, Work};
use crate::graphql::scalar::Scalar;
use crate::treeql;

/// The root fields of one mutation, in order.
#[derive(Debug)]
pub(crate) struct Mutation {
    steps: Vec<MutationStep>,
}

#[derive(Debug)]
enum MutationStep {
    /// `__typename`.
    Typename(String),
    Change {
        key: String,
        kind: MutationKind,
        database: Name,
        change: Box<Change>,
        level: Option<Box<Level>>,
        table: usize,
    },
}

impl<'a> Compiler<'a> {
    /// Compiles a mutation.
    ///
    /// # Errors
    /// Any error in an argument.
    pub(crate) fn mutation(&self, operation: &'a Operation) -> Result<Mutation> {
        let roots = self.fields(&[&operation.selection_set]);
        let steps = roots.iter().map(|root| self.step(root)).collect::<Result<Vec<_>>>()?;
        let mut databases = steps.iter().filter_map(|step| match step {
            MutationStep::Change { database, .. } => Some(database),
            MutationStep::Typename(_) => None,
        });
        if let Some(first) = databases.next()
            && let Some(other) = databases.find(|other| *other != first)
        {
            let message = format!("one document can't change `{first}` and `{other}`, which are two databases");
            return Err(Error::new(Code::InvalidGraphql, message).with_hint("send a document for each"));
        }
        Ok(Mutation { steps })
    }

    fn step(&self, root: &Collected<'a>) -> Result<MutationStep> {
        let key = root.key().to_owned();
        let found = self.graph.mutations.get(root.field.name.as_str());
        let Some((index, kind)) = found.copied() else { return Ok(MutationStep::Typename(key)) };
        let table = &self.graph.tables[index];
        let Some(writing) = &table.writing else { return Ok(MutationStep::Typename(key)) };
        let arguments = self.arguments(root);
        let mut level = match kind {
            MutationKind::Delete => None,
            _ => Some(Box::new(self.level(index, &root.sets)?)),
        };
        let mut change = match kind {
            MutationKind::Create => {
                let mut change = Change::new(ChangeKind::Create, writing.table.as_str());
                let records = arguments.get("records").map_or(&[][..], Input::items);
                // After creation, the rows are read by their keys, in a single filter.
                let records_max = FILTER_TERMS_MAX / (table.key.len() + 2);
                if records.len() > records_max {
                    let message = format!("`{}` has more than {records_max} records", root.field.name);
                    return Err(Error::new(Code::InvalidGraphql, message).with_hint("send several documents"));
                }
                change.records = records.iter().map(|input| record(table, input)).collect::<Result<_>>()?;
                change.batch = true;
                change.returning = Some(table.key.iter().map(|place| table.columns[*place].column.clone()).collect());
                change
            }
            MutationKind::Update | MutationKind::Delete => {
                let (parts, filter) = key_of(table, &arguments)?;
                if let Some(level) = &mut level {
                    level.query.filter = Some(filter);
                    level.query.limit = Some(1);
                }
                let update = kind == MutationKind::Update;
                let kind = if update { ChangeKind::Update } else { ChangeKind::Delete };
                let mut change = Change::new(kind, writing.table.as_str());
                change.keys_text = parts.join("~");
                // The row is matched by the exact bytes of its key, as everywhere in this door.
                change.exact_keys = true;
                change.keys = vec![parts];
                // A bare null would look like success to a client that selects no field of the row.
                change.must_exist = true;
                if let Some(set) = arguments.get("set").filter(|_| update) {
                    change.records = vec![record(table, set)?];
                }
                change
            }
        };
        change.strict = true;
        Ok(MutationStep::Change {
            key,
            kind,
            database: writing.database.clone(),
            change: Box::new(change),
            level,
            table: index,
        })
    }
}

/// Converts an input object to a record, under the columns' original names.
fn record(table: &TableType, input: &Input) -> Result<Record> {
    let Input::Object(fields) = input else { return Ok(Vec::new()) };
    let one = |(name, value): &(String, Input)| {
        let own = table.column(name);
        let column = own.map_or(name.as_str(), |column| column.column.as_str());
        let field = match value {
            Input::Text(text) if own.is_some_and(|own| own.shape.scalar() == Some(Scalar::Binary)) => {
                Field::Text(base64_of(name, text)?)
            }
            Input::Null => Field::Null,
            Input::Bool(value) => Field::Bool(*value),
            Input::Number(digits) => Field::Number(digits.clone()),
            Input::Text(text) => Field::Text(text.clone()),
            Input::List(_) | Input::Object(_) => Field::Json(json(value).to_string()),
        };
        Ok((column.to_owned(), field))
    };
    fields.iter().map(one).collect()
}

/// Converts bytes from hexadecimal, the form of this door, to Base64, the form of record changes.
fn base64_of(name: &str, text: &str) -> Result<String> {
    hexadecimal::decode(text).map(|bytes| STANDARD.encode(bytes)).ok_or_else(|| {
        Error::new(Code::InvalidValue, format!("`{name}` is binary"))
            .with_hint("write the bytes in hexadecimal, as in `\"1f8b\"`")
    })
}

fn json(input: &Input) -> Json {
    match input {
        Input::Null => Json::Null,
        Input::Bool(value) => (*value).into(),
        Input::Number(digits) => serde_json::from_str(digits).unwrap_or_else(|_| digits.as_str().into()),
        Input::Text(text) => text.as_str().into(),
        Input::List(items) => items.iter().map(json).collect(),
        Input::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), json(value))).collect(),
    }
}

/// Returns the key in the arguments, as text and as a filter.
fn key_of(table: &TableType, arguments: &Arguments) -> Result<(Vec<String>, Filter)> {
    let (mut parts, mut filters) = (Vec::new(), Vec::new());
    for column in table.key.iter().map(|place| &table.columns[*place]) {
        let Some(input) = arguments.get(&column.name) else { continue };
        let value = input.value(&format!("`{}`", column.name))?;
        parts.push(match &value {
            Value::Text(text) if column.shape.scalar() == Some(Scalar::Binary) => base64_of(&column.name, text)?,
            Value::Text(text) => text.clone(),
            other => other.to_string(),
        });
        filters.push(Filter::compare(column.column.as_str(), Comparison::Eq, value));
    }
    Ok((parts, Filter::And(filters)))
}

/// The result of a mutation: the plan for reading the changed rows, or the errors by field; with errors everything was
/// rolled back.
pub(crate) type MutationOutcome = std::result::Result<DocumentPlan, Vec<Problem>>;

impl Mutation {
    /// Runs the changes in one transaction.
    pub(crate) async fn run(self, service: &Service, caller: &Caller, tables: &[TableType]) -> MutationOutcome {
        let mut changes = Vec::new();
        let mut names = None;
        for step in &self.steps {
            if let MutationStep::Change { change, database, .. } = step {
                changes.push((**change).clone());
                names = Some(database.clone());
            }
        }
        let answers = match names {
            None => Vec::new(),
            Some(name) => match transact(service, caller, &name, changes).await {
                Ok(Ok(answers)) => answers,
                Ok(Err(parts)) => return Err(self.failures(&parts)),
                Err(error) => return Err(vec![Problem::at(&[], &error)]),
            },
        };
        let mut answers = answers.into_iter();
        let mut roots = Vec::new();
        for step in self.steps {
            roots.push(match step {
                MutationStep::Typename(key) => RootPlan { key, work: Work::Constant(b"\"Mutation\"".to_vec()) },
                MutationStep::Change { key, kind, level, table, .. } => {
                    let answer = answers.next().unwrap_or(Json::Null);
                    RootPlan { key, work: work(kind, level, &tables[table], &answer) }
                }
            });
        }
        Ok(DocumentPlan { roots })
    }

    fn failures(&self, parts: &[Option<Error>]) -> Vec<Problem> {
        let changes = self.steps.iter().filter_map(|step| match step {
            MutationStep::Change { key, .. } => Some(key),
            MutationStep::Typename(_) => None,
        });
        let failed = changes.zip(parts).filter_map(|(key, part)| part.as_ref().map(|error| (key, error)));
        failed.map(|(key, error)| Problem::at(&[key], &failure(error))).collect()
    }
}

/// Returns the error of a change as documents show it: with the details in the message, and one of two codes.
fn failure(error: &Error) -> Error {
    let details: Map<String, Json> = error.details.iter().cloned().map(|(name, why)| (name, why.into())).collect();
    let details = if details.is_empty() { String::new() } else { format!(": {}", Json::Object(details)) };
    let code = if error.code == Code::RecordNotFound { Code::RecordNotFound } else { Code::Execution };
    Error::new(code, format!("{}{details}", treeql::message(error))).with_hint_if(error.hint.clone())
}

/// The results of changes, or the errors of their parts if they were rolled back.
type Results = std::result::Result<Vec<Json>, Vec<Option<Error>>>;

async fn transact(service: &Service, caller: &Caller, name: &Name, changes: Vec<Change>) -> Result<Results> {
    let found = service.databases().iter().find(|database| database.spec().name == *name);
    let Some(database) = found else { return Err(Error::internal(format!("the database `{name}` is gone"))) };
    match service.transact(caller, database, changes).await? {
        Changed::Done(body) => serde_json::from_slice(&body)
            .map(Ok)
            .map_err(|error| Error::internal("a transaction's answer can't be read").with_source(error)),
        Changed::Undone(parts) => Ok(Err(parts)),
    }
}

/// Returns the work that produces the result of a completed change.
fn work(kind: MutationKind, level: Option<Box<Level>>, table: &TableType, answer: &Json) -> Work {
    let Some(mut level) = level else {
        let there = if answer.as_i64().is_some_and(|rows| rows > 0) { b"true".to_vec() } else { b"false".to_vec() };
        return Work::Constant(there);
    };
    if kind == MutationKind::Update {
        return Work::One(Arc::new(*level));
    }
    let rows = answer.as_array().map_or(&[][..], Vec::as_slice);
    let keys = rows.iter().map(|row| {
        let parts = table.key.iter().map(|place| {
            let column = table.columns[*place].column.as_str();
            Filter::compare(column, Comparison::Eq, value(row.get(column)))
        });
        Filter::And(parts.collect())
    });
    level.query.filter = Some(Filter::Or(keys.collect()));
    level.query.limit = Some(rows.len() as u64);
    Work::Rows(Arc::new(*level))
}

fn value(json: Option<&Json>) -> Value {
    match json {
        Some(Json::Number(number)) => Value::number(&number.to_string()).unwrap_or(Value::Null),
        Some(Json::String(text)) => Value::Bare(text.clone()),
        Some(Json::Bool(value)) => Value::Bool(*value),
        _ => Value::Null,
    }
}
