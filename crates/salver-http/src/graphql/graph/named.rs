//! Named queries in the schema: a root field with arguments for each, and an object type of its columns.

use std::sync::Arc;

use ahash::AHashMap;
use salver_model::ports::QueryDescription;
use salver_model::{Caller, Error};
use salver_service::{DescribedQuery, NamedQuery};

use super::{ColumnField, Graph, column_fields};
use crate::graphql::naming::{Names, mangle};

/// A named query as a root field, of the same name as the object type of its rows.
#[derive(Debug)]
pub(crate) struct QueryType {
    pub(crate) query: Arc<NamedQuery>,
    pub(crate) description: Arc<QueryDescription>,
    pub(crate) type_name: String,
    pub(crate) columns: Vec<ColumnField>,
    /// Names of the arguments, in the order of the parameters.
    pub(crate) arguments: Vec<String>,
}

/// The named queries of the schema.
#[derive(Debug, Default)]
pub(crate) struct NamedQueries {
    /// Those that can be run.
    pub(crate) all: Vec<QueryType>,
    /// They by their root field.
    pub(crate) roots: AHashMap<String, usize>,
    /// The others by the root field that they would have, each with the reason.
    pub(crate) absent: AHashMap<String, (Arc<NamedQuery>, Error)>,
}

impl NamedQueries {
    /// Returns why the query that would have the root field `name` is not there for `caller`.
    pub(crate) fn refusal(&self, name: &str, caller: &Caller) -> Option<Error> {
        let (query, error) = self.absent.get(name)?;
        Some(match query.description() {
            Some(_) => Error::new(error.code, error.message.clone()).with_hint_if(error.hint.clone()),
            // What is known of it may be newer.
            None => query.refusal_to(caller),
        })
    }
}

impl Graph {
    /// Adds `queries`. Names are assigned after those of all entries and of what is made for them, over all queries,
    /// whether they can be run or not.
    pub(super) fn add_queries(&mut self, queries: Vec<DescribedQuery<'_>>, types: &mut Names) {
        let is_exact = |query: &NamedQuery| mangle(query.spec().name.as_str()) == query.spec().name.as_str();
        let (exact, others): (Vec<_>, Vec<_>) = queries.into_iter().partition(|(query, _)| is_exact(query));
        for (query, described) in exact.into_iter().chain(others) {
            let type_name = types.claim(query.spec().name.as_str());
            let query = Arc::clone(query);
            match described {
                Ok(description) if description.columns.fields().is_empty() => {}
                Ok(description) => {
                    self.queries.roots.insert(type_name.clone(), self.queries.all.len());
                    self.queries.all.push(QueryType::new(query, description, type_name, types));
                }
                Err(error) => {
                    self.queries.absent.insert(type_name, (query, error));
                }
            }
        }
    }
}

impl QueryType {
    fn new(query: Arc<NamedQuery>, description: Arc<QueryDescription>, type_name: String, types: &mut Names) -> Self {
        let columns = column_fields(description.columns.fields(), &type_name, &mut super::column_names(), types);
        let mut names = Names::default();
        let arguments = description.parameters.iter().map(|parameter| names.claim(&parameter.name)).collect();
        Self { query, description, type_name, columns, arguments }
    }
}
