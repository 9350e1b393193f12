//! ROAPI's looser grammar: `filter` and `sort` with strings as names and plain values for equality, structs without a
//! selection. These arguments are removed from the document before validation and parsed separately; invalid ones are
//! still an error.

use ahash::AHashMap;
use apollo_compiler::ast::{Definition, Document, Field, OperationDefinition, Selection};
use apollo_compiler::{Name, Node};
use salver_model::{Caller, Code, Error, Result};
use salver_service::Snapshot;

use crate::graphql::graph::{ColumnField, ColumnShape, FieldSource, Graph, RootKind, TableType};
use crate::graphql::input::Arguments;

/// Removes ROAPI's arguments from `document` and returns them by the names of their root fields in the result.
///
/// # Errors
/// Unknown tables and columns, named; `InvalidGraphql` for two root fields of one name.
pub(crate) fn rewrite(
    document: &mut Document,
    (graph, snapshot): (&Graph, &Snapshot),
    caller: &Caller,
) -> Result<AHashMap<String, Arguments>> {
    let mut taken = AHashMap::new();
    for definition in &mut document.definitions {
        let Definition::OperationDefinition(operation) = definition else { continue };
        // A document with variables is in the standard form, and its arguments may refer to them.
        if operation.variables.is_empty() && operation.operation_type.is_query() {
            rewrite_operation(operation.make_mut(), (graph, snapshot), caller, &mut taken)?;
        }
    }
    Ok(taken)
}

fn rewrite_operation(
    operation: &mut OperationDefinition,
    (graph, snapshot): (&Graph, &Snapshot),
    caller: &Caller,
    taken: &mut AHashMap<String, Arguments>,
) -> Result<()> {
    for selection in &mut operation.selection_set {
        let Selection::Field(field) = selection else { continue };
        let name = field.name.as_str();
        // The shorthand is about tables.
        if name.starts_with("__") || graph.queries.roots.contains_key(name) {
            continue;
        }
        if let Some(error) = graph.queries.refusal(name, caller) {
            return Err(error);
        }
        let Some(root) = graph.roots.get(name) else {
            let entry = graph.entries.get(name).map_or(name, |entry| entry.as_str());
            match snapshot.resolve(entry) {
                Err(error) => return Err(error),
                Ok(_) => continue,
            }
        };
        if root.kind != RootKind::Rows {
            continue;
        }
        let field = field.make_mut();
        expand_rows(field, &graph.tables[root.table])?;
        let (out, kept) = field.arguments.drain(..).partition(|a| matches!(a.name.as_str(), "filter" | "sort"));
        field.arguments = kept;
        let out: Vec<_> = out;
        let arguments = Arguments::of(&out, &|_| None);
        if let Some(earlier) = taken.insert(field.response_name().to_string(), arguments)
            && taken.get(field.response_name().as_str()) != Some(&earlier)
        {
            let message = format!("two fields are called `{}` in the answer", field.response_name());
            return Err(Error::new(Code::InvalidGraphql, message).with_hint("give one an alias: `other: name(...)`"));
        }
    }
    Ok(())
}

/// Expands a table without a selection to all of its columns, and structs without one to all of their fields.
fn expand_rows(field: &mut Field, table: &TableType) -> Result<()> {
    if field.selection_set.is_empty() {
        field.selection_set = table.columns.iter().map(|column| selection(&column.name)).collect();
    }
    for selection in &mut field.selection_set {
        let Selection::Field(inner) = selection else { continue };
        match table.fields.get(inner.name.as_str()) {
            Some(FieldSource::Column(index)) => expand_column(inner, &table.columns[*index]),
            Some(FieldSource::Relation(_)) => {}
            None if inner.name.starts_with("__") => {}
            None => {
                let names = table.column_names();
                return Err(Error::unknown_column(Code::InvalidColumn, &inner.name, table.entry.as_str(), names));
            }
        }
    }
    Ok(())
}

fn expand_column(field: &mut Node<Field>, column: &ColumnField) {
    if field.selection_set.is_empty()
        && let Some(object) = column.shape.object()
    {
        field.make_mut().selection_set = object.fields.iter().map(whole).collect();
    }
}

fn whole(column: &ColumnField) -> Selection {
    let mut selection = selection(&column.name);
    if let (Selection::Field(field), ColumnShape::Object(_) | ColumnShape::List(..)) = (&mut selection, &column.shape) {
        expand_column(field, column);
    }
    selection
}

fn selection(name: &str) -> Selection {
    Selection::Field(Node::new(Field {
        alias: None,
        // Names in the graph are valid GraphQL names.
        name: Name::new_unchecked(name),
        arguments: Vec::new(),
        directives: apollo_compiler::ast::DirectiveList::new(),
        selection_set: Vec::new(),
    }))
}
