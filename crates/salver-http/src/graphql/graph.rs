//! The meaning of the names in the GraphQL schema: tables, columns, relations. Built from a catalog snapshot; knows
//! nothing of documents.

mod named;
mod writing;

use std::sync::Arc;

use ahash::{AHashMap, AHashSet};
use arrow::datatypes::{DataType, Field, Fields};
use salver_model::ports::Database;
use salver_model::{Description, Name};
use salver_service::{DescribedQuery, Snapshot};

use crate::graphql::naming::Names;
use crate::graphql::scalar::Scalar;
use crate::redaction;

pub(crate) use named::{NamedQueries, QueryType};
pub(crate) use writing::{MutationKind, Writing};

/// Type names that no table may take.
const RESERVED: [&str; 24] = [
    "Query",
    "Mutation",
    "Subscription",
    "ID",
    "Order",
    "Nulls",
    "Function",
    "Value",
    "Boolean",
    "Int",
    "Int64",
    "Float",
    "String",
    "Date",
    "Timestamp",
    "Time",
    "Decimal",
    "Binary",
    "JSON",
    "Having",
    "true",
    "false",
    "null",
    "_empty",
];

/// The tables and root fields of the schema.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) tables: Vec<TableType>,
    pub(crate) roots: AHashMap<String, Root>,
    /// Root fields of mutations, each with its table and operation.
    pub(crate) mutations: AHashMap<String, (usize, MutationKind)>,
    /// Entries by their root field, loaded or not.
    pub(crate) entries: AHashMap<String, Name>,
    pub(crate) queries: NamedQueries,
}

/// The kind of result of a root field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootKind {
    /// A list of rows.
    Rows,
    /// Rows with their total and the cursor for the next page.
    Page,
    /// A single row, or null.
    ByKey,
    /// Groups.
    Aggregate,
}

/// A root field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub(crate) table: usize,
    pub(crate) kind: RootKind,
}

/// A table as an object type.
#[derive(Debug)]
pub(crate) struct TableType {
    pub(crate) entry: Name,
    pub(crate) type_name: String,
    pub(crate) description: String,
    pub(crate) columns: Vec<ColumnField>,
    pub(crate) relations: Vec<RelationField>,
    pub(crate) fields: AHashMap<String, FieldSource>,
    /// Columns of the primary key.
    pub(crate) key: Vec<usize>,
    /// Names of the root fields, other than the one with the name of the type.
    pub(crate) page: String,
    pub(crate) by_key: String,
    pub(crate) aggregate: String,
    /// Prefix of the generated types for this table.
    pub(crate) prefix: String,
    /// Mutations of the table, if it is writable.
    pub(crate) writing: Option<Writing>,
}

/// The source of a field's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldSource {
    Column(usize),
    Relation(usize),
}

/// A column, or a field of a struct column.
#[derive(Debug)]
pub(crate) struct ColumnField {
    pub(crate) name: String,
    pub(crate) column: String,
    pub(crate) shape: ColumnShape,
    pub(crate) nullable: bool,
}

/// The type of a column.
#[derive(Debug)]
pub(crate) enum ColumnShape {
    Scalar(Scalar),
    Object(ObjectType),
    List(Box<ColumnShape>, bool),
}

/// A struct as an object type.
#[derive(Debug)]
pub(crate) struct ObjectType {
    pub(crate) type_name: String,
    pub(crate) filter_name: String,
    pub(crate) fields: Vec<ColumnField>,
}

/// A field that follows a relation.
#[derive(Debug)]
pub(crate) struct RelationField {
    pub(crate) name: String,
    pub(crate) target: usize,
    pub(crate) columns: Vec<usize>,
    pub(crate) target_columns: Vec<usize>,
    /// Whether the relation leads to at most one row.
    pub(crate) one: bool,
}

impl ColumnShape {
    /// Returns the scalar type, if it is one.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// Returns the object type, or that of the elements of a list.
    pub(crate) fn object(&self) -> Option<&ObjectType> {
        match self {
            Self::Scalar(_) => None,
            Self::Object(object) => Some(object),
            Self::List(item, _) => item.object(),
        }
    }
}

impl TableType {
    /// Returns the column with this GraphQL name, or with this original name.
    pub(crate) fn column(&self, name: &str) -> Option<&ColumnField> {
        self.columns.iter().find(|c| c.name == name).or_else(|| self.columns.iter().find(|c| c.column == name))
    }

