//! Converts one record: named columns become values in the order of the record, sanitized, validated and converted.

use std::borrow::Cow;

use salver_model::records::{BytesText, ColumnKind, Field, Operation, Record, RecordKey};
use salver_model::{Code, Error, Result, hexadecimal};

use super::context::{Fields, WriteContext, argument_count, invalid};
use super::decimal::Decimal;
use super::sanitize::Sanitizer;
use super::validation;
use crate::condition::{ComparedColumn, bind_for};
use crate::dialect::{Dialect, is_untyped};
use crate::json::base64;
use crate::statement::Bind;

/// Values of columns, by index.
pub(crate) type Values = Vec<(usize, Bind)>;

/// Resolves a reference to an earlier change.
pub(crate) type Backs<'b> = dyn Fn(usize, &str) -> Result<Bind> + 'b;

impl WriteContext<'_> {
    /// Returns a record's columns that the client may write, sanitized and validated as the entry configures.
    ///
    /// # Errors
    /// Unknown names in strict requests; values that the entry's checks reject.
    pub(crate) fn fields<'r>(&self, record: &'r Record) -> Result<Fields<'r>> {
        let mut fields: Fields<'r> = Vec::with_capacity(record.len() + self.forced.len());
        for (name, field) in record {
            let Some(column) = self.writes(name)? else { continue };
            match fields.iter_mut().find(|(own, _)| *own == column) {
                // As in JSON, the last one wins.
                Some(known) => known.1 = Cow::Borrowed(field),
                None => fields.push((column, Cow::Borrowed(field))),
            }
        }
        if self.bytes == BytesText::Hexadecimal {
            self.read_hexadecimal(&mut fields)?;
        }
        if let Some(sanitizer) = Sanitizer::of(self.scope.spec(), self.table) {
            for (column, field) in &mut fields {
                sanitizer.clean(&self.table.columns[*column], field);
            }
        }
        let details = validation::failures(self, &fields);
        if details.is_empty() { Ok(fields) } else { Err(invalid(&self.table.name, details)) }
    }

    /// Converts bytes in hexadecimal digits to the common form.
    fn read_hexadecimal(&self, fields: &mut Fields<'_>) -> Result<()> {
        let mut details = Vec::new();
        for (column, field) in fields {
            let info = &self.table.columns[*column];
            let is_bytes = matches!(info.kind, ColumnKind::Varbinary | ColumnKind::Blob);
            let Field::Text(text) = &**field else { continue };
            match hexadecimal::decode(text).filter(|_| is_bytes) {
                Some(bytes) => *field = Cow::Owned(Field::Text(base64::text(&bytes))),
                None if is_bytes => details.push((info.name.clone(), "invalid hexadecimal".to_owned())),
                None => {}
            }
        }
        if details.is_empty() { Ok(()) } else { Err(invalid(&self.table.name, details)) }
    }

    /// Returns the values of a record's fields, and of the columns that are set for it.
    ///
    /// # Errors
    /// A value that its column can't hold as it is.
    pub(crate) fn values(&self, fields: &Fields<'_>, backs: &Backs<'_>) -> Result<Values> {
        let target = self.target();
        let mut values = Values::with_capacity(fields.len() + self.forced.len());
        let mut details = Vec::new();
        for (column, field) in fields {
            if let Field::Back { change, column: name } = &**field {
                values.push((*column, backs(*change, name)?));
                continue;
            }
            match target.bind(*column, field) {
                // The client may send null for a generated key.
                Ok(Bind::Null) if self.operation == Operation::Create && self.is_numbered(*column) => {}
                Ok(bind) => values.push((*column, bind)),
                Err(why) => details.push((self.table.columns[*column].name.clone(), why.to_owned())),
            }
        }
        if !details.is_empty() {
            return Err(invalid(&self.table.name, details));
        }
        for (column, bind) in &self.forced {
            values.push((*column, bind.clone()));
        }
        Ok(values)
    }

    /// Returns whether the column is a key that the database generates.
    fn is_numbered(&self, column: usize) -> bool {
        let info = &self.table.columns[column];
        self.table.key.contains(&column) && (info.auto_increment || info.has_default)
    }

    /// Returns the part of a record that an increment adds: numbers for numeric columns.
    ///
    /// # Errors
    /// In strict requests, any other field.
    pub(crate) fn numbers<'r>(&self, fields: Fields<'r>) -> Result<Fields<'r>> {
        let mut numbers = Fields::with_capacity(fields.len());
        for (column, field) in fields {
            let is_number = match &*field {
                Field::Number(_) | Field::Back { .. } => true,
                Field::Text(text) => Decimal::is_written(text.trim()),
                Field::Null | Field::Bool(_) | Field::Json(_) => false,
            };
            let info = &self.table.columns[column];
            let untyped = self.scope.dialect == Dialect::Sqlite && is_untyped(&info.native);
            if is_number && (info.kind.is_numeric() || untyped) {
                numbers.push((column, field));
            } else if self.strict {
                return Err(self.unfit(column, "must be numeric"));
            }
        }
        Ok(numbers)
    }
}

impl WriteContext<'_> {
    /// Checks that a strict change does not have another key in its record, which would be ignored.
    ///
    /// # Errors
    /// `InvalidColumn`, which names the column.
    pub(crate) fn keeps_key(&self, record: &Record, key: &RecordKey) -> Result<()> {
        if !self.strict {
            return Ok(());
        }
        for (column, part) in self.table.key.iter().zip(key) {
            let name = &self.table.columns[*column].name;
            let written = record.iter().rev().find(|(own, _)| own == name).map(|(_, field)| field);
            let is_same = match written {
                None => true,
                Some(Field::Text(text) | Field::Number(text)) => self.is_same(*column, text, part),
                Some(_) => false,
            };
            if !is_same {
                return Err(Error::new(
                    Code::InvalidColumn,
                    format!("`{name}` is the key, which a change does not set"),
                )
                .with_hint("write a new row, and delete this one"));
            }
        }
        Ok(())
    }

    /// Returns whether two texts denote the same value of a column.
    fn is_same(&self, column: usize, one: &str, other: &str) -> bool {
        let compared = ComparedColumn::by_text(self.scope.dialect, &self.table.columns[column]);
        let bind = |text: &str| bind_for(self.scope.dialect, compared, text);
        one == other || bind(one).is_some_and(|one| bind(other).is_some_and(|other| one == other))
    }

    /// Returns the record with the key from the path.
    ///
    /// # Errors
    /// A key with more or fewer parts than the primary key has.
    pub(crate) fn with_key(&self, record: &Record, key: &RecordKey) -> Result<Record> {
        if key.len() != self.table.key.len() {
            return Err(argument_count(self.change));
        }
        let names = || self.table.key.iter().map(|column| self.table.columns[*column].name.as_str());
        let parts = names().zip(self.table.key.iter().zip(key)).map(|(name, (column, part))| {
            // An integer is sent as a number.
            let whole = matches!(self.table.columns[*column].kind, ColumnKind::Integer | ColumnKind::BigInt);
            let number = whole && part.parse::<i64>().is_ok_and(|number| number.to_string() == *part);
            (name.to_owned(), if number { Field::Number(part.clone()) } else { Field::Text(part.clone()) })
        });
        let rest = record.iter().filter(|(name, _)| !names().any(|own| own == name)).cloned();
        Ok(parts.chain(rest).collect())
    }
}
