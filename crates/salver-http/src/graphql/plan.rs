//! The reads and writes of a document's fields, compiled once per request: a query per level, and the bytes of every
//! key.

use std::sync::Arc;

use salver_model::{Error, Query, SqlQuery};

/// The root fields in order.
#[derive(Debug)]
pub(crate) struct DocumentPlan {
    pub(crate) roots: Vec<RootPlan>,
}

/// A root field.
#[derive(Debug)]
pub(crate) struct RootPlan {
    /// Name in the result.
    pub(crate) key: String,
    pub(crate) work: Work,
}

/// The work of a root field.
#[derive(Debug)]
pub(crate) enum Work {
    /// `__typename`.
    Typename,
    /// `__schema`, `__type`: answered by the GraphQL library.
    Introspection,
    /// `_empty`.
    Nothing,
    /// A value that is already known.
    Constant(Vec<u8>),
    /// A list of rows or groups.
    Rows(Arc<Level>),
    /// The first row or null.
    One(Arc<Level>),
    /// Rows, total and next cursor.
    Page(Arc<Level>, Vec<(String, PageField)>),
    /// The rows of a named query.
    Named(Box<QueryCall>),
    /// An error in the arguments.
    Failed(Error),
}

/// A field of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PageField {
    Rows,
    Total,
    Next,
    Typename(String),
}

/// Rows of a table, with their relations.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) table: usize,
    pub(crate) query: Query,
    pub(crate) selection: Arc<Selection>,
}

/// What is written of each row.
#[derive(Debug)]
pub(crate) struct Selection {
    pub(crate) fields: Vec<FieldPlan>,
    pub(crate) relations: Vec<RelationPlan>,
}

/// A named query with the values of its parameters. Its rows have no relations.
#[derive(Debug)]
pub(crate) struct QueryCall {
    pub(crate) query: usize,
    pub(crate) statement: SqlQuery,
    pub(crate) selection: Arc<Selection>,
}

/// A field of an object.
#[derive(Debug)]
pub(crate) struct FieldPlan {
    pub(crate) key: String,
    /// `{"key":` for the first field, `,"key":` for the others.
    pub(crate) prefix: Vec<u8>,
    pub(crate) value: ValuePlan,
}

/// The source of a field's value.
#[derive(Debug)]
pub(crate) enum ValuePlan {
    /// A constant, the same for every row.
    Constant(Vec<u8>),
    /// A column of the batch, or a field of the struct that the object stands for.
    Column(usize, Part),
    /// Rows of a related table.
    Relation(usize),
    /// An object made of columns of the batch.
    Object(Vec<FieldPlan>),
}

/// The part of a column's value that is written.
#[derive(Debug)]
pub(crate) enum Part {
    Whole,
    Fields(Vec<FieldPlan>),
    Items(Box<Part>),
}

/// The rows of another table that are related to each row of this one.
#[derive(Debug)]
pub(crate) struct RelationPlan {
    pub(crate) key: String,
    /// Join columns in this level's batch.
    pub(crate) items: Vec<usize>,
    pub(crate) child: Arc<Level>,
    /// Join columns in the child's batch.
    pub(crate) child_items: Vec<usize>,
    /// Whether the value is an object or null, rather than a list.
    pub(crate) one: bool,
    /// Most related rows per row of this level.
    pub(crate) limit: Option<u64>,
}

impl Level {
    /// Calls `visit` with the table of this level and of all levels below.
    pub(crate) fn for_each_table(&self, visit: &mut dyn FnMut(usize)) {
        visit(self.table);
        for relation in &self.selection.relations {
            relation.child.for_each_table(visit);
        }
    }
}
