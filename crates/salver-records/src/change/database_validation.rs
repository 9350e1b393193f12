//! Values that only the database can validate, and which of them a rejection is about: PostgreSQL names the text and
//! its type, but not the column.

use salver_model::Code;
use salver_model::Error;
use salver_model::records::{ColumnInfo, ColumnKind, Operation, TableInfo};

use super::context::WriteContext;
use super::record::Values;
use crate::backend::misfit;
use crate::dialect::{Dialect, type_name};
use crate::statement::Bind;

/// A value that is not validated here.
#[derive(Debug)]
pub(crate) struct Judged {
    /// Index of the column in its table.
    column: usize,
    /// The text that the server parses, where it is known.
    text: Option<String>,
}

/// Returns those among the values of a record.
pub(crate) fn among(ground: &WriteContext<'_>, values: &Values) -> Vec<Judged> {
    if ground.scope.dialect != Dialect::Postgres {
        return Vec::new();
    }
    let adds = ground.operation == Operation::Increment;
    let own = values.iter().filter_map(|(column, bind)| match bind {
        Bind::Text(text) if adds || is_judged(&ground.table.columns[*column]) => {
            Some(Judged { column: *column, text: Some(text.clone()) })
        }
        Bind::Int(_) | Bind::Float(_) if adds => Some(Judged { column: *column, text: None }),
        _ => None,
    });
    own.collect()
}

/// Returns those of a load into these columns.
pub(crate) fn in_columns(ground: &WriteContext<'_>, columns: &[usize]) -> Vec<Judged> {
    let judged =
        |column: &&usize| ground.scope.dialect == Dialect::Postgres && is_judged(&ground.table.columns[**column]);
    columns.iter().filter(judged).map(|column| Judged { column: *column, text: None }).collect()
}

/// Returns whether the server may reject a value that passed validation here.
fn is_judged(column: &ColumnInfo) -> bool {
    match column.kind {
        ColumnKind::Varchar | ColumnKind::Clob => !Dialect::Postgres.is_plain_text(column),
        ColumnKind::Json | ColumnKind::Geometry | ColumnKind::Decimal | ColumnKind::Date | ColumnKind::Timestamp => {
            true
        }
        _ => false,
    }
}

/// Adds the column to the error of a rejected value, where it is certain.
pub(crate) fn blame<'j>(table: &TableInfo, judged: impl Iterator<Item = &'j Judged>, error: &mut Error) {
    if error.code != Code::Invalid {
        return;
    }
    // The server names the column by its real name.
    for (name, _) in &mut error.details {
        if let Some(own) = table.columns.iter().find(|column| column.real_name == *name) {
            name.clone_from(&own.name);
        }
    }
    if !error.details.is_empty() {
        return;
    }
    let Some((words, named)) = misfit(error) else { return };
    let judged: Vec<&Judged> = judged.collect();
    // Columns other than the written ones may be hidden from the caller.
    let own = named.and_then(|name| judged.iter().find(|one| table.columns[one.column].real_name == name));
    let found = own.map_or_else(|| meant(table, &judged, words), |one| vec![&table.columns[one.column]]);
    error.details = found.into_iter().map(|own| (own.name.clone(), format!("invalid {}", own.own_type()))).collect();
}

/// Returns the columns that the server's message is about; none where it is ambiguous.
fn meant<'t>(table: &'t TableInfo, judged: &[&Judged], words: &str) -> Vec<&'t ColumnInfo> {
    let info = |one: &&Judged| &table.columns[one.column];
    let lower = words.to_lowercase();
    // The whole text, or a part of it: an element of an array.
    let quoted = words.find('"').zip(words.rfind('"')).and_then(|(from, to)| words.get(from + 1..to));
    let is_typed = |one: &&&Judged| lower.contains(&type_name(info(one).own_type()).to_lowercase());
    let all: Vec<&Judged> = match quoted {
        Some(quoted) => {
            let exact = |one: &&&Judged| one.text.as_deref() == Some(quoted);
            let within = |one: &&&Judged| one.text.as_ref().is_none_or(|text| text.contains(quoted));
            let own: Vec<&Judged> = judged.iter().filter(exact).copied().collect();
            if own.is_empty() { judged.iter().filter(within).copied().collect() } else { own }
        }
        None => judged.to_vec(),
    };
    let typed: Vec<&Judged> = all.iter().filter(is_typed).copied().collect();
    match (all.as_slice(), typed.as_slice()) {
        ([one], _) | (_, [one]) => vec![info(one)],
        // The same text in columns of the same type.
        (_, [first, ..]) if typed.iter().all(|one| one.text.is_some() && one.text == first.text) => {
            typed.iter().map(info).collect()
        }
        _ => Vec::new(),
    }
}
