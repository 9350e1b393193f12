//! The fields of a selection, with fragments expanded, `@skip` and `@include` evaluated, and equal names merged,
//! according to the specification's CollectFields.

use ahash::{AHashMap, AHashSet};
use apollo_compiler::ast::Value as Literal;
use apollo_compiler::executable::{DirectiveList, Field, Selection, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::{ExecutableDocument, Node};

/// A field and all selection sets given for its name in the result.
#[derive(Debug)]
pub(crate) struct Collected<'a> {
    pub(crate) field: &'a Node<Field>,
    pub(crate) sets: Vec<&'a SelectionSet>,
}

impl<'a> Collected<'a> {
    /// Returns the name in the result.
    pub(crate) fn key(&self) -> &'a str {
        self.field.response_key().as_str()
    }
}

/// Collects the fields of `sets`.
pub(crate) fn collect<'a>(
    document: &'a ExecutableDocument,
    variables: &JsonMap,
    sets: &[&'a SelectionSet],
) -> Vec<Collected<'a>> {
    let mut collector =
        Collector { document, variables, fields: Vec::new(), by_key: AHashMap::new(), fragments: AHashSet::new() };
    for set in sets {
        collector.set(set);
    }
    collector.fields
}

struct Collector<'a, 'v> {
    document: &'a ExecutableDocument,
    variables: &'v JsonMap,
    fields: Vec<Collected<'a>>,
    by_key: AHashMap<&'a str, usize>,
    fragments: AHashSet<&'a str>,
}

impl<'a> Collector<'a, '_> {
    fn set(&mut self, set: &'a SelectionSet) {
        for selection in &set.selections {
            if !self.included(selection.directives()) {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    let key = field.response_key().as_str();
                    let next = self.fields.len();
                    let index = *self.by_key.entry(key).or_insert(next);
                    if index == next {
                        self.fields.push(Collected { field, sets: Vec::new() });
                    }
                    self.fields[index].sets.push(&field.selection_set);
                }
                // The schema has only object types, and validation ensures that a fragment matches the type it is used
                // on.
                Selection::InlineFragment(inline) => self.set(&inline.selection_set),
                Selection::FragmentSpread(spread) => {
                    if self.fragments.insert(spread.fragment_name.as_str())
                        && let Some(fragment) = self.document.fragments.get(&spread.fragment_name)
                    {
                        self.set(&fragment.selection_set);
                    }
                }
            }
        }
    }

    fn included(&self, directives: &DirectiveList) -> bool {
        let condition = |name: &str| {
            let literal = directives.get(name)?.specified_argument_by_name("if")?;
            match &**literal {
                Literal::Boolean(value) => Some(*value),
                Literal::Variable(variable) => self.variables.get(variable.as_str()).and_then(JsonValue::as_bool),
                _ => None,
            }
        };
        condition("skip") != Some(true) && condition("include") != Some(false)
    }
}
