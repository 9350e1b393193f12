//! What a named query takes and gives: its parameters with their types, and its columns.

use ahash::{AHashMap, AHashSet};
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::sql::sqlparser::ast::Statement;
use std::sync::Arc;

use salver_model::limits::PARAMETERS_MAX;
use salver_model::pg_parameter::{Element, PgContent, PgDatum};
use salver_model::pg_type::Scalar;
use salver_model::ports::{QueryDescription, StatementDescription, StatementQuestion, Tables};
use salver_model::spec::{Parameter, ParameterSpec, QuerySpec};
use salver_model::{
    Code, Error, ParameterType, PgParameter, PgValue, Result, SqlParameters, SqlQuery, TypedValue, suggest,
};

use super::parse;
use super::{admit, columns, plan_statement};
use crate::udf::Files;

mod any_arrays;
mod sibling_types;
mod written_types;

use any_arrays::written_singly;
use sibling_types::write_compared;
use written_types::written_types;

/// Parameter of the door itself, which no query can have.
const RESERVED: &str = "format";

/// Plans a named query; must be called where the stack is large.
pub(super) async fn query(
    state: SessionState,
    functions: &Files,
    tables: Arc<dyn Tables>,
    spec: &QuerySpec,
) -> Result<QueryDescription> {
    let named = all_named(spec, &parse::placeholders(&spec.sql)?)?;
    let types = if named.iter().all(|parameter| parameter.kind.is_some()) {
        AHashMap::new()
    } else {
        let open = SqlQuery { text: spec.sql.clone(), is_safe: true, ..SqlQuery::default() };
        named_types(state.clone(), functions, Arc::clone(&tables), &open).await
    };
    let parameters = named.iter().enumerate().map(|(at, own)| typed(own, at, &types)).collect::<Result<Vec<_>>>()?;
    let values =
        parameters.iter().map(|own| TypedValue { name: own.name.clone(), kind: own.kind, value: own.default.clone() });
    let parameters_given = SqlParameters::Typed(values.collect());
    let query = SqlQuery { text: spec.sql.clone(), parameters: parameters_given, is_safe: true, ..SqlQuery::default() };
    let admitted = admit(parse::parse(&query)?, &query, tables)?;
    let planned = Box::pin(plan_statement(state, functions, admitted, &query)).await?;
    Ok(QueryDescription::new(spec, parameters, columns(&planned)?))
}

/// Plans a statement whose parameters are `$1`, `$2`, ..., or `?`; must be called where the stack is large.
pub(super) async fn statement(
    state: SessionState,
    functions: &Files,
    tables: Arc<dyn Tables>,
    question: StatementQuestion<'_>,
) -> Result<StatementDescription> {
    let StatementQuestion { text, types, wants_columns } = question;
    let mut count = types.len();
    let mut in_order = 0;
    for parse::Placeholder { text, line, column } in parse::placeholders(text)? {
        in_order += usize::from(text == "?");
        let number = match text.strip_prefix('$') {
            Some(digits) => digits.parse::<usize>().ok(),
            None => (text == "?").then_some(in_order),
        };
        let number = number.filter(|number| (1..=PARAMETERS_MAX).contains(number)).ok_or_else(|| {
            let message = format!("`{text}` at line {line}, column {column} is no parameter");
            Error::new(Code::InvalidSql, message).with_hint("write `$1` for the first, `$2` for the second")
        })?;
        count = count.max(number);
    }
    let query = SqlQuery { text: text.to_owned(), sees_system_catalog: true, ..SqlQuery::default() };
    let told = if count > types.iter().flatten().count() {
        exact_types(state.clone(), functions, Arc::clone(&tables), &query).await
    } else {
        AHashMap::new()
    };
    let kind = |at: usize| types.get(at).copied().flatten().or_else(|| told.get(&(at + 1).to_string()).copied());
    let parameters: Vec<PgParameter> = (0..count).map(|at| kind(at).unwrap_or(PgParameter::TEXT)).collect();
    if !wants_columns {
        return Ok(StatementDescription { parameters, columns: None });
    }
    let values: Vec<PgValue> = parameters.iter().map(|kind| sample(*kind)).collect();
    let given = if values.is_empty() { SqlParameters::None } else { SqlParameters::Exact(values) };
    let query = SqlQuery { parameters: given, ..query };
    let admitted = admit(parse::parse(&query)?, &query, tables)?;
    let planned = Box::pin(plan_statement(state, functions, admitted, &query)).await?;
    Ok(StatementDescription { parameters, columns: Some(columns(&planned)?) })
}

