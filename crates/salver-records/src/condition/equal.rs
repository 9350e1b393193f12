//! Equality with a client's value. SQLite stores any value in any column, so that several may be shown as the same
//! text; and a true boolean is there, as in MySQL, any number but zero.

use salver_model::records::ColumnKind;

use super::convert::{bind_for, place};
use super::operand::Operand;
use crate::dialect::{Dialect, Sql};
use crate::json::base64;
use crate::statement::Bind;

/// Returns the values that are shown as `text` in this column; none when no row can have it.
pub(super) fn shown_as(dialect: Dialect, operand: &Operand<'_>, text: &str) -> Vec<Bind> {
    let main = bind_for(dialect, operand, text);
    if dialect != Dialect::Sqlite {
        return main.into_iter().collect();
    }
    let kind = operand.column.kind;
    let as_it_is = Bind::Text(text.to_owned());
    // A number in a numeric column equals its text there; a day may have been stored in another notation.
    let also_text = match &main {
        Some(Bind::Text(own)) => own != text,
        Some(Bind::Bool(_)) => !matches!(text, "true" | "false"),
        Some(_) => operand.is_untyped(dialect) || kind.is_binary(),
        None => true,
    };
    // Bytes may be in a column of any type; text that can be a number or a boolean is taken as that.
    let is_plain = kind.is_numeric() || kind == ColumnKind::Boolean;
    let may_be_bytes = main.is_none() || !is_plain || operand.is_untyped(dialect);
    let mut all: Vec<Bind> = main.into_iter().collect();
    if also_text {
        all.push(as_it_is);
    }
    if may_be_bytes && let Some(bytes) = base64::decode(text) {
        all.push(Bind::Bytes(bytes));
    }
    all
}

/// Appends the predicate that the operand equals one of these values.
pub(super) fn push(operand: &Operand<'_>, binds: Vec<Bind>, sql: &mut Sql) {
    if operand.column.kind == ColumnKind::Boolean && sql.dialect != Dialect::Postgres {
        return push_truths(operand, &binds, sql);
    }
    push_key(operand, binds, sql);
}

/// Appends the same predicate as `push`, but a boolean is exactly one value.
pub(super) fn push_key(operand: &Operand<'_>, binds: Vec<Bind>, sql: &mut Sql) {
    sql.push(operand.text());
    let one = binds.len() == 1;
    sql.push(if one { " = " } else { " IN (" });
    let mut first = true;
    for bind in binds {
        place(operand, bind, sql.separate(&mut first, ","));
    }
    sql.push(if one { "" } else { ")" });
}

fn push_truths(operand: &Operand<'_>, binds: &[Bind], sql: &mut Sql) {
    let own = operand.text();
    let mut first = true;
    sql.push("(");
    for bind in binds {
        sql.separate(&mut first, " OR ");
        match bind {
            Bind::Bool(true) => {
                // Two ranges, for which an index can be used.
                sql.push("(").push(own).push(" < 0 OR ").push(own).push(" > 0)");
                if sql.dialect == Dialect::Sqlite {
                    // Texts sort after numbers; for null it must not be false.
                    sql.push(" AND typeof(").push(own).push(") IN ('integer', 'null')");
                }
            }
            Bind::Bool(false) => drop(sql.push(own).push(" = 0")),
            other => {
                sql.push(own).push(" = ");
                place(operand, other.clone(), sql);
            }
        }
    }
    sql.push(")");
}
