//! Maps names of the database to public names: which tables are served, and the names of these and their columns.

use salver_model::records::TableInfo;
use salver_model::spec::{DatabaseSpec, matches_pattern};

/// Returns the served ones of `tables`, with public names. Foreign keys to tables that are not served are removed.
pub(crate) fn outside(spec: &DatabaseSpec, tables: Vec<TableInfo>) -> Vec<TableInfo> {
    let served = |name: &str| spec.tables.iter().any(|pattern| matches_pattern(pattern, name));
    let mut tables: Vec<TableInfo> = tables
        .into_iter()
        .filter(|table| served(&table.real_name) || served(name_of(spec, &table.real_name)))
        .collect();
    for table in &mut tables {
        for column in &mut table.columns {
            if let Some(name) = column_name(spec, &table.real_name, &column.real_name) {
                column.name = name.to_owned();
            }
        }
        table.name = name_of(spec, &table.real_name).to_owned();
        for key in &mut table.foreign_keys {
            for column in &mut key.target_columns {
                if let Some(name) = column_name(spec, &key.target, column) {
                    *column = name.to_owned();
                }
            }
            key.target = name_of(spec, &key.target).to_owned();
        }
    }
    let names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
    for table in &mut tables {
        table.foreign_keys.retain(|key| names.contains(&key.target));
    }
    tables
}

/// Returns the table's public name: from a pair of table names, or the table part of a pair of columns.
fn name_of<'s>(spec: &'s DatabaseSpec, real: &'s str) -> &'s str {
    let table = |text: &'s str| text.split_once('.').map_or(text, |(table, _)| table);
    let found = spec.mapping.iter().find(|(from, _)| table(from) == real);
    found.map_or(real, |(_, to)| table(to))
}

fn column_name<'s>(spec: &'s DatabaseSpec, table: &str, real: &str) -> Option<&'s str> {
    spec.mapping.iter().find_map(|(from, to)| {
        let (from_table, from_column) = from.split_once('.')?;
        let (_, to_column) = to.split_once('.')?;
        (from_table == table && from_column == real).then_some(to_column)
    })
}
