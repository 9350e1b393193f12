//! Creates, alters and drops columns.

use salver_model::Result;
use salver_model::records::{ColumnDefinition, ColumnKind, TableInfo};

use super::key::{add_key, drop_key};
use super::table::{declared, foreign_key};
use super::{DefinitionContext, exists_column, kind_of, new_name, numbers, type_of, unsupported};
use crate::dialect::Dialect;
use crate::dialect::define::Type;

/// Returns the statements of `ALTER TABLE ... ADD COLUMN`.
pub(super) fn create(
    ground: &DefinitionContext<'_>,
    table: &TableInfo,
    column: &ColumnDefinition,
) -> Result<Vec<String>> {
    let name = new_name(column.name.as_deref())?;
    if table.columns.iter().any(|own| ground.same(&own.name, name) || ground.same(&own.real_name, name)) {
        return Err(exists_column(name));
    }
    let own = type_of(column)?;
    let key = column.pk == Some(true);
    let target = column.fk.as_deref().filter(|target| !target.is_empty());
    let (quoted, here) = (ground.name(name), ground.name(&table.real_name));
    if key {
        if ground.dialect == Dialect::Sqlite || !table.key.is_empty() {
            return Err(unsupported("a primary key can't be added to this table with a new column"));
        }
        let (text, _) = declared(ground, column, true)?;
        let add = format!("ALTER TABLE {here} ADD COLUMN {text}, ADD PRIMARY KEY ({quoted})");
        return Ok(vec![add]);
    }
    let mut statements = Vec::new();
    let text = ground.dialect.type_text(&own);
    let nullable = column.nullable == Some(true);
    let neutral = if nullable { None } else { ground.dialect.neutral(own.kind) };
    match ground.dialect {
        Dialect::Sqlite => {
            let tail = match (nullable, neutral, target) {
                (true, _, Some(target)) => format!("NULL {}", ground.references(target)?),
                (true, _, None) => "NULL".to_owned(),
                (false, Some(neutral), None) => format!("NOT NULL DEFAULT {neutral}"),
                (false, ..) => {
                    return Err(unsupported(
                        "SQLite adds such a column only when it may be null: say `\"nullable\":true`",
                    ));
                }
            };
            return Ok(vec![format!("ALTER TABLE {here} ADD COLUMN {quoted} {text} {tail}")]);
        }
        // Existing rows get a neutral value, as in the other two systems, and new rows must have one.
        Dialect::Postgres if neutral.is_some() => {
            let neutral = neutral.unwrap_or_default();
            statements.push(format!("ALTER TABLE {here} ADD COLUMN {quoted} {text} NOT NULL DEFAULT {neutral}"));
            statements.push(format!("ALTER TABLE {here} ALTER COLUMN {quoted} DROP DEFAULT"));
        }
        Dialect::Postgres | Dialect::Mysql => {
            let null = if nullable { "NULL" } else { "NOT NULL" };
            statements.push(format!("ALTER TABLE {here} ADD COLUMN {quoted} {text} {null}"));
        }
    }
    if let Some(target) = target {
        statements.push(format!("ALTER TABLE {here} ADD {}", foreign_key(ground, (&table.real_name, name), target)?));
    }
    Ok(statements)
}

/// Alters a column to the definition `to`; whatever that omits stays.
pub(super) fn update(
    ground: &DefinitionContext<'_>,
    table: &TableInfo,
    column: usize,
    to: &ColumnDefinition,
) -> Result<Vec<String>> {
    let own = &table.columns[column];
    let change = Change::of(table, column, to)?;
    if ground.dialect == Dialect::Sqlite && (change.retypes() || change.key.is_some() || change.fk.is_some()) {
        return Err(unsupported("SQLite renames columns and changes nothing else of them"));
    }
    if let Some(name) = change.name
        && table.columns.iter().any(|other| {
            other.real_name != own.real_name && (ground.same(&other.real_name, name) || ground.same(&other.name, name))
        })
    {
        return Err(exists_column(name));
    }
    if let Some(name) = change.name {
        ground.stays_ruled(!ground.scope.access.moves_column(&table.name, &own.name, Some(name)))?;
    }
    let here = ground.name(&table.real_name);
    let mut statements = Vec::new();
    let foreign = table.foreign_keys.iter().find(|key| key.columns == [column]);
    if let (Some(_), Some(foreign)) = (change.fk, foreign) {
        statements.push(drop_foreign_key(ground, table, &foreign.constraint));
    }
    if change.key.is_some() && !table.key.is_empty() {
        drop_key(ground, table, &mut statements);
    }
    let name = change.name.unwrap_or(&own.real_name);
    if change.name.is_some() {
        let (from, to) = (ground.name(&own.real_name), ground.name(name));
        statements.push(format!("ALTER TABLE {here} RENAME COLUMN {from} TO {to}"));
    }
    if change.retypes() {
        retype(ground, table, column, (name, &change), &mut statements);
    }
    if let Some(target) = change.fk.filter(|target| !target.is_empty()) {
        statements.push(format!("ALTER TABLE {here} ADD {}", foreign_key(ground, (&table.real_name, name), target)?));
    }
    if change.key == Some(true) {
        let kind = change.kind.as_ref().map_or(own.kind, |own| own.kind);
        let text = change.kind.as_ref().map_or_else(|| own.native.clone(), |own| ground.dialect.type_text(own));
        add_key(ground, table, (name, &text, numbers(kind)), &mut statements);
    }
    Ok(statements)
}

