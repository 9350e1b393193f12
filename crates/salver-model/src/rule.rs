//! Predicates over a row and its caller: `user_id = caller.user and not status = 'draft'`.
//!
//! Conditions: `=` `!=` `<>` `<` `<=` `>` `>=`, `in (a, b)`, `like 'x%'`, `is null`, with `not`, `and`, `or` and
//! parentheses, binding as in SQL. One side of a comparison may be a column; the other is a literal (`12`, `'text'`,
//! `true`, `null`) or `caller.NAME`. An unknown attribute of the caller is null, and null compares with nothing: an
//! anonymous caller does not see rows of others.

mod evaluate;
mod parse;

use crate::column::ColumnPath;
use crate::error::Result;
use crate::filter::{Comparison, Filter};
use crate::principal::Principal;
use crate::value::Value;

pub use evaluate::{exact_number, exact_truth};

/// Operand of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// Column of the row.
    Column(String),
    /// Attribute of the caller with this name.
    Caller(String),
    /// Literal.
    Literal(Value),
}

/// Expression tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
    Compare { left: Term, op: Comparison, right: Term },
    In { term: Term, list: Vec<Term> },
    Like { term: Term, pattern: String },
    IsNull { term: Term },
}

/// Rule: an expression that holds for a row and its caller, or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    text: String,
    expression: Expression,
}

impl Rule {
    /// Parses a rule.
    ///
    /// # Errors
    /// Returns `Config`, with the position in the text.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(Self { text: text.to_owned(), expression: parse::parse(text)? })
    }

    /// Returns the source text of the rule.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns every column it names.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = Vec::new();
        self.expression.for_each_term(&mut |term| {
            if let Term::Column(name) = term {
                columns.push(name.as_str());
            }
        });
        columns
    }

    /// Returns every attribute of the caller it names.
    #[must_use]
    pub fn attributes(&self) -> Vec<&str> {
        let mut attributes = Vec::new();
        self.expression.for_each_term(&mut |term| {
            if let Term::Caller(name) = term {
                attributes.push(name.as_str());
            }
        });
        attributes
    }

    /// Converts the rule to a filter over rows, for one caller.
    #[must_use]
    pub fn filter(&self, caller: &Principal) -> Filter {
        self.expression.filter(caller, false)
    }

    /// Returns whether the rule holds for the caller alone, whatever the row: for rules without columns.
    #[must_use]
    pub fn is_for(&self, caller: &Principal) -> bool {
        self.admits(&|_| Value::Null, caller)
    }

    /// Returns whether a row passes, with its columns given by `value`. As in SQL, null does not pass. A value must be
    /// of its column's kind: a number for a numeric column, text for a text column.
    #[must_use]
    pub fn admits(&self, value: &dyn Fn(&str) -> Value, caller: &Principal) -> bool {
        self.expression.admits(value, caller) == Some(true)
    }
}

impl Expression {
    fn for_each_term<'a>(&'a self, visit: &mut dyn FnMut(&'a Term)) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.for_each_term(visit);
                }
            }
            Self::Not(inner) => inner.for_each_term(visit),
            Self::Compare { left, right, .. } => {
                visit(left);
                visit(right);
            }
            Self::In { term, list } => {
                visit(term);
                list.iter().for_each(visit);
            }
            Self::Like { term, .. } | Self::IsNull { term } => visit(term),
        }
    }

    /// Converts the expression to a filter. Negations are pushed down to the comparisons: there null can be treated as
    /// false under either sign, because everything above is `and` and `or`.
    fn filter(&self, caller: &Principal, negated: bool) -> Filter {
        let leaf = |filter: Filter| if negated { filter.negated() } else { filter };
        match self {
            Self::All(parts) | Self::Any(parts) => {
                let filters = parts.iter().map(|part| part.filter(caller, negated)).collect();
                if matches!(self, Self::All(_)) == negated { Filter::Or(filters) } else { Filter::And(filters) }
            }
            Self::Not(inner) => inner.filter(caller, !negated),
            Self::Compare { left: Term::Column(column), op, right } => {
                leaf(Filter::compare(path(column), *op, right.value(caller)))
            }
            Self::Compare { left, op, right: Term::Column(column) } => {
                leaf(Filter::compare(path(column), mirrored(*op), left.value(caller)))
            }
            Self::In { term: Term::Column(column), list } => {
                leaf(Filter::In { column: path(column), values: list.iter().map(|term| term.value(caller)).collect() })
            }
            Self::Like { term: Term::Column(column), pattern } => {
                leaf(Filter::Like { column: path(column), pattern: pattern.clone(), ignore_case: false })
            }
            Self::IsNull { term: Term::Column(column) } => leaf(Filter::IsNull { column: path(column) }),
            // Without columns the value is known now.
            constant => match constant.admits(&|_| Value::Null, caller) {
                Some(holds) if holds != negated => Filter::And(Vec::new()),
                _ => Filter::Or(Vec::new()),
            },
        }
    }
}

