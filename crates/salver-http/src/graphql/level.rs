//! Compiles a selection on a table into a level: the columns to read, the relations to follow, and the bytes to write.

use std::sync::Arc;

use ahash::AHashMap;
use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::SelectionSet;
use salver_model::{Item, Query, Result};

use crate::graphql::collect::{Collected, collect};
use crate::graphql::condition;
use crate::graphql::graph::{ColumnShape, FieldSource, Graph, TableType};
use crate::graphql::input::Arguments;
use crate::graphql::plan::{FieldPlan, Level, Part, RelationPlan, Selection, ValuePlan};
use crate::graphql::variables::Variables;

/// The context of a compilation.
#[derive(Debug)]
pub(crate) struct Compiler<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) document: &'a ExecutableDocument,
    pub(crate) variables: Variables<'a>,
    /// Arguments in ROAPI's shorthand, removed from the document before its validation, by the name of their root field
    /// in the result.
    pub(crate) lax: &'a AHashMap<String, Arguments>,
    /// Whether the request is in ROAPI's form.
    pub(crate) raw: bool,
}

impl<'a> Compiler<'a> {
    /// Returns the fields of `sets`.
    pub(crate) fn fields(&self, sets: &[&'a SelectionSet]) -> Vec<Collected<'a>> {
        collect(self.document, self.variables.values, sets)
    }

    /// Returns the arguments of `field`.
    pub(crate) fn arguments(&self, field: &Collected<'a>) -> Arguments {
        Arguments::of(&field.field.arguments, &|name| self.variables.get(name))
    }

    /// Compiles the rows of `table` that `sets` selects; filter, order and page are left to the caller.
    pub(crate) fn level(&self, table: usize, sets: &[&'a SelectionSet]) -> Result<Level> {
        let of = &self.graph.tables[table];
        let mut items = Items::default();
        let mut fields = Vec::new();
        let mut relations = Vec::new();
        for field in self.fields(sets) {
            let value = match of.fields.get(field.field.name.as_str()) {
                None => ValuePlan::Constant(format!("\"{}\"", of.type_name).into_bytes()),
                Some(FieldSource::Column(index)) => {
                    let column = &of.columns[*index];
                    ValuePlan::Column(items.column(of, *index), self.part(&column.shape, &field.sets))
                }
                Some(FieldSource::Relation(index)) => {
                    relations.push(self.relation(of, *index, &field, &mut items)?);
                    ValuePlan::Relation(relations.len() - 1)
                }
            };
            fields.push(field_plan(field.key(), fields.is_empty(), value));
        }
        if items.items.is_empty() {
            // Without items the query would read every column.
            items.column(of, 0);
        }
        let query = Query { items: items.items, ..Query::default() };
        Ok(Level { table, query, selection: Arc::new(Selection { fields, relations }) })
    }

    fn relation(&self, of: &TableType, index: usize, field: &Collected<'a>, items: &mut Items) -> Result<RelationPlan> {
        let relation = &of.relations[index];
        let target = &self.graph.tables[relation.target];
        let mut child = self.level(relation.target, &field.sets)?;
        let mut child_items = Items { items: std::mem::take(&mut child.query.items) };
        let columns = relation.target_columns.iter().map(|column| child_items.column(target, *column)).collect();
        child.query.items = child_items.items;
        let arguments = self.arguments(field);
        child.query.filter = condition::filter(target, &arguments)?;
        if let Some(input) = arguments.get("sort") {
            child.query.sort = condition::sort(target, input)?;
        }
        Ok(RelationPlan {
            key: field.key().to_owned(),
            items: relation.columns.iter().map(|column| items.column(of, *column)).collect(),
            child: Arc::new(child),
            child_items: columns,
            one: relation.one,
            limit: arguments.count("limit")?,
        })
    }

    /// Returns what `sets` selects of a value of this shape.
    pub(crate) fn part(&self, shape: &ColumnShape, sets: &[&'a SelectionSet]) -> Part {
        match shape {
            ColumnShape::Scalar(_) => Part::Whole,
            ColumnShape::List(item, _) if item.object().is_none() => Part::Whole,
            ColumnShape::List(item, _) => Part::Items(Box::new(self.part(item, sets))),
            ColumnShape::Object(object) => {
                let mut fields = Vec::new();
                for field in self.fields(sets) {
                    let found = object.fields.iter().position(|f| f.name == field.field.name.as_str());
                    let value = match found {
                        None => ValuePlan::Constant(format!("\"{}\"", object.type_name).into_bytes()),
                        Some(i) => ValuePlan::Column(i, self.part(&object.fields[i].shape, &field.sets)),
                    };
                    fields.push(field_plan(field.key(), fields.is_empty(), value));
                }
                Part::Fields(fields)
            }
        }
    }
}

/// Returns a field with the bytes that precede its value.
pub(crate) fn field_plan(key: &str, first: bool, value: ValuePlan) -> FieldPlan {
    // GraphQL names need no escaping.
    let prefix = format!("{}\"{key}\":", if first { '{' } else { ',' }).into_bytes();
    FieldPlan { key: key.to_owned(), prefix, value }
}

/// The columns of a query, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) items: Vec<Item>,
}

impl Items {
    /// Returns the index of a column of `table` among the items, which is added if need be.
    pub(crate) fn column(&mut self, table: &TableType, index: usize) -> usize {
        let item = Item::column(table.columns[index].column.as_str());
        if let Some(place) = self.items.iter().position(|known| *known == item) {
            return place;
        }
        self.items.push(item);
        self.items.len() - 1
    }
}
