//! The columns of a load. A bulk load has one list of columns: the union of the first rows' columns. A later row may
//! omit some, which are null then, and may not add any.

use salver_model::records::{Load, Operation, Record};
use salver_model::{Code, Error, Result};

use super::super::context::WriteContext;
use super::super::database_validation::{self, Judged};
use super::super::row_rules::{Admission, refused};
use crate::dialect::Dialect;
use crate::statement::{Bind, BulkLoad};

/// The columns of a load.
#[derive(Debug)]
pub(super) struct LoadColumns {
    columns: Vec<usize>,
}

impl LoadColumns {
    /// Determines the columns that `rows` name, and those with values of the entry.
    pub(super) fn of<'r>(
        ground: &WriteContext<'_>,
        rows: impl Iterator<Item = &'r Record> + Clone,
        upsert: bool,
    ) -> Result<Self> {
        let mut named = vec![false; ground.table.columns.len()];
        for (name, _) in rows.clone().flatten() {
            // Unknown names are reported row by row.
            if let Ok(Some(column)) = ground.writes(name) {
                named[column] = true;
            }
        }
        for (column, _) in &ground.forced {
            named[*column] = true;
        }
        let columns: Vec<usize> = (0..named.len()).filter(|column| named[*column]).collect();
        if columns.is_empty() {
            let error = Error::new(Code::Invalid, format!("the rows have no column of `{}`", ground.table.name));
            let first = rows.clone().flatten().next();
            return Err(error.with_hint_if(first.and_then(|(name, _)| ground.unknown_column(name).hint)));
        }
        if upsert {
            let missing: Vec<usize> = ground.table.key.iter().copied().filter(|key| !named[*key]).collect();
            if !missing.is_empty() {
                return Err(Error::new(Code::InvalidRequest, format!("the rows have no {}", ground.names(&missing)))
                    .with_hint("rows that may change others need their primary key"));
            }
            let ruled = |operation| !ground.scope.access.rows(operation, ground.table).is_empty();
            if ruled(Operation::Update) || ruled(Operation::Create) {
                return Err(Error::new(Code::Unsupported, "rows of this table can't be loaded over others")
                    .with_hint("rules say whose the rows are; upsert them in batches"));
            }
        }
        Ok(Self { columns })
    }

    /// Returns the values of a row that only the database can validate.
    pub(super) fn judged(&self, ground: &WriteContext<'_>) -> Vec<Judged> {
        database_validation::in_columns(ground, &self.columns)
    }

    /// Returns the load for the backend.
    pub(super) fn bulk(&self, ground: &WriteContext<'_>, load: &Load) -> Result<BulkLoad> {
        let mut sql = ground.scope.sql();
        sql.push("INSERT");
        ground.append_values(self.columns.iter().map(|column| (*column, Bind::Null)).collect(), &mut sql);
        if load.upsert {
            let names = |columns: &[usize]| -> Vec<&str> {
                columns.iter().map(|column| ground.table.columns[*column].real_name.as_str()).collect()
            };
            let set = ground.settable(self.columns.iter().copied(), &ground.table.key);
            let set: Vec<_> = set.iter().map(|column| &ground.table.columns[*column]).collect();
            ground.scope.dialect.on_conflict(&names(&ground.table.key), &set, &mut sql);
        }
        let columns = self.columns.iter().map(|column| &ground.table.columns[*column]);
        Ok(BulkLoad {
            table: ground.table.real_name.clone(),
            columns: columns.map(|column| (column.real_name.clone(), column.kind)).collect(),
            insert: sql.text.into(),
            dry_run: load.dry_run,
            keep_good: load.keep_good,
            upsert: load.upsert,
        })
    }

    /// Converts one row to values in the order of the columns.
    pub(super) fn row(&self, ground: &WriteContext<'_>, record: &Record) -> Result<Vec<Bind>> {
        let fields = ground.fields(record)?;
        if let Some((column, _)) = fields.iter().find(|(column, _)| self.columns.binary_search(column).is_err()) {
            let name = &ground.table.columns[*column].name;
            return Err(Error::new(Code::Invalid, format!("`{name}` is not among the columns of the first rows"))
                .with_hint("name every column that any row has in the first row, null where it has none"));
        }
        let values = ground.values(&fields, &|_, _| Ok(Bind::Null))?;
        if ground.admission(&values, true) != Admission::Passed && !ground.admits_as_written(&values) {
            return Err(refused());
        }
        let mut row = vec![None; self.columns.len()];
        for (column, bind) in values {
            if let Ok(at) = self.columns.binary_search(&column) {
                row[at] = Some(bind);
            }
        }
        for (at, column) in self.columns.iter().enumerate() {
            let info = &ground.table.columns[*column];
            let said = fields.iter().any(|(own, _)| own == column);
            // SQLite and MySQL generate a key that is null.
            let numbered = info.auto_increment && ground.scope.dialect != Dialect::Postgres;
            if row[at].is_none() && !said && (info.has_default || info.auto_increment) && !numbered {
                return Err(Error::new(Code::Invalid, format!("`{}` is missing", info.name))
                    .with_hint("the first rows have it, so that the database would not give this row its default"));
            }
        }
        Ok(row.into_iter().map(|bind| bind.unwrap_or(Bind::Null)).collect())
    }
}
