//! The context of one change: its table, checked to exist and to be writable for the caller, and which of its columns
//! the client may write, which are set for it, and which are barred.

use std::borrow::Cow;

use salver_model::limits::CHANGES_MAX;
use salver_model::records::{BytesText, Change, ChangeKind, Field, Operation, TableInfo};
use salver_model::spec::matches_pattern;
use salver_model::{Code, Error, Result, Value, suggest};

use super::convert::ConversionTarget;
use crate::condition::{ComparedColumn, exact_bind};
use crate::scope::Scope;
use crate::statement::Bind;

/// The context of one change.
#[derive(Debug)]
pub(crate) struct WriteContext<'a> {
    pub(crate) scope: &'a Scope<'a>,
    pub(crate) table: &'a TableInfo,
    pub(crate) operation: Operation,
    pub(crate) change: &'a Change,
    /// Whether names that would otherwise be ignored are errors.
    pub(crate) strict: bool,
    /// The client's text encoding of bytes.
    pub(crate) bytes: BytesText,
    /// Whether the caller may see the keys of rows.
    pub(crate) tells_key: bool,
    /// Columns with values that new rows get whatever the client sends.
    pub(crate) forced: Vec<(usize, Bind)>,
    /// Columns that the client can't write, whose values are silently ignored: the client may have read them.
    barred: Vec<usize>,
}

/// A record with its names resolved.
pub(crate) type Fields<'r> = Vec<(usize, Cow<'r, Field>)>;

/// Returns the operation under which rules apply.
pub(crate) fn operation(kind: &ChangeKind) -> Operation {
    match kind {
        ChangeKind::Create | ChangeKind::Upsert { .. } => Operation::Create,
        ChangeKind::Update => Operation::Update,
        ChangeKind::Increment => Operation::Increment,
        ChangeKind::Delete => Operation::Delete,
    }
}

impl<'a> WriteContext<'a> {
    /// Checks that the change may be made to this table.
    pub(crate) fn new(scope: &'a Scope<'a>, change: &'a Change) -> Result<Self> {
        let operation = operation(&change.kind);
        let table = scope.table(operation, &change.table)?;
        scope.access.writable(operation, table)?;
        if matches!(change.kind, ChangeKind::Upsert { .. }) {
            scope.table(Operation::Update, &change.table)?;
        }
        let tells_key = scope.access.is_keyed(Operation::Read, table);
        let creates = matches!(change.kind, ChangeKind::Create | ChangeKind::Upsert { .. }) && change.keys.is_empty();
        // New rows need no key that the caller knows.
        let keyed = tells_key || creates && !table.key.is_empty();
        if change.filter.is_none() && !keyed {
            return Err(no_primary_key(&change.table));
        }
        counts(change)?;
        let mut ground = Self {
            scope,
            table,
            operation,
            change,
            strict: change.strict || scope.spec().strict,
            bytes: BytesText::Base64,
            tells_key,
            forced: Vec::new(),
            barred: Vec::new(),
        };
        ground.settle()?;
        Ok(ground)
    }

    /// Finds the columns whose values are set: those of tenancy, and those with the caller's address.
    fn settle(&mut self) -> Result<()> {
        let (spec, table) = (self.scope.spec(), self.table);
        let creates = self.operation == Operation::Create;
        if !spec.tenancy.is_empty() {
            for (column, value) in self.scope.access.tenancy(table) {
                self.barred.push(column);
                if creates {
                    if value == Value::Null {
                        return Err(forbidden().with_hint(format!(
                            "a row of `{}` belongs to somebody, and nothing is known of the caller",
                            table.name
                        )));
                    }
                    self.is_exact(column, &value)?;
                    let bind = self.target().bind(column, &field(&value)).map_err(|why| self.unfit(column, why))?;
                    self.forced.push((column, bind));
                }
            }
        }
        for pattern in &spec.ip_address {
            let meant = |index: &usize| means(pattern, &table.name, &table.columns[*index].name);
            for column in (0..table.columns.len()).filter(meant) {
                self.barred.push(column);
                if creates {
                    let address = self.scope.access.caller.address;
                    self.forced.push((column, address.map_or(Bind::Null, |address| Bind::Text(address.to_string()))));
                }
            }
        }
        if matches!(self.operation, Operation::Update | Operation::Increment) {
            self.barred.extend_from_slice(&table.key);
        }
        Ok(())
    }

    /// Checks that a value from the caller's identity is in its column's canonical form: ` 7` is not the tenant 7.
    fn is_exact(&self, column: usize, value: &Value) -> Result<()> {
        let Value::Bare(text) = value else { return Ok(()) };
        let compared = ComparedColumn::by_text(self.scope.dialect, &self.table.columns[column]);
        match exact_bind(self.scope.dialect, compared, text) {
            Some(_) => Ok(()),
            None => Err(forbidden().with_hint(format!(
                "`{}` of `{}` can't be what is known of the caller",
                self.table.columns[column].name, self.table.name
            ))),
        }
    }

