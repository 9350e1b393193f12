//! Column selection: `include`, then `exclude`, then the columns that rules hide.

use ahash::AHashSet;
use salver_model::records::{Operation, RecordQuery, TableInfo};
use salver_model::{Code, Error, Result};

use crate::scope::Scope;

/// The column selection of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chooser<'q> {
    include: Option<AHashSet<&'q str>>,
    exclude: Option<AHashSet<&'q str>>,
    /// Columns by table that are shown without being requested, because joined rows depend on them.
    forced: AHashSet<(&'q str, usize)>,
}

impl<'q> Chooser<'q> {
    pub(crate) fn new(include: Option<&'q [String]>, exclude: Option<&'q [String]>) -> Self {
        let words = |list: &'q [String]| list.iter().map(String::as_str).collect();
        Self { include: include.map(words), exclude: exclude.map(words), forced: AHashSet::new() }
    }

    pub(crate) fn of(query: &'q RecordQuery) -> Self {
        Self::new(query.include.as_deref(), query.exclude.as_deref())
    }

    /// Returns whether columns are requested by name, so that keys must be forced in.
    pub(crate) fn includes(&self) -> bool {
        self.include.is_some()
    }

    /// Shows these columns of the table whatever was requested.
    pub(crate) fn force(&mut self, table: &'q TableInfo, columns: &[usize]) {
        self.forced.extend(columns.iter().map(|index| (table.name.as_str(), *index)));
    }

    /// Returns the columns of `table` to show. Names without a table refer to the `primary` one.
    pub(crate) fn shown(
        &self,
        scope: &Scope<'_>,
        operation: Operation,
        table: &TableInfo,
        primary: bool,
    ) -> Vec<usize> {
        let visible = |index: &usize| scope.access.column(operation, &table.name, &table.columns[*index].name);
        let all = (0..table.columns.len()).filter(visible);
        if self.include.is_none() && self.exclude.is_none() {
            return all.collect();
        }
        all.filter(|index| {
            let name = &table.columns[*index].name;
            let asked = self.include.as_ref().is_none_or(|words| meant(words, table, name, primary));
            let refused = self.exclude.as_ref().is_some_and(|words| meant(words, table, name, primary));
            (asked && !refused) || self.forced.contains(&(table.name.as_str(), *index))
        })
        .collect()
    }

    /// Checks that every name is valid: a column of the first table, or a qualified column of one of the tables.
    ///
    /// # Errors
    /// `InvalidColumn`, with the nearest column as hint.
    pub(crate) fn prove(&self, scope: &Scope<'_>, operation: Operation, tables: &[&TableInfo]) -> Result<()> {
        let Some(primary) = tables.first() else { return Ok(()) };
        // Sorted, so that of several mistakes the same one is reported each time.
        let mut words: Vec<&str> = self.include.iter().chain(&self.exclude).flatten().copied().collect();
        words.sort_unstable();
        for word in words.into_iter().filter(|word| !matches!(*word, "*" | "*.*" | "")) {
            let (table, column) = match word.split_once('.') {
                _ if scope.column(operation, primary, word).is_some() => continue,
                Some((table, column)) => (tables.iter().find(|own| own.name == table), column),
                None => (Some(primary), word),
            };
            let Some(table) = table else {
                let names = tables.iter().map(|table| table.name.as_str());
                return Err(Error::new(Code::InvalidColumn, format!("`{word}` is of a table that is not joined"))
                    .with_hint_if(salver_model::suggest::hint(word, names)));
            };
            if column != "*" && scope.column(operation, table, column).is_none() {
                let mut error = scope.unknown_column(operation, table, column);
                error.code = Code::InvalidColumn;
                error.message = format!("no column `{column}` in `{}`", table.name);
                return Err(error);
            }
        }
        Ok(())
    }
}

fn meant(words: &AHashSet<&str>, table: &TableInfo, column: &str, primary: bool) -> bool {
    if words.contains("*.*") || (primary && (words.contains("*") || words.contains(column))) {
        return true;
    }
    words.iter().any(|word| {
        let rest = word.strip_prefix(table.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| rest == "*" || rest == column)
    })
}
