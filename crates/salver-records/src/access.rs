//! Access control for one caller: which tables, columns and rows an operation may touch, from the entry's rules, its
//! tenancy, the caller's rights, and whether the entry is writable. Every operation consults it, also for the tables it
//! joins and filters by.

use salver_model::access::{AccessRule, Granted};
use salver_model::records::{DatabaseSchema, ForeignKey, Operation, TableInfo, TableKind};
use salver_model::spec::{DatabaseSpec, RecordRule, Tenancy, matches_pattern};
use salver_model::{Caller, Code, Error, Filter, Mask, Permission, Result, Rule, Value};

/// The rules of an entry as they apply to one caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'a> {
    pub(crate) spec: &'a DatabaseSpec,
    pub(crate) caller: &'a Caller,
    /// Whether only those rules and tenancies hold that mean the same for every caller.
    pub(crate) for_all_alike: bool,
}

impl<'a> Access<'a> {
    pub(crate) fn rules<'t>(
        self,
        operation: Operation,
        table: &'t str,
    ) -> impl Iterator<Item = &'a RecordRule> + use<'a, 't> {
        self.spec.rules.iter().filter(move |rule| {
            let holds = || if self.for_all_alike { rule.is_for_all_alike() } else { rule.is_for(self.caller) };
            rule.covers(operation) && rule.is_about(table) && holds()
        })
    }

    /// Returns what the caller's rights permit; `None` for a caller without bounds.
    fn granted(self, operation: Operation, table: &str) -> Option<Option<Granted<'a>>> {
        let grants = self.caller.grants.as_ref().filter(|grants| !grants.policy().is_open())?;
        Some(grants.decide(Permission::of_operation(operation), &self.ruled_name(table)))
    }

    /// Returns the name that access rules have a table by.
    fn ruled_name(self, table: &str) -> String {
        format!("{}.{table}", self.spec.name)
    }

    /// Returns a number that callers with other roles do not have, so that what is prepared for some is not used for
    /// others.
    pub(crate) fn class(self) -> u64 {
        self.caller.grants.as_ref().map_or(0, |grants| grants.class())
    }

    /// Returns whether every caller of a class sees the same tables and columns, so that results derived from them can
    /// be cached.
    pub(crate) fn is_uniform(self) -> bool {
        self.spec.rules.iter().all(|rule| rule.except.is_none())
    }

    /// Returns whether renaming a table from `old` to `new` would change which rules or tenancies apply to it.
    pub(crate) fn moves_table(self, old: &str, new: &str) -> bool {
        let tenancies = self.spec.tenancy.iter().map(|own| own.table.as_str());
        let access = self.caller.grants.as_ref().map(|grants| grants.policy().rules()).unwrap_or_default();
        let (ruled_old, ruled_new) = (self.ruled_name(old), self.ruled_name(new));
        access.iter().any(|rule| rule.is_about(&ruled_old) != rule.is_about(&ruled_new))
            || self.spec.rules.iter().any(|rule| rule.is_about(old) != rule.is_about(new))
            || tenancies.into_iter().any(|table| matches_pattern(table, old) != matches_pattern(table, new))
    }

    /// Returns whether rules or tenancy name the column, so that dropping it, or renaming it to `new`, would bypass
    /// them.
    pub(crate) fn moves_column(self, table: &str, old: &str, new: Option<&str>) -> bool {
        let is = |pattern: &str, name: Option<&str>| name.is_some_and(|name| matches_pattern(pattern, name));
        let hides = |rule: &RecordRule| rule.columns_hidden.iter().any(|own| is(own, Some(old)) && !is(own, new));
        let chooses = |rule: &RecordRule| rule.rows.as_ref().is_some_and(|rows| rows.columns().contains(&old));
        let mut tenancies = self.spec.tenancy.iter().filter(|own| matches_pattern(&own.table, table));
        let access = self.caller.grants.as_ref().map(|grants| grants.policy().rules()).unwrap_or_default();
        let ruled_name = self.ruled_name(table);
        let bars = |rule: &AccessRule| {
            let patterns = rule.columns.masked.iter().map(|own| &own.columns).chain(&rule.columns.hidden);
            patterns.into_iter().any(|own| is(own, Some(old)) && !is(own, new)) && new.is_some()
                || rule.rows.as_ref().is_some_and(|rows| rows.columns().contains(&old))
        };
        if access.iter().any(|rule| rule.is_about(&ruled_name) && bars(rule)) {
            return true;
        }
        tenancies.any(|own| own.column == old)
            || self
                .spec
                .rules
                .iter()
                .any(|rule| rule.is_about(table) && (chooses(rule) || new.is_some() && hides(rule)))
    }

    /// Returns whether the table is visible to this operation.
    pub(crate) fn table(self, operation: Operation, table: &str) -> bool {
        !self.rules(operation, table).any(|rule| rule.deny) && !matches!(self.granted(operation, table), Some(None))
    }

    /// Returns whether the caller's rights keep the table back, as against the rules of its database.
    pub(crate) fn keeps_back(self, operation: Operation, table: &str) -> bool {
        matches!(self.granted(operation, table), Some(None))
    }

    /// Returns whether the caller's rights let it make a table of this name.
    pub(crate) fn may_define(self, table: &str) -> bool {
        !matches!(self.granted(Operation::Remodel, table), Some(None))
    }

    /// Returns whether the column is visible to this operation.
    pub(crate) fn column(self, operation: Operation, table: &str, column: &str) -> bool {
        if !self.spec.rules.is_empty() && self.rules(operation, table).any(|rule| rule.hides(column)) {
            return false;
        }
        match self.granted(operation, table) {
            None => true,
            // What is masked can neither be written nor chosen by in a change.
            Some(granted) => granted
                .is_some_and(|granted| granted.shows(column) && (reads(operation) || granted.mask(column).is_none())),
        }
    }

    /// Returns the masked columns of the table with what masks them, as the operation sees them.
    pub(crate) fn masks(self, operation: Operation, table: &TableInfo) -> Vec<(usize, &'a Mask)> {
        let granted = if reads(operation) { self.granted(operation, &table.name).flatten() } else { None };
        let Some(granted) = granted.filter(|granted| !granted.rule.columns.masked.is_empty()) else {
            return Vec::new();
        };
        let columns = table.columns.iter().enumerate();
        columns.filter_map(|(index, column)| Some((index, granted.mask(&column.name)?))).collect()
    }

    /// Returns whether the column is masked for the operation.
    fn masks_column(self, operation: Operation, table: &str, column: &str) -> bool {
        reads(operation)
            && self.granted(operation, table).flatten().is_some_and(|granted| granted.mask(column).is_some())
    }

    /// Returns whether any column of the table is masked for the operation.
    pub(crate) fn is_masked(self, operation: Operation, table: &TableInfo) -> bool {
        !self.masks(operation, table).is_empty()
    }

    /// Returns whether any of these columns is masked for the operation.
    pub(crate) fn is_any_masked(self, operation: Operation, table: &TableInfo, columns: &[usize]) -> bool {
        self.masks(operation, table).iter().any(|(index, _)| columns.contains(index))
    }

    /// Returns whether rows of the table can be addressed and identified by their key: it has one, and no column of it
    /// is hidden or masked.
    pub(crate) fn is_keyed(self, operation: Operation, table: &TableInfo) -> bool {
        let seen = |index: &usize| self.column(operation, &table.name, &table.columns[*index].name);
        !table.key.is_empty() && table.key.iter().all(seen) && !self.is_any_masked(operation, table, &table.key)
    }

    /// Returns the expressions that every row must satisfy, those of the caller's rights among them.
    pub(crate) fn row_rules<'t>(
        self,
        operation: Operation,
        table: &'t str,
    ) -> impl Iterator<Item = &'a Rule> + use<'a, 't> {
        let granted = self.granted(operation, table).flatten().and_then(|granted| granted.rule.rows.as_ref());
        self.rules(operation, table).filter_map(|rule| rule.rows.as_ref()).chain(granted)
    }

    /// Returns the predicates that every row must satisfy to be visible: those of the rules and of the tenancy.
    pub(crate) fn rows(self, operation: Operation, table: &TableInfo) -> Vec<Filter> {
        let mut filters: Vec<Filter> =
            self.row_rules(operation, &table.name).map(|rule| rule.filter(self.caller)).collect();
        if matches!(self.granted(operation, &table.name), Some(None)) {
            // Nothing is there.
            filters.push(Filter::Or(Vec::new()));
        }
        filters.extend(self.tenancy(table).into_iter().map(|(column, value)| {
            Filter::compare(
                salver_model::ColumnPath::column(table.columns[column].name.as_str()),
                salver_model::Comparison::Eq,
                value,
            )
        }));
        filters
    }

    /// Returns the tenancy columns with the caller's value for each. A caller without a value gets null, which matches
    /// no row.
    pub(crate) fn tenancy(self, table: &TableInfo) -> Vec<(usize, Value)> {
        let holds = |tenancy: &&Tenancy| {
            matches_pattern(&tenancy.table, &table.name) && !(self.for_all_alike && tenancy.attribute().is_some())
        };
        let meant = self.spec.tenancy.iter().filter(holds);
        meant.filter_map(|own| Some((table.column(&own.column)?, own.value.value(self.caller)))).collect()
    }

    /// Returns the schema without the tables and columns that are hidden from this operation.
    pub(crate) fn visible(self, schema: &DatabaseSchema, operation: Operation) -> DatabaseSchema {
        let tables = schema.tables().iter().filter_map(|table| self.visible_part(table, operation)).collect();
        DatabaseSchema::new(tables, schema.stamp())
    }

    /// Returns the table without the columns that are hidden from this operation; `None` if it is hidden.
    pub(crate) fn visible_part(self, table: &TableInfo, operation: Operation) -> Option<TableInfo> {
        if !self.table(operation, &table.name) {
            return None;
        }
        let kept: Vec<usize> = (0..table.columns.len())
            .filter(|index| self.column(operation, &table.name, &table.columns[*index].name))
            .collect();
        let moved = |index: &usize| kept.iter().position(|own| own == index);
        let masked = self.masks(operation, table);
        // Masked values identify nothing.
        let is_true = |index: &&usize| !masked.iter().any(|(own, _)| own == *index);
        let all = |list: &[usize]| {
            list.iter().map(|index| Some(index).filter(is_true).and_then(moved)).collect::<Option<Vec<usize>>>()
        };
        let mut own = table.clone();
        own.columns = kept.iter().map(|index| table.columns[*index].clone()).collect();
        own.key = all(&table.key).unwrap_or_default();
        own.unique = table.unique.iter().filter_map(|list| all(list)).collect();
        let leads_on = |key: &ForeignKey| {
            self.table(operation, &key.target)
                && key.target_columns.iter().all(|column| {
                    self.column(operation, &key.target, column) && !self.masks_column(operation, &key.target, column)
                })
        };
        own.foreign_keys.retain(|key| all(&key.columns).is_some() && leads_on(key));
        for key in &mut own.foreign_keys {
            key.columns = all(&key.columns).unwrap_or_default();
        }
        Some(own)
    }

    /// Checks that rows of the table may be changed.
    ///
    /// # Errors
    /// `ReadOnly`, `Unsupported` for views.
    pub(crate) fn writable(self, operation: Operation, table: &TableInfo) -> Result<()> {
        if !self.spec.writable {
            return Err(Error::new(Code::ReadOnly, "Operation forbidden")
                .with_hint(format!("`{}` is read-only; set `writable = true` in its [[database]]", self.spec.name)));
        }
        if table.kind == TableKind::View {
            let word = Operation::ALL.iter().find(|(_, own)| *own == operation).map_or("", |(word, _)| word);
            return Err(Error::new(Code::Unsupported, format!("Operation '{word}' not supported"))
                .with_hint(format!("`{}` is a view", table.name)));
        }
        Ok(())
    }
}

/// Returns whether the operation sees rows, and changes none.
fn reads(operation: Operation) -> bool {
    matches!(operation, Operation::List | Operation::Read | Operation::Reflect | Operation::Document)
}
