//! Equality with a client's value. SQLite stores any value in any column, so that several may be shown as the same
//! text.

use salver_model::records::{ColumnInfo, ColumnKind};

use super::convert::{key_bind, place};
use super::operand::Operand;
use super::predicate::among;
use crate::dialect::{Dialect, Sql};
use crate::json::{self, base64};
use crate::statement::Bind;

/// Returns the values that are shown as `text` in this column; none when no row can have it. `main` is the value that
/// the text is first of all.
pub(super) fn shown_as(dialect: Dialect, operand: &Operand<'_>, main: Option<Bind>, text: &str) -> Vec<Bind> {
    if dialect != Dialect::Sqlite {
        return main.into_iter().collect();
    }
    let kind = operand.column.kind;
    let as_it_is = Bind::Text(text.to_owned());
    // A number in a numeric column equals its text there; a day may have been stored in another notation.
    let also_text = match &main {
        // With zeros after its point it would be a float there, which has fewer digits.
        Some(Bind::Text(_)) if kind == ColumnKind::Decimal => false,
        Some(Bind::Text(own)) => own != text,
        Some(Bind::Bool(_)) => !matches!(text, "true" | "false"),
        Some(_) => operand.compared().is_untyped(dialect) || kind.is_binary(),
        None => true,
    };
    // Bytes may be in a column of any type; text that can be a number or a boolean is taken as that.
    let is_plain = kind.is_numeric() || kind == ColumnKind::Boolean;
    let may_be_bytes = main.is_none() || !is_plain || operand.compared().is_untyped(dialect);
    let mut all: Vec<Bind> = main.into_iter().collect();
    if also_text {
        all.push(as_it_is);
    }
    if may_be_bytes && let Some(bytes) = base64::decode(text) {
        all.push(Bind::Bytes(bytes));
    }
    all
}

/// Appends `column = value` for a part of a key; returns `false`, and appends nothing, when the column can't have the
/// value.
pub(super) fn equals(column: &ColumnInfo, alias: &str, value: &str, sql: &mut Sql) -> bool {
    let operand = Operand::column_by_text(sql.dialect, column, alias);
    if operand.compared().is_untyped(sql.dialect) && !column.kind.is_binary() {
        shown_alike(&operand, value, sql);
        return true;
    }
    let binds = key_binds(sql.dialect, &operand, value);
    if binds.is_empty() {
        return false;
    }
    let place = &mut |bind: &Bind, sql: &mut Sql| place(&operand, bind.clone(), sql);
    among(&binds, (false, false), place, sql.push(operand.text()));
    true
}

/// Appends that a column of SQLite without a type has the text `value`, or the number that is shown so: `1` and `1.0`
/// are the same number, and are shown apart.
fn shown_alike(operand: &Operand<'_>, value: &str, sql: &mut Sql) {
    let own = operand.text();
    let number = shown_number(value);
    let other = if matches!(number, Some(Bind::Int(_))) { "real" } else { "integer" };
    match number {
        Some(number) => {
            sql.push("(").push(own).push(" IN (").bind(number).push(", ").bind(Bind::Text(value.to_owned()));
            sql.push(") AND typeof(").push(own).push(") <> '").push(other).push("')");
        }
        None => drop(sql.push(own).push(" = ").bind(Bind::Text(value.to_owned()))),
    }
}

/// Returns the number that is shown as `text`.
fn shown_number(text: &str) -> Option<Bind> {
    let mut shown = Vec::with_capacity(text.len());
    if let Ok(whole) = text.parse() {
        json::integer(whole, &mut shown);
        return (shown == text.as_bytes()).then_some(Bind::Int(whole));
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    json::double(number, &mut shown);
    let is_shown = shown == text.as_bytes() || [&shown, b".0".as_slice()].concat() == text.as_bytes();
    is_shown.then_some(Bind::Float(number))
}

/// Returns the values that match a part of a key: only one, even if others are shown alike, since a key identifies one
/// row. Only bytes in SQLite may also be stored as their base64 text, as PHP-CRUD-API writes it.
pub(super) fn key_binds(dialect: Dialect, operand: &Operand<'_>, value: &str) -> Vec<Bind> {
    let main = key_bind(dialect, operand.compared(), value);
    if dialect == Dialect::Sqlite
        && operand.column.kind.is_binary()
        && let Some(bytes) = base64::decode(value)
    {
        let number = main.filter(|bind| matches!(bind, Bind::Int(_)));
        return [Bind::Bytes(bytes), Bind::Text(value.to_owned())].into_iter().chain(number).collect();
    }
    main.into_iter().collect()
}
