//! Columns as records read them: a value is written as JSON shows it, bytes as base64. Rules and clients differ in how
//! text compares, and in what a value may be.

use salver_model::records::{ColumnKind, TableInfo};
use salver_model::{Code, ColumnPath, Comparison, Error, Filter, Result, Value};

use super::bounded;
use super::convert::{bind_for, exact_bind, place};
use super::equal::shown_as;
use super::operand::Operand;
use super::predicate::{self, Comparand, Literal, Manner, Side, TextOrder, push_bytes_of, push_ordered};
use crate::dialect::{Dialect, Sql};
use crate::json::base64;
use crate::statement::Bind;

/// Whose conditions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Rules and tenancy mean the same in every system, and where a rule is evaluated without a database: text compares
    /// by its bytes, no value is coerced, and what is known of a caller must have the canonical form of its type.
    Rule,
    /// Clients of records find what the database finds, by every stored value that is shown as theirs. To a `strict`
    /// one a value that the column can't have is an error.
    Client { strict: bool },
}

/// An operand, as somebody reads it.
#[derive(Clone, Debug)]
pub(crate) struct ReadOperand<'c> {
    pub(crate) operand: Operand<'c>,
    pub(crate) reading: Reading,
}

/// Appends the condition `filter` on the rows of `table`, with the alias `alias`, as `reading` means it.
///
/// # Errors
/// `Config` when it names a column that the table does not have: an uncheckable condition must not be ignored.
pub(super) fn push(table: &TableInfo, alias: &str, reading: Reading, filter: &Filter, sql: &mut Sql) -> Result<()> {
    let dialect = sql.dialect;
    let locate = |path: &ColumnPath| {
        let found = table.column(&path.column).filter(|_| path.fields.is_empty());
        let index = found.ok_or_else(|| {
            // Clients learn nothing of the rule.
            Error::new(Code::Config, format!("a rule for table `{}` is wrong", table.name))
                .with_hint("the log of the server has the reason")
                .with_source(format!("it names column `{path}`, which is not there; name only tables that have it"))
        })?;
        let of = if reading == Reading::Rule { Operand::column_by_text } else { Operand::column };
        Ok(ReadOperand { operand: of(dialect, &table.columns[index], alias), reading })
    };
    predicate::push(filter, &locate, sql)
}

const TEXT: Manner = Manner::Text { indexed: true, shown: false, beginning: false, numbers: false, dates: false };

/// Appends the predicate that a text is equal by bytes; nothing for a column of another kind.
pub(super) fn same_bytes(operand: &Operand<'_>, text: &str, sql: &mut Sql) {
    if operand.column.kind.is_text() {
        push_ordered(operand.text(), TEXT, sql.push(" AND "));
        push_bytes_of(&Bind::Text(text.to_owned()), false, sql.push(" = "));
    }
}

