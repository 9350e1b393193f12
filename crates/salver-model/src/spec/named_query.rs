//! Specifications of views and named queries: statements of the operator.

use std::path::PathBuf;

use crate::name::Name;
use crate::parameter::{ParameterType, TypedValue};
use crate::value::Value;
use crate::version::Version;

/// Whose rights the statement of a view or a query has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunsAs {
    /// The caller's: columns and rows that are kept back from the caller are not there for the statement.
    #[default]
    Caller,
    /// The operator's: the statement sees whole tables, whatever the caller may see of them.
    Owner,
}

impl RunsAs {
    /// Returns its word in settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Owner => "owner",
        }
    }
}

/// A view: an entry whose rows a statement gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSpec {
    /// Name of the entry.
    pub name: Name,
    /// Statement, over entries of the catalog.
    pub sql: String,
    /// Whose rights it has.
    pub runs_as: RunsAs,
}

/// A named query: a statement with parameters, that clients run by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct QuerySpec {
    /// Name of the query.
    pub name: Name,
    /// Statement, over entries of the catalog; `$name` or, by order of declaration, `$1` stand for parameters.
    pub sql: String,
    /// Description for people; empty if there is none.
    pub description: String,
    /// Declared parameters. Others that the statement names are texts, or of the type that it compares them with.
    pub parameters: Vec<ParameterSpec>,
    /// Whose rights it has.
    pub runs_as: RunsAs,
    /// The file that it is from; `None` for one that the settings have.
    pub file: Option<PathBuf>,
}

impl QuerySpec {
    /// Returns the version of its text, for whoever changes it.
    #[must_use]
    pub fn text_version(&self) -> Version {
        Version::of(&self.sql)
    }
}

/// A declared parameter of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Name, without `$`.
    pub name: String,
    /// Type; `None` to find it in the statement.
    pub kind: Option<ParameterType>,
    /// Default as it is written; `None` if there is none.
    pub default: Option<String>,
    /// Whether a client must give it a value; one that needs none and has no default is null then.
    pub required: bool,
    /// Description for people; empty if there is none.
    pub description: String,
}

/// A parameter of a query, as the statement turns out to have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name, without `$`.
    pub name: String,
    /// Type.
    pub kind: ParameterType,
    /// Value that counts when a client gives none; `None` for null, and where a client must give one.
    pub default: Option<Value>,
    /// Default as it is written.
    pub default_text: Option<String>,
    /// Whether a client must give it a value.
    pub required: bool,
    /// Description for people; empty if there is none.
    pub description: String,
}

impl Parameter {
    /// Returns the value that the statement runs with: the given one, or else the default.
    #[must_use]
    pub fn filled(&self, given: Option<Value>) -> TypedValue {
        TypedValue { name: self.name.clone(), kind: self.kind, value: given.or_else(|| self.default.clone()) }
    }
}
