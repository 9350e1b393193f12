//! What rules can be about: the entries there are, with their columns.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use salver_config::Checked;
use salver_model::access::METRICS;
use salver_model::mask::MaskedKind;
use salver_model::records::DatabaseSchema;
use salver_model::rule::Rule;
use salver_model::spec::DatabaseSpec;
use salver_model::{Description, Filter, Mask, Principal};
use salver_service::Service;

/// A column that rules can name.
pub(crate) struct RuledColumn {
    /// Name of the column.
    pub(crate) name: String,
    column_type: ColumnType,
}

/// Type of a column, as it is known where it is from.
enum ColumnType {
    /// Of a file, or of a table as SQL sees it.
    Arrow(DataType),
    /// Of a table as its database sees it.
    OfDatabase(MaskedKind),
}

impl RuledColumn {
    /// Returns why the mask does not fit the column; `None` if it does.
    pub(crate) fn misfit(&self, mask: &Mask) -> Option<String> {
        match &self.column_type {
            ColumnType::Arrow(data_type) => salver_datasets::mask_misfit(mask, data_type),
            ColumnType::OfDatabase(kind) => mask.misfit(*kind),
        }
    }
}

/// An entry as access rules have it.
pub(crate) struct RuledEntry {
    /// Name of the entry; `database.table` for a table.
    pub(crate) name: String,
    /// Its columns; none if they are not known.
    pub(crate) columns: Vec<RuledColumn>,
    /// What it is, where its rows are chosen here and not by its database.
    about: Option<Description>,
}

impl RuledEntry {
    /// Returns an entry whose columns are not known.
    fn named(name: String) -> Self {
        Self { name, columns: Vec::new(), about: None }
    }

    /// Gives it the columns of its file, by which its rows are chosen.
    pub(crate) fn describe(&mut self, about: &Description) {
        self.set_columns(&about.schema);
        self.about = Some(about.clone());
    }

    fn set_columns(&mut self, schema: &Schema) {
        let columns = schema.fields().iter().map(|field| RuledColumn {
            name: field.name().clone(),
            column_type: ColumnType::Arrow(field.data_type().clone()),
        });
        self.columns = columns.collect();
    }

    /// Returns why its rows can't be chosen so; `None` if they can, or that is not known. It is tried for a caller
    /// about whom nothing is known, and for one with a text for everything that the rule asks.
    pub(crate) fn rows_misfit(&self, rows: &Rule) -> Option<String> {
        let about = self.about.as_ref()?;
        let attributes = rows.attributes().into_iter().map(|name| (name.to_owned(), "0".to_owned())).collect();
        let known = Principal { attributes, ..Principal::default() };
        [Principal::default(), known]
            .iter()
            .find_map(|caller| salver_datasets::rows_misfit(&rows.filter(caller), about))
    }

    /// Returns whether it has the column.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own.name == column)
    }
}

/// All that is known of what rules can be about.
#[derive(Default)]
pub(crate) struct RuledEntries {
    /// The entries.
    pub(crate) all: Vec<RuledEntry>,
    /// Databases whose tables are not known, since they could not be reached, or each caller has one of its own.
    pub(crate) unread: Vec<String>,
}

impl RuledEntries {
    /// Returns the entries that the settings name themselves.
    pub(crate) fn declared(checked: &Checked) -> Self {
        let datasets = checked.datasets.iter().map(|spec| spec.name.to_string());
        let of_stream = |name: &salver_model::Name| [name.to_string(), format!("{name}_quarantine")];
        let streams = checked.streams.iter().flat_map(|spec| of_stream(&spec.name));
        let functions = checked.functions.iter().map(|spec| spec.name.to_string());
        let views = checked.views.iter().map(|spec| spec.name.to_string());
        let queries = checked.queries.iter().map(|spec| spec.name.to_string());
        let names = datasets.chain(streams).chain(functions).chain(views).chain(queries).chain([METRICS.to_owned()]);
        Self { all: names.map(RuledEntry::named).collect(), unread: Vec::new() }
    }

    /// Returns what a server has.
    pub(crate) fn served(service: &Service) -> Self {
        let snapshot = service.snapshot_of_all();
        let of_catalog = snapshot.entries().map(|entry| {
            let mut ruled = RuledEntry::named(entry.ruled_name().to_owned());
            match entry.table() {
                // A database chooses by its own comparisons.
                Some(table) if table.with_rows(&Filter::And(Vec::new())).is_some() => {
                    ruled.set_columns(&table.describe().schema);
                }
                Some(table) => ruled.describe(table.describe()),
                None => {}
            }
            ruled
        });
        let files = service.functions().iter().map(|file| file.spec().name.to_string());
        let queries = service.queries().iter().map(|query| query.spec().name.to_string());
        let named = files.chain(queries).chain([METRICS.to_owned()]);
        let all = of_catalog.chain(named.map(RuledEntry::named)).collect();
        let unread = service.databases().iter().filter(|database| database.schema().tables().is_empty());
        Self { all, unread: unread.map(|database| database.spec().name.to_string()).collect() }
    }

    /// Adds the tables of a database, if its schema could be read.
    pub(crate) fn add_database(&mut self, spec: &DatabaseSpec, schema: Option<Arc<DatabaseSchema>>) {
        let Some(schema) = schema.filter(|_| spec.of_caller.is_none()) else {
            self.unread.push(spec.name.to_string());
            return;
        };
        self.all.extend(schema.tables().iter().map(|table| {
            let columns = table.columns.iter().map(|column| RuledColumn {
                name: column.name.clone(),
                column_type: ColumnType::OfDatabase(salver_records::masked_kind(spec.kind, column)),
            });
            RuledEntry { columns: columns.collect(), ..RuledEntry::named(format!("{}.{}", spec.name, table.name)) }
        }));
    }

    /// Returns the names of the entries.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.all.iter().map(|entry| entry.name.as_str())
    }

    /// Returns whether a name or pattern can be about a table that is not known.
    pub(crate) fn may_be_unread(&self, pattern: &str) -> bool {
        self.unread.iter().any(|database| {
            let tables = format!("{database}.");
            match pattern.split_once('*') {
                Some((head, _)) => tables.starts_with(head) || head.starts_with(&tables),
                None => pattern.starts_with(&tables),
            }
        })
    }
}