/// Returns a value that a statement is planned with. A limit must be a number, and an array must have an element;
/// everything else may be null.
fn sample(kind: PgParameter) -> PgValue {
    let one = match kind.element {
        Element::Of(Scalar::Int2 | Scalar::Int4 | Scalar::Int8 | Scalar::Oid) => Some(PgDatum::Int(1)),
        _ => None,
    };
    let content = if kind.is_array { Some(PgContent::Array(vec![one])) } else { one.map(PgContent::One) };
    PgValue { kind, content }
}

/// Returns the parameters: the declared ones, and the others that stand in the statement.
fn all_named(spec: &QuerySpec, found: &[parse::Placeholder]) -> Result<Vec<ParameterSpec>> {
    let mut all = spec.parameters.clone();
    let mut used = vec![false; all.len()];
    for placeholder in found {
        let parse::Placeholder { text, line, column } = placeholder;
        let refused =
            |what: &str| Error::new(Code::InvalidSql, format!("`{text}` at line {line}, column {column} {what}"));
        let Some(name) = text.strip_prefix('$').filter(|name| !name.is_empty()) else {
            return Err(refused("has no name").with_hint("write `$name`, or `$1` for the first declared parameter"));
        };
        let known = match name.parse::<usize>() {
            Ok(number) => match number.checked_sub(1).filter(|at| *at < spec.parameters.len()) {
                Some(at) => Some(at),
                None => {
                    return Err(refused("is not declared")
                        .with_hint("add a [[query.parameter]]: `$1` is the first of them, `$2` the second"));
                }
            },
            Err(_) => all.iter().position(|own| own.name == name),
        };
        match known {
            Some(at) => used[at] = true,
            None if name == RESERVED => {
                return Err(refused("is the parameter that chooses the format").with_hint("give it another name"));
            }
            None => {
                let (name, description) = (name.to_owned(), String::new());
                all.push(ParameterSpec { name, kind: None, default: None, required: true, description });
                used.push(true);
            }
        }
    }
    match all.iter().zip(&used).find(|(_, used)| !**used) {
        None => Ok(all),
        Some((unused, _)) => {
            let names = found.iter().map(|own| own.text.trim_start_matches('$'));
            Err(Error::new(Code::Config, format!("the statement has no `${}`, which is declared", unused.name))
                .with_hint_if(suggest::hint(&unused.name, names)))
        }
    }
}

/// Returns the types of the placeholders of a named query.
async fn named_types(
    state: SessionState,
    functions: &Files,
    tables: Arc<dyn Tables>,
    query: &SqlQuery,
) -> AHashMap<String, ParameterType> {
    let Ok(mut statement) = parse::parse_open(&query.text) else { return AHashMap::new() };
    let written = written_types(&statement).into_iter().map(|(name, kind)| (name, kind_of_written(kind)));
    let written: Vec<(String, ParameterType)> = written.collect();
    write_compared(&mut statement);
    let found = inferred(state, functions, tables, (statement, query)).await;
    let found = found.into_iter().map(|(name, data_type)| (name, parameter_type(&data_type)));
    found.chain(written).collect()
}

