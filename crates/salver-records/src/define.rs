//! Changes the schema: creates, renames, alters and drops tables and columns, like PHP-CRUD-API's `/columns`.
//!
//! A definition is checked against the schema and compiled to statements of the system, which run one after the other.
//! What a system does not support is an error; nothing is emulated by copying tables.

mod column;
mod key;
mod table;
#[cfg(test)]
mod tests;

use salver_model::limits::NEW_NAME_BYTES_MAX;
use salver_model::records::{ColumnDefinition, ColumnKind, Definition, Operation, TableInfo, TableKind};
use salver_model::{Code, Error, Result, suggest};

use crate::dialect::Dialect;
use crate::dialect::define::{Type, WORDS};
use crate::scope::Scope;

/// Changes the schema.
pub(crate) async fn run(scope: &Scope<'_>, definition: &Definition) -> Result<()> {
    let statements = statements(scope, definition)?;
    if statements.is_empty() {
        return Ok(());
    }
    scope.backend.define(statements).await.map_err(|error| named(error, definition))
}

/// Returns the statements of a definition; none when nothing would change.
fn statements(scope: &Scope<'_>, definition: &Definition) -> Result<Vec<String>> {
    if !scope.spec().definable {
        return Err(Error::new(Code::Forbidden, "Operation forbidden").with_hint(format!(
            "the schema of `{0}` is fixed; set `definable = true` in its [[database]]",
            scope.spec().name
        )));
    }
    let ground = DefinitionContext { scope, dialect: scope.dialect };
    match definition {
        Definition::CreateTable(definition) => table::create(&ground, definition),
        Definition::UpdateTable { table, to } => table::rename(&ground, table, to),
        Definition::DropTable { table } => table::drop(&ground, table),
        Definition::CreateColumn { table, column } => column::create(&ground, ground.table(table)?, column),
        Definition::UpdateColumn { table, column, to } => {
            let table = ground.table(table)?;
            column::update(&ground, table, ground.column(table, column)?, to)
        }
        Definition::DropColumn { table, column } => {
            let table = ground.table(table)?;
            column::drop(&ground, table, ground.column(table, column)?)
        }
    }
}

/// Adds the names to a backend's error that the backend could not know.
fn named(mut error: Error, definition: &Definition) -> Error {
    let (table, column) = match definition {
        Definition::CreateTable(table) | Definition::UpdateTable { to: table, .. } => (table.name.as_deref(), None),
        Definition::DropTable { table } => (Some(table.as_str()), None),
        Definition::CreateColumn { table, column } => (Some(table.as_str()), column.name.as_deref()),
        Definition::UpdateColumn { table, column, to } => {
            (Some(table.as_str()), Some(to.name.as_deref().unwrap_or(column)))
        }
        Definition::DropColumn { table, column } => (Some(table.as_str()), Some(column.as_str())),
    };
    match (error.code, table, column) {
        (Code::TableExists, Some(table), _) => error.message = exists_table(table).message,
        (Code::ColumnExists, _, Some(column)) => error.message = exists_column(column).message,
        _ => {}
    }
    error
}

/// The context of a definition.
#[derive(Clone, Copy, Debug)]
struct DefinitionContext<'a> {
    scope: &'a Scope<'a>,
    dialect: Dialect,
}

