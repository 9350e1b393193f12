//! What a document's fields have to read and write, compiled once per request: a query per level, and the bytes of
//! every key.

use std::sync::Arc;

use salver_model::{Error, Query};

/// The root fields in order.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) roots: Vec<RootPlan>,
}

/// One root field.
#[derive(Debug)]
pub(crate) struct RootPlan {
    /// The name it has in the answer.
    pub(crate) key: String,
    pub(crate) work: Work,
}

/// What a root field does.
#[derive(Debug)]
pub(crate) enum Work {
    /// `__typename`.
    Typename,
    /// `__schema`, `__type`: answered by the GraphQL library.
    Introspection,
    /// `_empty`.
    Nothing,
    /// A value that is known already.
    Constant(Vec<u8>),
    /// A list of rows or groups.
    Rows(Arc<Level>),
    /// The first row or null.
    One(Arc<Level>),
    /// Rows, total and next.
    Page(Arc<Level>, Vec<(String, PageField)>),
    /// Its arguments make no query.
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

/// Rows of one table and what hangs on them.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) table: usize,
    pub(crate) query: Query,
    pub(crate) fields: Vec<FieldPlan>,
    pub(crate) relations: Vec<RelationPlan>,
}

/// One field of an object.
#[derive(Debug)]
pub(crate) struct FieldPlan {
    pub(crate) key: String,
    /// `{"key":` of the first field, `,"key":` of the others.
    pub(crate) prefix: Vec<u8>,
    pub(crate) value: ValuePlan,
}

/// Where the value of a field comes from.
#[derive(Debug)]
pub(crate) enum ValuePlan {
    /// The same for every row.
    Constant(Vec<u8>),
    /// A column of the batch, or of the struct the object stands for.
    Column(usize, Part),
    /// Rows of another table.
    Relation(usize),
    /// An object made of columns of the batch.
    Object(Vec<FieldPlan>),
}

/// How much of a column's value is written.
#[derive(Debug)]
pub(crate) enum Part {
    Whole,
    Fields(Vec<FieldPlan>),
    Items(Box<Part>),
}

/// Rows of another table for each row of this one.
#[derive(Debug)]
pub(crate) struct RelationPlan {
    pub(crate) key: String,
    /// The columns of the join in this level's batch.
    pub(crate) items: Vec<usize>,
    pub(crate) child: Arc<Level>,
    /// The columns of the join in the child's batch.
    pub(crate) child_items: Vec<usize>,
    /// An object or null, not a list.
    pub(crate) one: bool,
    /// Most rows for each row of this level.
    pub(crate) limit: Option<u64>,
}

impl Level {
    /// Calls `visit` with the table of this level and of every level below.
    pub(crate) fn for_each_table(&self, visit: &mut dyn FnMut(usize)) {
        visit(self.table);
        for relation in &self.relations {
            relation.child.for_each_table(visit);
        }
    }
}
