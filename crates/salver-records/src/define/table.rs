//! Creates, renames and drops tables.

use salver_model::Result;
use salver_model::records::{ColumnDefinition, TableDefinition};

use super::{DefinitionContext, new_name, numbers, type_of};
use crate::dialect::Dialect;

/// Returns the statements of `CREATE TABLE`.
pub(super) fn create(ground: &DefinitionContext<'_>, definition: &TableDefinition) -> Result<Vec<String>> {
    let name = new_name(definition.name.as_deref())?;
    ground.may_be_made(name)?;
    ground.free(name)?;
    if definition.columns.is_empty() {
        return Err(salver_model::Error::new(salver_model::Code::InvalidBody, "Cannot read HTTP message")
            .with_hint("a table needs `columns`"));
    }
    let keys: Vec<&ColumnDefinition> = definition.columns.iter().filter(|column| column.pk == Some(true)).collect();
    let single = keys.len() == 1;
    let mut parts = Vec::with_capacity(definition.columns.len() + 2);
    let mut constraints = Vec::new();
    let mut inline = false;
    for column in &definition.columns {
        let (text, is_key) = declared(ground, column, single)?;
        inline |= is_key;
        parts.push(text);
        if let Some(target) = column.fk.as_deref().filter(|target| !target.is_empty()) {
            let own = new_name(column.name.as_deref())?;
            constraints.push(foreign_key(ground, (name, own), target)?);
        }
    }
    if !keys.is_empty() && !inline {
        let names: Result<Vec<String>> =
            keys.iter().map(|key| new_name(key.name.as_deref()).map(|name| ground.name(name))).collect();
        parts.push(format!("PRIMARY KEY ({})", names?.join(", ")));
    }
    parts.extend(constraints);
    Ok(vec![format!("CREATE TABLE {} ({})", ground.name(name), parts.join(", "))])
}

/// Returns the declaration of a column for `CREATE TABLE`, and whether it includes the primary key constraint. The only
/// column of a key is auto-increment when it is an integer.
pub(super) fn declared(
    ground: &DefinitionContext<'_>,
    column: &ColumnDefinition,
    single: bool,
) -> Result<(String, bool)> {
    let name = ground.name(new_name(column.name.as_deref())?);
    let own = type_of(column)?;
    let key = column.pk == Some(true);
    let null = if column.nullable == Some(true) && !key { "NULL" } else { "NOT NULL" };
    if !(key && single && numbers(own.kind)) {
        return Ok((format!("{name} {} {null}", ground.dialect.type_text(&own)), false));
    }
    Ok(match ground.dialect {
        // Only this exact type is an alias of the rowid.
        Dialect::Sqlite => (format!("{name} integer NOT NULL PRIMARY KEY AUTOINCREMENT"), true),
        Dialect::Postgres => {
            let serial = if own.kind == salver_model::records::ColumnKind::BigInt { "bigserial" } else { "serial" };
            (format!("{name} {serial} NOT NULL"), false)
        }
        Dialect::Mysql => (format!("{name} {} NOT NULL AUTO_INCREMENT", ground.dialect.type_text(&own)), false),
    })
}

/// Returns `CONSTRAINT "table_column_fkey" FOREIGN KEY ("column") REFERENCES "other" ("id")`; names are those of the
/// database.
pub(super) fn foreign_key(
    ground: &DefinitionContext<'_>,
    (table, column): (&str, &str),
    target: &str,
) -> Result<String> {
    Ok(format!(
        "CONSTRAINT {} FOREIGN KEY ({}) {}",
        ground.name(&format!("{table}_{column}_fkey")),
        ground.name(column),
        ground.references(target)?
    ))
}

/// Returns the statements of `ALTER TABLE ... RENAME TO`.
pub(super) fn rename(ground: &DefinitionContext<'_>, table: &str, to: &TableDefinition) -> Result<Vec<String>> {
    let table = ground.table(table)?;
    let Some(name) = to.name.as_deref() else { return Ok(Vec::new()) };
    let name = new_name(Some(name))?;
    if name == table.real_name {
        return Ok(Vec::new());
    }
    if !ground.same(&table.real_name, name) {
        ground.free(name)?;
    }
    ground.stays_ruled(!ground.scope.access.moves_table(&table.name, name))?;
    Ok(vec![format!("ALTER TABLE {} RENAME TO {}", ground.name(&table.real_name), ground.name(name))])
}

/// Returns the statements of `DROP TABLE`.
pub(super) fn drop(ground: &DefinitionContext<'_>, table: &str) -> Result<Vec<String>> {
    let table = ground.table(table)?;
    let cascade = if ground.dialect == Dialect::Sqlite { "" } else { " CASCADE" };
    Ok(vec![format!("DROP TABLE {}{cascade}", ground.name(&table.real_name))])
}
