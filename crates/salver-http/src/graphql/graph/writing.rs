//! Mutations of a table: their names, and the writable columns.

use salver_model::Name;
use salver_model::ports::Database;
use salver_model::records::{Operation, TableInfo, TableKind};
use salver_service::Snapshot;

use super::TableType;
use crate::graphql::naming::Names;

/// The mutations of a table.
#[derive(Debug)]
pub(crate) struct Writing {
    /// Name of the database.
    pub(crate) database: Name,
    /// Name of the table in the database.
    pub(crate) table: String,
    /// The mutations that the caller may make.
    pub(crate) kinds: Vec<MutationKind>,
    /// Names of the root fields.
    pub(crate) create: String,
    pub(crate) update: String,
    pub(crate) delete: String,
    /// Names of the input types.
    pub(crate) new_type: String,
    pub(crate) set_type: String,
    /// Columns that the caller may give a new row, as indexes in the table's type, and whether it must have them.
    pub(crate) new_columns: Vec<(usize, bool)>,
    /// Columns that the caller may change.
    pub(crate) set_columns: Vec<usize>,
}

/// The operation of a mutation's root field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MutationKind {
    Create,
    Update,
    Delete,
}

impl Writing {
    /// Returns the mutations of `table` that the caller of the snapshot may make; `None` when there are none: it is not
    /// writable, or has no name in the database. What can't be written is not offered.
    pub(crate) fn of(
        table: &TableType,
        database: &dyn Database,
        snapshot: &Snapshot,
        types: &mut Names,
    ) -> Option<Self> {
        let spec = database.spec();
        let schema = database.schema();
        let whole = table.entry.as_str();
        let inside = || whole.strip_prefix(spec.name.as_str())?.strip_prefix('.');
        let name = if schema.table(whole).is_some() { whole } else { inside()? };
        let info = schema.table(name)?;
        // A mutation would bypass the functions that wrap changes.
        let is_open = spec.writable && spec.customization.is_none();
        if !is_open || info.kind == TableKind::View || table.key.is_empty() {
            return None;
        }
        let may = |operation, column: Option<&str>| snapshot.permits_change(spec, name, operation, column);
        let columns = |operation| -> Vec<(usize, bool)> {
            let writable = (0..table.columns.len()).filter_map(|place| writable(table, place, info));
            writable.filter(|(place, _)| may(operation, Some(&table.columns[*place].column))).collect()
        };
        let new_columns = columns(Operation::Create);
        let set_columns: Vec<usize> = columns(Operation::Update).into_iter().map(|(place, _)| place).collect();
        // An input type without a field is none.
        let kinds: Vec<MutationKind> = [
            (MutationKind::Create, !new_columns.is_empty() && may(Operation::Create, None)),
            (MutationKind::Update, !set_columns.is_empty() && may(Operation::Update, None)),
            (MutationKind::Delete, may(Operation::Delete, None)),
        ]
        .into_iter()
        .filter_map(|(kind, may)| may.then_some(kind))
        .collect();
        if kinds.is_empty() {
            return None;
        }
        let type_name = &table.type_name;
        Some(Self {
            database: spec.name.clone(),
            table: name.to_owned(),
            kinds,
            create: types.claim(&format!("create_{type_name}")),
            update: types.claim(&format!("update_{type_name}")),
            delete: types.claim(&format!("delete_{type_name}")),
            new_type: types.claim(&format!("{type_name}_new")),
            set_type: types.claim(&format!("{type_name}_set")),
            new_columns,
            set_columns,
        })
    }

    /// Returns the name of a mutation's root field.
    pub(crate) fn name_of(&self, kind: MutationKind) -> &str {
        match kind {
            MutationKind::Create => &self.create,
            MutationKind::Update => &self.update,
            MutationKind::Delete => &self.delete,
        }
    }
}

/// Returns the column at `place` with whether a new row must have it; `None` when the database computes it.
fn writable(table: &TableType, place: usize, info: &TableInfo) -> Option<(usize, bool)> {
    let column = &info.columns[info.column(&table.columns[place].column)?];
    let given = column.nullable || column.has_default || column.auto_increment;
    (!column.generated).then_some((place, !given))
}