    /// Returns the names of the columns, for hints.
    pub(crate) fn column_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.columns.iter().map(|c| c.name.as_str())
    }
}

impl Graph {
    /// Builds the graph of all entries that are loaded in `snapshot`, some of which are tables of `databases`, and of
    /// named queries.
    pub(crate) fn of(snapshot: &Snapshot, databases: &[Arc<dyn Database>], queries: Vec<DescribedQuery<'_>>) -> Self {
        let mut types = Names::reserving(&RESERVED);
        let mut graph = Self::default();
        // Names are assigned over all entries, loaded or not, so that a late load doesn't rename another table. Valid
        // names come first, so that they stay as they are.
        let mut named: Vec<(&Name, String)> = Vec::new();
        for exact in [true, false] {
            for entry in snapshot.entries() {
                if (crate::graphql::naming::mangle(entry.name.as_str()) == entry.name.as_str()) == exact {
                    named.push((&entry.name, types.claim(entry.name.as_str())));
                }
            }
        }
        named.sort();
        for (name, type_name) in named {
            graph.entries.insert(type_name.clone(), name.clone());
            let Some(table) = snapshot.entry(name.as_str()).and_then(|entry| entry.table()) else { continue };
            if !table.describe().schema.fields().is_empty() {
                graph.tables.push(table_type(table.describe(), type_name, &mut types));
            }
        }
        graph.link(snapshot);
        graph.write(snapshot, databases, &mut types);
        graph.add_queries(queries, &mut types);
        for (index, table) in graph.tables.iter().enumerate() {
            let mut add = |name: &String, kind| graph.roots.insert(name.clone(), Root { table: index, kind });
            add(&table.type_name, RootKind::Rows);
            add(&table.page, RootKind::Page);
            add(&table.aggregate, RootKind::Aggregate);
            if !table.key.is_empty() {
                add(&table.by_key, RootKind::ByKey);
            }
        }
        graph
    }

    /// Adds the mutations of writable tables.
    fn write(&mut self, snapshot: &Snapshot, databases: &[Arc<dyn Database>], types: &mut Names) {
        for (index, table) in self.tables.iter_mut().enumerate() {
            let owner = snapshot.entry(table.entry.as_str()).and_then(|entry| entry.database.as_ref());
            let Some(database) = databases.iter().find(|database| Some(&database.spec().name) == owner) else {
                continue;
            };
            let Some(writing) = Writing::of(table, &**database, snapshot, types) else { continue };
            for kind in &writing.kinds {
                self.mutations.insert(writing.name_of(*kind).to_owned(), (index, *kind));
            }
            table.writing = Some(writing);
        }
    }

    /// Adds the fields for relations, in both directions.
    fn link(&mut self, snapshot: &Snapshot) {
        let by_entry: AHashMap<Name, usize> =
            self.tables.iter().enumerate().map(|(i, t)| (t.entry.clone(), i)).collect();
        let mut links = Vec::new();
        for (index, table) in self.tables.iter().enumerate() {
            let Some(loaded) = snapshot.entry(table.entry.as_str()).and_then(|entry| entry.table()) else { continue };
            for relation in &loaded.describe().relations {
                let Some(&target) = by_entry.get(&relation.target) else { continue };
                let here = columns_of(table, &relation.columns);
                let there = columns_of(&self.tables[target], &relation.target_columns);
                let (Some(here), Some(there)) = (here, there) else { continue };
                if !here.is_empty() && here.len() == there.len() {
                    links.push(Link { from: index, to: target, name: relation.name.clone(), here, there });
                }
            }
        }
        for link in &links {
            let one = is_key(&self.tables[link.to], &link.there);
            self.relate(link.from, &link.name, link.to, (&link.here, &link.there), one);
        }
        for link in &links {
            let several = links.iter().filter(|l| (l.from, l.to) == (link.from, link.to)).count() > 1;
            let source = &self.tables[link.from].type_name;
            let name = if several { format!("{source}_by_{}", link.name) } else { source.clone() };
            let one = is_key(&self.tables[link.from], &link.here);
            self.relate(link.to, &name, link.from, (&link.there, &link.here), one);
        }
    }