/// Returns the types of the placeholders of a statement, as PostgreSQL has them.
async fn exact_types(
    state: SessionState,
    functions: &Files,
    tables: Arc<dyn Tables>,
    query: &SqlQuery,
) -> AHashMap<String, PgParameter> {
    let Ok(mut statement) = parse::parse_open(&query.text) else { return AHashMap::new() };
    let written = written_types(&statement);
    let arrays: AHashSet<String> = written_singly(&mut statement);
    write_compared(&mut statement);
    let found = inferred(state, functions, tables, (statement, query)).await;
    let exact = |(name, data_type): (String, DataType)| {
        let own = PgParameter::of(&data_type);
        let is_array = own.is_array || arrays.contains(&name);
        (name, PgParameter { is_array, ..own })
    };
    let unknown = arrays.iter().map(|name| (name.clone(), PgParameter { is_array: true, ..PgParameter::TEXT }));
    unknown.chain(found.into_iter().map(exact)).chain(written).collect()
}

/// Returns the types that the engine finds for placeholders in what they are compared with, the first for each. Values
/// make more statements valid than placeholders do, so that a failure says nothing.
async fn inferred(
    state: SessionState,
    functions: &Files,
    tables: Arc<dyn Tables>,
    (statement, query): (Statement, &SqlQuery),
) -> AHashMap<String, DataType> {
    let mut found = AHashMap::new();
    let Ok(admitted) = admit(statement, query, tables) else { return found };
    let Ok(planned) = Box::pin(plan_statement(state, functions, admitted, query)).await else { return found };
    let mut note = |part: &Expr| {
        if let Expr::Placeholder(Placeholder { id, field: Some(field) }) = part {
            let name = id.trim_start_matches('$').to_owned();
            found.entry(name).or_insert_with(|| field.data_type().clone());
        }
        Ok(TreeNodeRecursion::Continue)
    };
    // Nothing in it fails.
    let _ = planned.plan.apply_with_subqueries(|node| node.apply_expressions(|expression| expression.apply(&mut note)));
    found
}

/// Returns the type of a named query's parameter that a cast or a limit says.
fn kind_of_written(kind: PgParameter) -> ParameterType {
    match kind {
        PgParameter { is_array: false, element: Element::Of(scalar) } => match scalar {
            Scalar::Int2 | Scalar::Int4 | Scalar::Int8 | Scalar::Oid => ParameterType::Integer,
            Scalar::Float4 | Scalar::Float8 => ParameterType::Number,
            Scalar::Bool => ParameterType::Boolean,
            Scalar::Date => ParameterType::Date,
            Scalar::Timestamp | Scalar::TimestampTz => ParameterType::Timestamp,
            _ => ParameterType::Text,
        },
        _ => ParameterType::Text,
    }
}

fn parameter_type(data_type: &DataType) -> ParameterType {
    match data_type {
        data_type if data_type.is_integer() => ParameterType::Integer,
        data_type if data_type.is_numeric() => ParameterType::Number,
        DataType::Boolean => ParameterType::Boolean,
        DataType::Date32 | DataType::Date64 => ParameterType::Date,
        DataType::Timestamp(..) => ParameterType::Timestamp,
        _ => ParameterType::Text,
    }
}

/// Returns the parameter at `at` with its type and its default.
fn typed(spec: &ParameterSpec, at: usize, types: &AHashMap<String, ParameterType>) -> Result<Parameter> {
    let inferred = || types.get(&spec.name).or_else(|| types.get(&(at + 1).to_string())).copied();
    let kind = spec.kind.or_else(inferred).unwrap_or_default();
    let default = spec.default.as_deref().map(|text| {
        kind.parse(text).ok_or_else(|| {
            let message = format!("the default of `{}` is `{text}`, and not {}", spec.name, kind.example());
            Error::new(Code::Config, message).with_hint(format!("the type of the parameter is `{}`", kind.word()))
        })
    });
    Ok(Parameter {
        name: spec.name.clone(),
        kind,
        default: default.transpose()?,
        default_text: spec.default.clone(),
        required: spec.required && spec.default.is_none(),
        description: spec.description.clone(),
    })
}