/// The changes of a column.
struct Change<'t> {
    name: Option<&'t str>,
    kind: Option<Type>,
    nullable: Option<bool>,
    key: Option<bool>,
    /// The table that it should refer to, empty for none.
    fk: Option<&'t str>,
}

impl<'t> Change<'t> {
    fn of(table: &TableInfo, column: usize, to: &'t ColumnDefinition) -> Result<Self> {
        let own = &table.columns[column];
        let name = match to.name.as_deref() {
            Some(name) => Some(new_name(Some(name))?).filter(|name| *name != own.real_name),
            None => None,
        };
        let kind = match &to.kind {
            Some(word) if !word.eq_ignore_ascii_case(own.kind.word()) => kind_of(word)?,
            _ => own.kind,
        };
        // A length belongs to its type: a new type does not inherit it.
        let same = kind == own.kind;
        let keep = |given: Option<u32>, had: Option<u32>| given.or(had.filter(|_| same));
        let wanted = Type {
            kind,
            length: keep(to.length, own.length),
            precision: keep(to.precision, own.precision),
            scale: keep(to.scale, own.scale),
        };
        let bounded = matches!(kind, ColumnKind::Varchar | ColumnKind::Varbinary);
        let exact = kind == ColumnKind::Decimal;
        let moved = !same
            || (bounded && wanted.length != own.length)
            || (exact && (wanted.precision != own.precision || wanted.scale != own.scale));
        let is_key = table.key.contains(&column);
        let target =
            table.foreign_keys.iter().find(|key| key.columns == [column]).map_or("", |key| key.target.as_str());
        Ok(Self {
            name,
            kind: moved.then_some(wanted),
            nullable: to.nullable.filter(|nullable| *nullable != own.nullable),
            key: to.pk.filter(|key| *key != is_key),
            fk: to.fk.as_deref().filter(|fk| *fk != target),
        })
    }

    fn retypes(&self) -> bool {
        self.kind.is_some() || self.nullable.is_some()
    }
}

/// Changes a column's type or nullability.
fn retype(
    ground: &DefinitionContext<'_>,
    table: &TableInfo,
    column: usize,
    (name, change): (&str, &Change<'_>),
    statements: &mut Vec<String>,
) {
    let own = &table.columns[column];
    let (here, quoted) = (ground.name(&table.real_name), ground.name(name));
    let text = change.kind.as_ref().map(|own| ground.dialect.type_text(own));
    if ground.dialect == Dialect::Mysql {
        let text = text.unwrap_or_else(|| own.native.clone());
        let null = if change.nullable.unwrap_or(own.nullable) { "NULL" } else { "NOT NULL" };
        let auto = if own.auto_increment && change.key.is_none() { " AUTO_INCREMENT" } else { "" };
        statements.push(format!("ALTER TABLE {here} MODIFY {quoted} {text} {null}{auto}"));
        return;
    }
    if let Some(text) = text {
        // PostgreSQL converts only some types implicitly; a cast through text allows every possible conversion.
        statements.push(format!("ALTER TABLE {here} ALTER COLUMN {quoted} TYPE {text} USING {quoted}::text::{text}"));
    }
    if let Some(nullable) = change.nullable {
        let how = if nullable { "DROP" } else { "SET" };
        statements.push(format!("ALTER TABLE {here} ALTER COLUMN {quoted} {how} NOT NULL"));
    }
}

fn drop_foreign_key(ground: &DefinitionContext<'_>, table: &TableInfo, constraint: &str) -> String {
    let what = if ground.dialect == Dialect::Mysql { "FOREIGN KEY" } else { "CONSTRAINT" };
    format!("ALTER TABLE {} DROP {what} {}", ground.name(&table.real_name), ground.name(constraint))
}

/// Returns the statements of `ALTER TABLE ... DROP COLUMN`.
pub(super) fn drop(ground: &DefinitionContext<'_>, table: &TableInfo, column: usize) -> Result<Vec<String>> {
    let (here, name) = (ground.name(&table.real_name), ground.name(&table.columns[column].real_name));
    ground.stays_ruled(!ground.scope.access.moves_column(&table.name, &table.columns[column].name, None))?;
    let foreign = || table.foreign_keys.iter().filter(|key| key.columns.contains(&column));
    match ground.dialect {
        Dialect::Sqlite => {
            let bound = table.key.contains(&column) || table.unique.iter().any(|key| key.contains(&column));
            if bound || foreign().next().is_some() {
                return Err(unsupported("SQLite drops no column that is part of a key"));
            }
            Ok(vec![format!("ALTER TABLE {here} DROP COLUMN {name}")])
        }
        Dialect::Postgres => Ok(vec![format!("ALTER TABLE {here} DROP COLUMN {name} CASCADE")]),
        Dialect::Mysql => {
            let mut statements: Vec<String> =
                foreign().map(|key| drop_foreign_key(ground, table, &key.constraint)).collect();
            if table.key.contains(&column) {
                drop_key(ground, table, &mut statements);
            }
            statements.push(format!("ALTER TABLE {here} DROP COLUMN {name}"));
            Ok(statements)
        }
    }
}