    fn relate(&mut self, table: usize, name: &str, target: usize, columns: (&[usize], &[usize]), one: bool) {
        let table = &mut self.tables[table];
        let mut name = crate::graphql::naming::mangle(name);
        while table.fields.contains_key(&name) {
            name.push_str("_rows");
        }
        table.fields.insert(name.clone(), FieldSource::Relation(table.relations.len()));
        let (columns, target_columns) = (columns.0.to_vec(), columns.1.to_vec());
        table.relations.push(RelationField { name, target, columns, target_columns, one });
    }
}

struct Link {
    from: usize,
    to: usize,
    name: String,
    here: Vec<usize>,
    there: Vec<usize>,
}

fn is_key(table: &TableType, columns: &[usize]) -> bool {
    let columns: AHashSet<usize> = columns.iter().copied().collect();
    !table.key.is_empty() && table.key.iter().all(|column| columns.contains(column))
}

/// Returns the indexes of columns by their original names; all must be comparable.
fn columns_of(table: &TableType, names: &[String]) -> Option<Vec<usize>> {
    names
        .iter()
        .map(|name| {
            let comparable = |c: &ColumnField| c.column == *name && c.shape.scalar().is_some_and(Scalar::is_comparable);
            table.columns.iter().position(comparable)
        })
        .collect()
}

fn table_type(description: &Description, type_name: String, types: &mut Names) -> TableType {
    let mut fields = AHashMap::new();
    let columns = column_fields(description.schema.fields(), &type_name, &mut column_names(), types);
    for (index, column) in columns.iter().enumerate() {
        fields.insert(column.name.clone(), FieldSource::Column(index));
    }
    let source = redaction::text(&description.source);
    let mut table = TableType {
        entry: description.name.clone(),
        description: match description.rows {
            Some(rows) => format!("`{}`: {rows} rows from {source}", description.name),
            None => format!("`{}` from {source}", description.name),
        },
        columns,
        relations: Vec::new(),
        fields,
        key: Vec::new(),
        page: types.claim(&format!("{type_name}_page")),
        by_key: types.claim(&format!("{type_name}_by_key")),
        aggregate: types.claim(&format!("{type_name}_aggregate")),
        prefix: type_name.clone(),
        type_name,
        writing: None,
    };
    // The generated types begin with the unique name of the table's aggregate, but only if a plain prefix would collide
    // with another table's types.
    for suffix in ["filter", "sort", "column", "group", "count_distinct", "sum", "avg", "min", "max"] {
        let wanted = format!("{}_{suffix}", table.prefix);
        if types.claim(&wanted) != wanted {
            table.prefix = format!("{}_type", table.aggregate);
        }
    }
    table.key = columns_of(&table, &description.key).unwrap_or_default();
    table
}

/// Returns the namespace of a table's columns, without what conditions and enumerations can't have.
fn column_names() -> Names {
    Names::reserving(&["and", "or", "not", "true", "false", "null"])
}

fn column_fields(fields: &Fields, owner: &str, names: &mut Names, types: &mut Names) -> Vec<ColumnField> {
    let mut claimed: Vec<Option<String>> = vec![None; fields.len()];
    for exact in [true, false] {
        for (slot, field) in claimed.iter_mut().zip(fields) {
            if (crate::graphql::naming::mangle(field.name()) == *field.name()) == exact {
                *slot = Some(names.claim(field.name()));
            }
        }
    }
    let named = fields.iter().zip(claimed);
    named.filter_map(|(field, name)| Some(column_field(field, name?, owner, types))).collect()
}

fn column_field(field: &Field, name: String, owner: &str, types: &mut Names) -> ColumnField {
    let shape = shape(field.data_type(), &format!("{owner}_{name}"), types);
    ColumnField { name, column: field.name().clone(), shape, nullable: field.is_nullable() }
}

fn shape(data_type: &DataType, type_name: &str, types: &mut Names) -> ColumnShape {
    match data_type {
        DataType::Struct(fields) if !fields.is_empty() => {
            let type_name = types.claim(type_name);
            let filter_name = types.claim(&format!("{type_name}_filter"));
            let mut names = Names::reserving(&["is_null", "true", "false", "null"]);
            let fields = column_fields(fields, &type_name, &mut names, types);
            ColumnShape::Object(ObjectType { type_name, filter_name, fields })
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            ColumnShape::List(Box::new(shape(item.data_type(), type_name, types)), item.is_nullable())
        }
        other => ColumnShape::Scalar(Scalar::of(other)),
    }
}
