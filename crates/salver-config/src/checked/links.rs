//! Validates references between sections: relations and stores.

use salver_model::spec::{ColumnSpec, DatasetSpec};
use salver_model::{Name, Relation};

use super::StoreSpec;
use crate::keys::Section;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Adds the relations of each table to its dataset. Datasets behind the tables' are discovered ones, which have none.
pub(super) fn relations(datasets: &mut [DatasetSpec], tables: &[&Table], findings: &mut Findings) {
    for (index, table) in tables.iter().enumerate() {
        let mut relations: Vec<Relation> = Vec::new();
        for written in table.tables.iter().filter(|table| table.section == Section::Relation) {
            let Some(relation) = relation(written, &datasets[index], datasets, findings) else { continue };
            if relations.iter().any(|other| other.name == relation.name) {
                let message = format!("there are two relations called `{}`", relation.name);
                findings.mistake(Mistake::new(written.place_of("name"), message).with_hint("rename one"));
                continue;
            }
            relations.push(relation);
        }
        datasets[index].relations = relations;
    }
}

fn relation(table: &Table, here: &DatasetSpec, datasets: &[DatasetSpec], findings: &mut Findings) -> Option<Relation> {
    let name = super::required(table, "name", findings);
    let target = super::required(table, "target", findings);
    let from = required_list(table, "columns", findings);
    let (name, target, from) = (name?, target?, from?);
    if has(&here.schema, name) {
        let message = format!("the relation `{name}` has the name of a column of `{}`", here.name);
        findings.mistake(Mistake::new(table.place_of("name"), message).with_hint("rename the relation"));
    }
    let there = dataset(table, "target", target, datasets, findings)?;
    let to = match table.texts("target_columns") {
        Some(to) => to,
        None if there.key.is_empty() => {
            let message = format!("`{target}` has no `key`, so the relation must name its columns");
            let hint = "add target_columns = [...], or `key` to that dataset";
            findings.mistake(Mistake::new(&table.place, message).with_hint(hint));
            return None;
        }
        None => &there.key,
    };
    if from.len() != to.len() {
        let message = format!("the relation `{name}` joins {} columns here with {} there", from.len(), to.len());
        findings.mistake(Mistake::new(table.place_of("columns"), message).with_hint("name as many there as here"));
        return None;
    }
    Some(Relation {
        name: name.to_owned(),
        columns: from.to_vec(),
        target: there.name.clone(),
        target_columns: to.to_vec(),
    })
}

pub(super) fn stores(tables: &[Table], datasets: &[DatasetSpec], findings: &mut Findings) -> Vec<StoreSpec> {
    let mut stores: Vec<StoreSpec> = Vec::new();
    for table in tables {
        let name = super::name(table, "name", findings);
        let entry = super::required(table, "dataset", findings);
        let entry = entry.and_then(|entry| dataset(table, "dataset", entry, datasets, findings));
        let (key, value) = (super::required(table, "key", findings), super::required(table, "value", findings));
        if let Some(name) = name.as_ref().filter(|name| stores.iter().any(|other| other.name == **name)) {
            let message = format!("there are two stores called `{name}`");
            findings.mistake(Mistake::new(table.place_of("name"), message).with_hint("rename one"));
            continue;
        }
        let (Some(name), Some(entry), Some(key), Some(value)) = (name, entry, key, value) else { continue };
        stores.push(StoreSpec { name, dataset: entry.name.clone(), key: key.to_owned(), value: value.to_owned() });
    }
    stores
}

fn has(schema: &[ColumnSpec], name: &str) -> bool {
    schema.iter().any(|column| column.name == name)
}

fn dataset<'d>(
    table: &Table,
    key: &str,
    name: &str,
    datasets: &'d [DatasetSpec],
    findings: &mut Findings,
) -> Option<&'d DatasetSpec> {
    let found = datasets.iter().find(|spec| spec.name.as_str() == name);
    if found.is_none() {
        let mistake = Mistake::new(table.place_of(key), format!("there is no dataset `{name}`"));
        let names = datasets.iter().map(|spec| &spec.name).map(Name::as_str);
        findings.mistake(mistake.with_hint_if(salver_model::suggest::hint(name, names)));
    }
    found
}

fn required_list<'t>(table: &'t Table, key: &str, findings: &mut Findings) -> Option<&'t [String]> {
    match table.texts(key) {
        Some(texts) if !texts.is_empty() => Some(texts),
        _ if table.is_mistaken(key) => None,
        _ => {
            let message = format!("{} has no `{key}`", table.section.header());
            let example = table.section.setting(key).map_or("", |setting| setting.example);
            findings.mistake(Mistake::new(&table.place, message).with_hint(format!("add {key} = {example}")));
            None
        }
    }
}
