//! The syntax tree of a statement, as written: names are not resolved.

use salver_model::Value;

/// `FOR variable IN collection FILTER .. SORT .. LIMIT .. RETURN ..`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    /// The collection that is read.
    pub(crate) collection: Collection,
    /// The conditions, all of which must hold.
    pub(super) filters: Vec<Expression>,
    /// The sort keys, most significant first.
    pub(super) sort: Vec<SortKey>,
    /// The offset and the number of rows of LIMIT.
    pub(super) limit: Option<(Operand, Operand)>,
    /// The result for each document.
    pub(super) answer: Answer,
    /// Whether equal results are returned once.
    pub(super) distinct: bool,
}

/// The collection that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Collection {
    /// A name.
    Name(String),
    /// A bind variable `@@name`, without the signs.
    Bound(String),
}

/// The path of a field, outermost first, as in `d.a.b`.
pub(super) type Path = Vec<String>;

/// A sort key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SortKey {
    /// The field.
    pub(super) path: Path,
    /// Whether the largest value comes first.
    pub(super) descending: bool,
}

/// An operand of an operator.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// A field of the document.
    Path(Path),
    /// A value.
    Value(Value),
    /// A bind variable.
    Bound(String),
    /// A list of values.
    List(Vec<Operand>),
}

/// A comparison operator.
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
    /// True when all are true.
    And(Vec<Expression>),
    /// True when any is true.
    Or(Vec<Expression>),
    /// A negation.
    Not(Box<Expression>),
    /// A comparison.
    Compare(Operand, Operator, Operand),
    /// A single operand, taken as a truth value.
    Truth(Operand),
}

/// The result for each document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// The document.
    Document,
    /// One field of it, without its name.
    Field(Path),
    /// An object of fields under new names.
    Object(Vec<(String, Path)>),
    /// The document with these fields only.
    Keep(Vec<Operand>),
    /// The document without these fields.
    Unset(Vec<Operand>),
}