fn path(column: &str) -> ColumnPath {
    ColumnPath::column(column)
}

/// Swaps the operands: `a < b` becomes `b > a`.
fn mirrored(op: Comparison) -> Comparison {
    match op {
        Comparison::Eq | Comparison::NotEq => op,
        Comparison::Lt => Comparison::Gt,
        Comparison::LtEq => Comparison::GtEq,
        Comparison::Gt => Comparison::Lt,
        Comparison::GtEq => Comparison::LtEq,
    }
}

impl Term {
    /// Returns the value of the term, unless it is a column.
    #[must_use]
    pub fn value(&self, caller: &Principal) -> Value {
        match self {
            Self::Column(_) => Value::Null,
            Self::Caller(name) => caller.attribute(name).map_or(Value::Null, Value::Bare),
            Self::Literal(value) => value.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rule;
    use crate::{Filter, Principal, Value};

    fn admits(rule: &str, user: Option<&str>) -> bool {
        let attributes = user.map(|user| ("user".to_owned(), user.to_owned())).into_iter().collect();
        let row = |column: &str| match column {
            "user_id" => Value::Int(7),
            "status" => Value::Text("draft".into()),
            _ => Value::Null,
        };
        Rule::parse(rule).unwrap().admits(&row, &Principal { attributes, ..Principal::default() })
    }

    #[test]
    fn rows_and_callers() {
        assert!(admits("user_id = caller.user", Some("7")));
        assert!(!admits("user_id = caller.user", Some("8")));
        assert!(!admits("user_id = caller.user", None));
        assert!(!admits("not user_id = caller.user", None));
        assert!(!admits("not (caller.user = 'admin')", None));
        assert!(admits("caller.user = 'root' or status in ('draft', 'new')", None));
        assert!(admits("status like 'dr%' and gone is null and user_id is not null", None));
        assert!(admits("5 < user_id and user_id <= 7.0", None));
    }

    #[test]
    fn names_in_quotes() {
        let rule = Rule::parse("\"caller.https://id.example/role\" = 'a' and \"or\" = 1").unwrap();
        assert_eq!((rule.attributes(), rule.columns()), (vec!["https://id.example/role"], vec!["or"]));
    }

    #[test]
    fn mistakes_have_places() {
        for bad in ["", "a =", "a = b", "a == 1", "(a = 1", "a = 'x", "a in 1", "caller = 1", "a like b", "1"] {
            let error = Rule::parse(bad).unwrap_err();
            assert!(error.message.contains("rule"), "{bad}: {}", error.message);
        }
    }

    #[test]
    fn unknown_under_not_lets_nothing_through() {
        let nothing = Filter::Or(Vec::new());
        for rule in ["caller.user = 'x'", "not caller.user = 'x'", "not not caller.user = 'x'"] {
            assert_eq!(Rule::parse(rule).unwrap().filter(&Principal::default()), nothing, "{rule}");
        }
        let some = Rule::parse("not (caller.user = 'x' and user_id = 1)").unwrap().filter(&Principal::default());
        let Filter::Or(parts) = some else { panic!("{some:?}") };
        assert_eq!(parts[0], nothing);
    }
}
