//! Compiles a valid operation into a plan for its root fields.

use std::sync::Arc;

use apollo_compiler::executable::Operation;
use salver_model::{Comparison, Filter, Result};

use crate::graphql::collect::Collected;
use crate::graphql::condition;
use crate::graphql::graph::{RootKind, TableType};
use crate::graphql::groups;
use crate::graphql::input::Arguments;
use crate::graphql::level::Compiler;
use crate::graphql::plan::{DocumentPlan, PageField, RootPlan, Work};

impl<'a> Compiler<'a> {
    /// Compiles `operation`.
    pub(crate) fn plan(&self, operation: &'a Operation) -> DocumentPlan {
        let roots = self.fields(&[&operation.selection_set]);
        let roots = roots.iter().map(|root| {
            let work = self.work(root).unwrap_or_else(Work::Failed);
            RootPlan { key: root.key().to_owned(), work }
        });
        DocumentPlan { roots: roots.collect() }
    }

    fn work(&self, root: &Collected<'a>) -> Result<Work> {
        let name = root.field.name.as_str();
        match name {
            "__typename" => return Ok(Work::Typename),
            "__schema" | "__type" => return Ok(Work::Introspection),
            _ => {}
        }
        if let Some(query) = self.graph.queries.roots.get(name) {
            return self.named(*query, root).map(|call| Work::Named(Box::new(call)));
        }
        let Some(found) = self.graph.roots.get(name) else { return Ok(Work::Nothing) };
        let table = &self.graph.tables[found.table];
        let mut arguments = self.arguments(root);
        if let Some(lax) = self.lax.get(root.key()) {
            arguments.0.extend(lax.0.iter().cloned());
        }
        match found.kind {
            RootKind::Rows => {
                let mut level = self.level(found.table, &root.sets)?;
                condition::select(table, &arguments, self.raw, &mut level.query)?;
                Ok(Work::Rows(Arc::new(level)))
            }
            RootKind::ByKey => {
                let mut level = self.level(found.table, &root.sets)?;
                level.query.filter = Some(key_filter(table, &arguments)?);
                level.query.limit = Some(1);
                Ok(Work::One(Arc::new(level)))
            }
            RootKind::Page => self.page(found.table, root, &arguments),
            RootKind::Aggregate => {
                groups::compile(self, found.table, root, &arguments).map(|level| Work::Rows(Arc::new(level)))
            }
        }
    }

    fn page(&self, table: usize, root: &Collected<'a>, arguments: &Arguments) -> Result<Work> {
        let mut sets = Vec::new();
        let mut fields = Vec::new();
        for field in self.fields(&root.sets) {
            let what = match field.field.name.as_str() {
                "rows" => PageField::Rows,
                "total" => PageField::Total,
                "next" => PageField::Next,
                _ => PageField::Typename(self.graph.tables[table].page.clone()),
            };
            if what == PageField::Rows && sets.is_empty() {
                sets.clone_from(&field.sets);
            } else if what == PageField::Rows {
                return Err(salver_model::Error::new(
                    salver_model::Code::InvalidGraphql,
                    "`rows` of one page can be selected once",
                ));
            }
            fields.push((field.key().to_owned(), what));
        }
        let mut level = self.level(table, &sets)?;
        condition::select(&self.graph.tables[table], arguments, false, &mut level.query)?;
        let selects = |what: PageField| fields.iter().any(|(_, field)| *field == what);
        level.query.count = selects(PageField::Total);
        if !selects(PageField::Rows) && !selects(PageField::Next) {
            level.query.limit = Some(0);
        }
        Ok(Work::Page(Arc::new(level), fields))
    }
}

fn key_filter(table: &TableType, arguments: &Arguments) -> Result<Filter> {
    let mut all = Vec::with_capacity(table.key.len());
    for column in table.key.iter().map(|index| &table.columns[*index]) {
        if let Some(input) = arguments.get(&column.name) {
            let value = input.value(&format!("`{}`", column.name))?;
            all.push(Filter::compare(column.column.as_str(), Comparison::Eq, value));
        }
    }
    Ok(match all.len() {
        1 => all.swap_remove(0),
        _ => Filter::And(all),
    })
}
