//! The port of named queries that clients may change while the server runs.

use futures::future::BoxFuture;

use crate::error::Result;
use crate::name::Name;
use crate::spec::QuerySpec;
use crate::version::Version;

/// What must hold of a query so that it is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EditCondition {
    /// Nothing.
    #[default]
    Always,
    /// There is none yet.
    Absent,
    /// There is one.
    Present,
    /// Its text has one of these versions.
    Version(Vec<Version>),
}

impl EditCondition {
    /// Returns whether it holds of a query whose text has the version `current`; `None` stands for no query.
    #[must_use]
    pub fn holds(&self, current: Option<Version>) -> bool {
        match self {
            Self::Always => true,
            Self::Absent => current.is_none(),
            Self::Present => current.is_some(),
            Self::Version(versions) => current.is_some_and(|current| versions.contains(&current)),
        }
    }
}

/// The place where named queries are kept that clients may change.
///
/// Contract:
/// - A change is durable and in force when it returns, or nothing is changed.
/// - Changes are made one after the other, also beside a reload of the settings.
/// - Only queries are changed that the settings don't have themselves.
pub trait QueryEditor: Send + Sync + std::fmt::Debug {
    /// Reads the text of a query, with what its comments say of it.
    ///
    /// # Errors
    /// `InvalidName`, and `InvalidSql` with the line of a comment that is wrong.
    fn read(&self, name: &str, text: &str) -> Result<QuerySpec>;

    /// Saves a query. Returns whether there was none of its name.
    ///
    /// # Errors
    /// `PreconditionFailed`, `Unsupported` for one of the settings, `InvalidName` for the name of an entry,
    /// `InvalidRequest` for one more than may be saved, `Overloaded`, and what the place of the queries fails with.
    fn save(&self, query: QuerySpec, condition: EditCondition) -> BoxFuture<'_, Result<bool>>;

    /// Removes a query.
    ///
    /// # Errors
    /// `NotFound`, and those of [`QueryEditor::save`].
    fn remove(&self, name: Name, condition: EditCondition) -> BoxFuture<'_, Result<()>>;
}

#[cfg(test)]
mod tests {
    use super::EditCondition;
    use crate::version::Version;

    #[test]
    fn conditions_hold_of_what_is_there() {
        let (own, other) = (Version(1), Version(2));
        for (condition, of_none, of_own) in [
            (EditCondition::Always, true, true),
            (EditCondition::Absent, true, false),
            (EditCondition::Present, false, true),
            (EditCondition::Version(vec![other, own]), false, true),
            (EditCondition::Version(vec![other]), false, false),
            (EditCondition::Version(Vec::new()), false, false),
        ] {
            assert_eq!((condition.holds(None), condition.holds(Some(own))), (of_none, of_own), "{condition:?}");
        }
    }
}
