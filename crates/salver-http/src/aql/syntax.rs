//! The words of a statement, as they were written: nothing is resolved here.

use salver_model::Value;

/// `FOR variable IN collection FILTER .. SORT .. LIMIT .. RETURN ..`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    /// What is read.
    pub(crate) collection: Collection,
    /// All of them must hold.
    pub(super) filters: Vec<Expression>,
    /// The order, first key first.
    pub(super) sort: Vec<SortKey>,
    /// How many are left out, and how many are taken.
    pub(super) limit: Option<(Operand, Operand)>,
    /// What is answered.
    pub(super) answer: Answer,
    /// Whether equal answers become one.
    pub(super) distinct: bool,
}

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Collection {
    /// By its name.
    Name(String),
    /// By a bind variable: `@@name`, without the signs.
    Bound(String),
}

/// A field of a document: `d.a.b`, outermost first.
pub(super) type Path = Vec<String>;

/// A key of the order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SortKey {
    /// The field.
    pub(super) path: Path,
    /// Largest first.
    pub(super) descending: bool,
}

/// What can stand on either side of an operator.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// A field of the document.
    Path(Path),
    /// A value.
    Value(Value),
    /// A bind variable.
    Bound(String),
    /// Several values.
    List(Vec<Operand>),
}

/// How two operands are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `==`
    Eq,
    /// `!=`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
    /// `IN`
    In,
    /// `LIKE`
    Like,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// All of them.
    And(Vec<Expression>),
    /// Any of them.
    Or(Vec<Expression>),
    /// Not.
    Not(Box<Expression>),
    /// A comparison.
    Compare(Operand, Operator, Operand),
    /// A single operand, true or false by itself.
    Truth(Operand),
}

/// What is answered for each document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// The document.
    Document,
    /// One field of it, without its name.
    Field(Path),
    /// An object of fields under other names.
    Object(Vec<(String, Path)>),
    /// The document with these fields only.
    Keep(Vec<Operand>),
    /// The document without these fields.
    Unset(Vec<Operand>),
}