impl<'a> DefinitionContext<'a> {
    /// Returns the table to be changed.
    fn table(&self, name: &str) -> Result<&'a TableInfo> {
        let table = self.scope.table(Operation::Remodel, name)?;
        if table.kind == TableKind::View {
            return Err(unsupported(&format!("`{name}` is a view")));
        }
        Ok(table)
    }

    /// Checks that the caller may make a table of this name.
    fn may_be_made(&self, name: &str) -> Result<()> {
        if self.scope.access.may_define(name) {
            return Ok(());
        }
        Err(Error::new(Code::Forbidden, "Operation forbidden")
            .with_hint("an [[access]] with `administer` for a table of this name permits it"))
    }

    /// Returns the column to be changed.
    fn column(&self, table: &TableInfo, name: &str) -> Result<usize> {
        self.scope
            .column(Operation::Remodel, table, name)
            .ok_or_else(|| self.scope.unknown_column(Operation::Remodel, table, name))
    }

    /// Quotes a name.
    fn name(&self, name: &str) -> String {
        self.dialect.quoted(name)
    }

    /// Returns the table that a foreign key refers to, and the column there.
    fn target(&self, name: &str) -> Result<(&'a TableInfo, usize)> {
        let by_real = || self.scope.schema.tables().iter().find(|table| table.real_name == name);
        let table = match self.scope.schema.table(name).or_else(by_real) {
            Some(table) => self.scope.table(Operation::Reflect, &table.name)?,
            None => self.scope.table(Operation::Reflect, name)?,
        };
        match table.single_key() {
            Some(key) if table.kind == TableKind::Table => Ok((table, key)),
            _ => Err(Error::new(Code::NoPrimaryKey, format!("Primary key for table '{name}' not found"))
                .with_hint("a foreign key refers to a table with a primary key of one column")),
        }
    }

    /// Returns `REFERENCES "table" ("key")`.
    fn references(&self, target: &str) -> Result<String> {
        let (table, key) = self.target(target)?;
        Ok(format!("REFERENCES {} ({})", self.name(&table.real_name), self.name(&table.columns[key].real_name)))
    }

    /// Checks that rules still apply afterwards: a rename must not bypass them.
    fn stays_ruled(&self, stays: bool) -> Result<()> {
        if stays {
            return Ok(());
        }
        Err(Error::new(Code::Forbidden, "Operation forbidden")
            .with_hint("rules or tenants of the database name it: change them first, where they are written"))
    }

    /// Returns whether the two names collide.
    fn same(&self, one: &str, other: &str) -> bool {
        if self.dialect == Dialect::Postgres { one == other } else { one.eq_ignore_ascii_case(other) }
    }

    /// Checks that there is no table of this name.
    fn free(&self, name: &str) -> Result<()> {
        let mut tables = self.scope.schema.tables().iter();
        let taken = tables.any(|table| self.same(&table.name, name) || self.same(&table.real_name, name));
        if taken { Err(exists_table(name)) } else { Ok(()) }
    }
}

/// Returns the error "Table 'x' already exists".
fn exists_table(name: &str) -> Error {
    Error::new(Code::TableExists, format!("Table '{name}' already exists"))
}

/// Returns the error "Column 'x' already exists".
fn exists_column(name: &str) -> Error {
    Error::new(Code::ColumnExists, format!("Column '{name}' already exists"))
}

/// Returns the error "Operation 'remodel' not supported".
fn unsupported(why: &str) -> Error {
    Error::new(Code::Unsupported, "Operation 'remodel' not supported").with_hint(why)
}

/// Returns the name of a new table or column.
fn new_name(name: Option<&str>) -> Result<&str> {
    match name {
        Some(name) if name.len() > NEW_NAME_BYTES_MAX => {
            Err(Error::new(Code::InvalidValue, format!("a name has at most {NEW_NAME_BYTES_MAX} bytes")))
        }
        Some(name) if !name.trim().is_empty() && !name.contains('\0') => Ok(name),
        _ => Err(Error::new(Code::InvalidBody, "Cannot read HTTP message").with_hint("a `name` is missing")),
    }
}

/// Returns the kind of column for a type name.
fn kind_of(word: &str) -> Result<ColumnKind> {
    let found = WORDS.iter().find(|(own, _)| own.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind);
    found.ok_or_else(|| {
        Error::new(Code::InvalidBody, "Cannot read HTTP message").with_hint_if(
            suggest::hint(word, WORDS.iter().map(|(own, _)| *own)).map(|hint| format!("no type `{word}`; {hint}")),
        )
    })
}

/// Returns the type of a new column.
fn type_of(definition: &ColumnDefinition) -> Result<Type> {
    let Some(word) = &definition.kind else {
        return Err(Error::new(Code::InvalidBody, "Cannot read HTTP message").with_hint("a column's `type` is missing"));
    };
    Ok(Type {
        kind: kind_of(word)?,
        length: definition.length.filter(|length| *length > 0),
        precision: definition.precision.filter(|precision| *precision > 0),
        scale: definition.scale,
    })
}

/// Returns whether a column of this kind can be auto-incremented.
fn numbers(kind: ColumnKind) -> bool {
    matches!(kind, ColumnKind::Integer | ColumnKind::BigInt)
}
