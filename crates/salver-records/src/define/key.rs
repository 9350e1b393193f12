//! Primary keys of existing tables: removed from one column and added to another, with auto-increment.

use salver_model::records::TableInfo;

use super::DefinitionContext;
use crate::dialect::Dialect;

/// Drops the primary key, and with it auto-increment.
pub(super) fn drop_key(ground: &DefinitionContext<'_>, table: &TableInfo, statements: &mut Vec<String>) {
    let here = ground.name(&table.real_name);
    if ground.dialect == Dialect::Mysql {
        // An auto-increment column must be a key, so both are dropped at once.
        let mut parts: Vec<String> = Vec::new();
        for column in table.key.iter().map(|key| &table.columns[*key]).filter(|column| column.auto_increment) {
            parts.push(format!("MODIFY {} {} NOT NULL", ground.name(&column.real_name), column.native));
        }
        parts.push("DROP PRIMARY KEY".to_owned());
        statements.push(format!("ALTER TABLE {here} {}", parts.join(", ")));
        return;
    }
    for column in table.key.iter().map(|key| &table.columns[*key]).filter(|column| column.auto_increment) {
        let name = ground.name(&column.real_name);
        statements.push(format!("ALTER TABLE {here} ALTER COLUMN {name} DROP IDENTITY IF EXISTS"));
        statements.push(format!("ALTER TABLE {here} ALTER COLUMN {name} DROP DEFAULT"));
        statements
            .push(format!("DROP SEQUENCE IF EXISTS {}", ground.name(&sequence(&table.real_name, &column.real_name))));
    }
    statements
        .push(format!("ALTER TABLE {here} DROP CONSTRAINT {}", ground.name(&format!("{}_pkey", table.real_name))));
}

/// Makes a column the primary key; an integer column becomes auto-increment, continuing after the existing values.
pub(super) fn add_key(
    ground: &DefinitionContext<'_>,
    table: &TableInfo,
    (column, native, numbers): (&str, &str, bool),
    statements: &mut Vec<String>,
) {
    let (here, name) = (ground.name(&table.real_name), ground.name(column));
    if ground.dialect == Dialect::Mysql {
        let add = format!("ALTER TABLE {here} MODIFY {name} {native} NOT NULL");
        if !numbers {
            statements.push(format!("{add}, ADD PRIMARY KEY ({name})"));
            return;
        }
        // Otherwise a row with 0 would get another number.
        statements.push("SET @salver_sql_mode = @@SESSION.sql_mode".to_owned());
        let zero = "SET SESSION sql_mode = CONCAT_WS(',', @@SESSION.sql_mode, 'NO_AUTO_VALUE_ON_ZERO')";
        statements.push(zero.to_owned());
        statements.push(format!("{add} AUTO_INCREMENT, ADD PRIMARY KEY ({name})"));
        statements.push("SET SESSION sql_mode = @salver_sql_mode".to_owned());
        return;
    }
    let constraint = ground.name(&format!("{}_pkey", table.real_name));
    statements.push(format!("ALTER TABLE {here} ADD CONSTRAINT {constraint} PRIMARY KEY ({name})"));
    if numbers {
        let sequence = ground.name(&sequence(&table.real_name, column));
        let literal = Dialect::literal(&sequence);
        statements.push(format!("CREATE SEQUENCE {sequence} OWNED BY {here}.{name}"));
        statements.push(format!("SELECT setval({literal}, COALESCE((SELECT max({name}) FROM {here}), 0) + 1, false)"));
        statements.push(format!("ALTER TABLE {here} ALTER COLUMN {name} SET DEFAULT nextval({literal})"));
    }
}

fn sequence(table: &str, column: &str) -> String {
    format!("{table}_{column}_seq")
}
