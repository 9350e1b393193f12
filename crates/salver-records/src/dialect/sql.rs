//! SQL text under construction, with the values for its placeholders. Values never become text of the statement.

use salver_model::records::TableInfo;

use crate::dialect::Dialect;
use crate::statement::Bind;

/// A statement under construction.
#[derive(Clone, Debug)]
pub(crate) struct Sql {
    pub(crate) dialect: Dialect,
    pub(crate) text: String,
    pub(crate) binds: Vec<Bind>,
}

impl Sql {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, text: String::with_capacity(256), binds: Vec::new() }
    }

    /// Appends text that no client wrote.
    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends a quoted name.
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.dialect.name(name, &mut self.text);
        self
    }

    /// Appends `alias."column"`; an empty alias stands for none.
    pub(crate) fn column(&mut self, alias: &str, table: &TableInfo, index: usize) -> &mut Self {
        if !alias.is_empty() {
            self.text.push_str(alias);
            self.text.push('.');
        }
        self.name(&table.columns[index].real_name)
    }

    /// Appends a placeholder for `bind`.
    pub(crate) fn bind(&mut self, bind: Bind) -> &mut Self {
        self.dialect.placeholder(self.binds.len(), &mut self.text);
        self.binds.push(bind);
        self
    }

    /// Appends `separator` unless `first`.
    pub(crate) fn separate(&mut self, first: &mut bool, separator: &str) -> &mut Self {
        if !std::mem::replace(first, false) {
            self.text.push_str(separator);
        }
        self
    }
}