impl ReadOperand<'_> {
    /// Returns an error to a strict client if the column can't have the value.
    pub(super) fn refuse(&self, value: &str) -> Result<()> {
        if self.reading != (Reading::Client { strict: true }) {
            return Ok(());
        }
        let (name, kind) = (&self.operand.column.name, self.operand.column.kind.word());
        let message = format!("`{value}` can't be compared with `{name}`, which is of type {kind}");
        Err(Error::new(Code::InvalidValue, message))
    }

    fn manner(&self, dialect: Dialect) -> Manner {
        let by_bytes = match self.operand.column.kind {
            ColumnKind::Integer if dialect.is_year(self.operand.column) => return Manner::Year,
            ColumnKind::Boolean if dialect != Dialect::Postgres => return Manner::Truth { numbers_only: true },
            ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Json | ColumnKind::Geometry => true,
            ColumnKind::Varbinary | ColumnKind::Blob | ColumnKind::Uuid => dialect == Dialect::Sqlite,
            _ => false,
        };
        if by_bytes && self.reading == Reading::Rule { TEXT } else { Manner::Native }
    }

    /// Returns whether it is a SQLite column of bytes, in which PHP-CRUD-API writes them as the text of their base64.
    fn has_base64(&self, dialect: Dialect) -> bool {
        dialect == Dialect::Sqlite && self.operand.column.kind.is_binary()
    }

    fn of_rule(&self, dialect: Dialect, op: Comparison, value: &Value) -> Literal {
        let own = &self.operand;
        let bind = match value {
            Value::Null => return Literal::Null,
            Value::Text(text) => bind_for(dialect, own.compared(), text),
            // A value of the caller's identity: a text that a client may have chosen.
            Value::Bare(text) => exact_bind(dialect, own.compared(), text),
            // Every kind but text can parse it: as a boolean, or as SQL's number for it.
            Value::Bool(truth) => bind_for(dialect, own.compared(), if *truth { "1" } else { "0" }),
            other => bind_for(dialect, own.compared(), &other.to_string()),
        };
        match bind {
            Some(Bind::Text(text)) if self.has_base64(dialect) => {
                let bytes = base64::decode(&text).filter(|_| base64::is_exact(&text));
                Literal::Stored(text, bytes)
            }
            Some(bind) => bounded::beside(dialect, own.column, &bind).unwrap_or(Literal::Is(bind)),
            // No row has the value: only `<>` holds. Less and greater are unknown.
            None if matches!(op, Comparison::Eq | Comparison::NotEq) => Literal::Never,
            None => Literal::Null,
        }
    }

    /// Returns the value with those that `eq` finds by the same text, where SQLite sorts them apart from it: a column
    /// without a type has the number 1 and the text `1`, and one of dates several notations of a day. Each row is less,
    /// equal or greater.
    fn alike(&self, dialect: Dialect, bind: &Bind, text: &str) -> Option<Literal> {
        let own = &self.operand;
        let untyped = own.compared().is_untyped(dialect) && !own.column.kind.is_binary();
        if !untyped && !dialect.keeps_notation(own.column) {
            return None;
        }
        let all = shown_as(dialect, own, Some(bind.clone()), text).into_iter().skip(1);
        // Bytes among dates are nothing that is shown as one.
        let others: Vec<Bind> = all.filter(|other| untyped || matches!(other, Bind::Text(_))).collect();
        (!others.is_empty()).then(|| Literal::Alike(bind.clone(), others))
    }

    fn of_client(&self, dialect: Dialect, op: Comparison, text: &str) -> Result<Literal> {
        let bind = bind_for(dialect, self.operand.compared(), text);
        // SQLite stores, and shows, any text as a time: it is found.
        if bind.is_none() && !(op == Comparison::Eq && dialect.keeps_notation(self.operand.column)) {
            self.refuse(text)?;
        }
        if let Some(literal) = bind.as_ref().and_then(|bind| bounded::beside(dialect, self.operand.column, bind)) {
            return Ok(literal);
        }
        if op == Comparison::Eq {
            let all = shown_as(dialect, &self.operand, bind, text);
            return Ok(if all.is_empty() { Literal::Never } else { Literal::Any(all) });
        }
        if let Some(literal) = bind.as_ref().and_then(|bind| self.alike(dialect, bind, text)) {
            return Ok(literal);
        }
        let bytes = base64::decode(text).filter(|_| self.has_base64(dialect));
        Ok(match (bind, bytes) {
            (None, _) => Literal::Never,
            (_, Some(bytes)) => Literal::Stored(text.to_owned(), Some(bytes)),
            (Some(bind), None) => Literal::Is(bind),
        })
    }
}

impl Comparand for ReadOperand<'_> {
    fn side(&self, dialect: Dialect) -> Side<'_> {
        let by_rule = self.reading == Reading::Rule;
        Side {
            bare: &self.operand.bare,
            sql: self.operand.text(),
            null_tests: dialect.null_tests(self.operand.column),
            manner: self.manner(dialect),
            order: if by_rule { TextOrder::Bytes } else { TextOrder::Collation },
        }
    }

    fn literal(&self, dialect: Dialect, op: Comparison, value: &Value) -> Result<Literal> {
        match (self.reading, value) {
            (Reading::Client { .. }, Value::Text(text)) => self.of_client(dialect, op, text),
            _ => Ok(self.of_rule(dialect, op, value)),
        }
    }

    fn searched(&self, dialect: Dialect, _: &str) -> Result<Option<String>> {
        let by_rule = self.reading == Reading::Rule;
        Ok((by_rule || !self.operand.column.kind.is_binary()).then(|| self.operand.like(dialect)))
    }

    fn place(&self, bind: &Bind, sql: &mut Sql) {
        place(&self.operand, bind.clone(), sql);
    }
}
