//! Validates the declared columns of a dataset.

use salver_model::spec::ColumnSpec;

use crate::data_type;
use crate::keys::Section;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

pub(super) fn check(dataset: &Table, findings: &mut Findings) -> Vec<ColumnSpec> {
    let mut columns: Vec<ColumnSpec> = Vec::new();
    for table in dataset.tables.iter().filter(|table| table.section == Section::Column) {
        let name = super::required(table, "name", findings);
        let written = super::required(table, "type", findings);
        let (Some(name), Some(written)) = (name, written) else { continue };
        if columns.iter().any(|column| column.name == name) {
            let message = format!("there are two columns called `{name}`");
            findings.mistake(Mistake::new(table.place_of("name"), message).with_hint("rename or remove one"));
            continue;
        }
        let parsed = data_type::parse(written).map_err(|why| {
            Mistake::new(table.place_of("type"), format!("`{written}` is not a type: {why}"))
                .with_hint("types are text, int, float, bool, date, timestamp, decimal(10, 2), list(int), ...")
        });
        if let Some(data_type) = findings.keep(parsed) {
            columns.push(ColumnSpec { name: name.to_owned(), data_type, nullable: table.bool("nullable") });
        }
    }
    columns
}