    /// Returns the target of conversions.
    pub(crate) fn target(&self) -> ConversionTarget<'a> {
        let adds = self.operation == Operation::Increment;
        ConversionTarget { spec: self.scope.spec(), dialect: self.scope.dialect, table: self.table, adds }
    }

    /// Returns the column that a client may write under this name; `None` when its value is ignored.
    ///
    /// # Errors
    /// A name that does not exist, when it is not ignored, or as long as the schema was not refreshed.
    pub(crate) fn writes(&self, name: &str) -> Result<Option<usize>> {
        let Some(index) = self.scope.column(self.operation, self.table, name) else {
            return if self.strict || !self.scope.sure { Err(self.unknown_column(name)) } else { Ok(None) };
        };
        if self.table.columns[index].generated {
            return if self.strict || !self.scope.sure {
                Err(Error::new(Code::InvalidColumn, format!("Column '{name}' can't be written"))
                    .with_hint("the database computes it; leave it out"))
            } else {
                Ok(None)
            };
        }
        let asked = self.change.include.as_deref().is_none_or(|words| lists(words, &self.table.name, name))
            && !self.change.exclude.as_deref().is_some_and(|words| lists(words, &self.table.name, name));
        Ok(Some(index).filter(|index| asked && !self.barred.contains(index)))
    }

    /// Returns the error for a name that does not exist, with the nearest one that does.
    pub(crate) fn unknown_column(&self, name: &str) -> Error {
        let own = self.scope.unknown_column(self.operation, self.table, name);
        Error::new(Code::InvalidColumn, own.message).with_hint_if(own.hint)
    }

    /// Returns the error for a value that does not fit its column.
    pub(crate) fn unfit(&self, column: usize, why: &str) -> Error {
        invalid(&self.table.name, vec![(self.table.columns[column].name.clone(), why.to_owned())])
    }

    /// Returns the columns called `names`, over which the table must have a unique key.
    pub(crate) fn unique(&self, names: &[String]) -> Result<Vec<usize>> {
        let columns: Vec<usize> = names
            .iter()
            .map(|name| self.scope.column(self.operation, self.table, name).ok_or_else(|| self.unknown_column(name)))
            .collect::<Result<_>>()?;
        let same = |key: &Vec<usize>| key.len() == columns.len() && key.iter().all(|column| columns.contains(column));
        let keys = || Some(&self.table.key).filter(|_| self.tells_key).into_iter().chain(&self.table.unique);
        if keys().any(same) {
            return Ok(columns);
        }
        let seen = |column: &usize| self.scope.column(self.operation, self.table, &self.table.columns[*column].name);
        let keys = keys().filter(|key| key.iter().all(|column| seen(column).is_some()));
        let keys: Vec<String> = keys.map(|key| self.names(key)).collect();
        Err(Error::new(
            Code::InvalidRequest,
            format!("`{}` has no unique key of {}", self.table.name, names.join(", ")),
        )
        .with_hint_if(suggest::hint(&names.join(","), keys.iter().map(String::as_str))))
    }

    /// Returns the names of columns, for messages.
    pub(crate) fn names(&self, columns: &[usize]) -> String {
        let names: Vec<&str> = columns.iter().map(|index| self.table.columns[*index].name.as_str()).collect();
        names.join(",")
    }
}

/// Checks that there are as many keys as records, and not too many of them.
fn counts(change: &Change) -> Result<()> {
    let most = change.keys.len().max(change.records.len());
    if most > CHANGES_MAX {
        return Err(Error::new(Code::InvalidRequest, format!("{most} records are too many for one change"))
            .with_hint(format!("{CHANGES_MAX} are the most; load larger amounts as NDJSON or CSV")));
    }
    let fits = match change.kind {
        _ if change.filter.is_some() => true,
        ChangeKind::Create => true,
        ChangeKind::Upsert { .. } => change.keys.is_empty() || change.keys.len() == change.records.len(),
        ChangeKind::Delete => true,
        ChangeKind::Update | ChangeKind::Increment => change.keys.len() == change.records.len(),
    };
    if fits { Ok(()) } else { Err(argument_count(change)) }
}

/// Returns the error "Argument count mismatch in '1,2'".
pub(crate) fn argument_count(change: &Change) -> Error {
    Error::new(Code::ArgumentCount, format!("Argument count mismatch in '{}'", change.keys_text))
        .with_hint("each key needs its record, and each part of the primary key its value")
}

/// Returns the error "Primary key for table 'nopk' not found".
pub(super) fn no_primary_key(table: &str) -> Error {
    Error::new(Code::NoPrimaryKey, format!("Primary key for table '{table}' not found"))
}

/// Returns the error "Operation forbidden".
pub(crate) fn forbidden() -> Error {
    Error::new(Code::Forbidden, "Operation forbidden")
}

/// Returns the error "Input validation failed for 'comments'", with the reason by column.
pub(crate) fn invalid(table: &str, details: Vec<(String, String)>) -> Error {
    let mut error = Error::new(Code::Invalid, format!("Input validation failed for '{table}'"));
    error.details = details;
    error
}

/// Returns whether a pattern matches a column: `table.column`, either part with `*`, or a column's name alone.
pub(crate) fn means(pattern: &str, table: &str, column: &str) -> bool {
    match pattern.split_once('.') {
        Some((own_table, own_column)) => matches_pattern(own_table, table) && matches_pattern(own_column, column),
        None => matches_pattern(pattern, column),
    }
}

/// Returns whether a list of `column`, `table.column`, `table.*`, `*` and `*.*` has this one.
fn lists(words: &[String], table: &str, column: &str) -> bool {
    words.iter().any(|word| {
        word == column
            || word == "*"
            || word.split_once('.').is_some_and(|(own_table, own_column)| {
                (own_table == "*" || own_table == table) && (own_column == "*" || own_column == column)
            })
    })
}

/// Converts a value of the settings or of the caller to a field, as if a client had sent it.
fn field(value: &Value) -> Field {
    match value {
        Value::Null => Field::Null,
        Value::Bool(value) => Field::Bool(*value),
        Value::Int(_) | Value::UInt(_) | Value::Float(_) => Field::Number(value.to_string()),
        Value::Text(text) | Value::Bare(text) => Field::Text(text.clone()),
    }
}
