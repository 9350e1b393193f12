//! How rows of a table are changed: the names of its mutations, and the columns that can be written.

use salver_model::Name;
use salver_model::ports::Database;
use salver_model::records::{TableInfo, TableKind};

use super::TableType;
use crate::graphql::naming::Names;

/// How rows of a table are changed.
#[derive(Debug)]
pub(crate) struct Writing {
    /// The database.
    pub(crate) database: Name,
    /// The table's name in it.
    pub(crate) table: String,
    /// The root fields.
    pub(crate) create: String,
    pub(crate) update: String,
    pub(crate) delete: String,
    /// The input types.
    pub(crate) new_type: String,
    pub(crate) set_type: String,
    /// The columns that can be written, as places in the table's type, and whether a new row must have them.
    pub(crate) columns: Vec<(usize, bool)>,
}

/// What a root field of a mutation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MutationKind {
    Create,
    Update,
    Delete,
}

impl Writing {
    /// How rows of `table` are changed; `None` when they can't be, or could not be named.
    pub(crate) fn of(table: &TableType, database: &dyn Database, types: &mut Names) -> Option<Self> {
        let spec = database.spec();
        let schema = database.schema();
        let whole = table.entry.as_str();
        let inside = || whole.strip_prefix(spec.name.as_str())?.strip_prefix('.');
        let name = if schema.table(whole).is_some() { whole } else { inside()? };
        let info = schema.table(name)?;
        // Functions around changes would be passed by here.
        let is_open = spec.writable && spec.customization.is_none();
        if !is_open || info.kind == TableKind::View || table.key.is_empty() {
            return None;
        }
        let columns = (0..table.columns.len()).filter_map(|place| writable(table, place, info)).collect();
        let type_name = &table.type_name;
        Some(Self {
            database: spec.name.clone(),
            table: name.to_owned(),
            create: types.claim(&format!("create_{type_name}")),
            update: types.claim(&format!("update_{type_name}")),
            delete: types.claim(&format!("delete_{type_name}")),
            new_type: types.claim(&format!("{type_name}_new")),
            set_type: types.claim(&format!("{type_name}_set")),
            columns,
        })
    }
}

/// The column at `place` with whether a new row must have it; `None` when the database computes it.
fn writable(table: &TableType, place: usize, info: &TableInfo) -> Option<(usize, bool)> {
    let column = &info.columns[info.column(&table.columns[place].column)?];
    let given = column.nullable || column.has_default || column.auto_increment;
    (!column.generated).then_some((place, !given))
}
