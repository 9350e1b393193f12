//! Limits on the depth and the width of a document, checked on its syntax alone, before any expensive processing.

use ahash::{AHashMap, AHashSet};
use apollo_compiler::ast::{
    Definition, Document, FragmentDefinition, OperationDefinition, Selection, Value as Literal,
};
use apollo_compiler::executable::{Operation, Selection as Selected, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::{ExecutableDocument, Node};
use salver_model::limits::{
    ARGUMENT_BYTES_MAX, GRAPHQL_DEPTH_MAX, GRAPHQL_FIELDS_MAX, GRAPHQL_INTROSPECTION_DEPTH_MAX, GRAPHQL_NESTING_MAX,
    GRAPHQL_SELECTIONS_MAX,
};
use salver_model::{Code, Error, Result};

/// Refuses a document with an operation that is too deep or selects too many fields. Fragments count at each spread.
///
/// # Errors
/// `InvalidGraphql`, naming the limit.
pub(crate) fn check(document: &Document) -> Result<()> {
    let mut fragments: AHashMap<&str, &Node<FragmentDefinition>> = AHashMap::new();
    for definition in &document.definitions {
        if let Definition::FragmentDefinition(fragment) = definition {
            fragments.insert(fragment.name.as_str(), fragment);
        }
    }
    let mut count = Count { fragments, open: AHashSet::new(), fields: 0, selections: 0, nesting: 0 };
    for definition in &document.definitions {
        match definition {
            Definition::OperationDefinition(operation) => count.operation(operation)?,
            // A fragment that no operation spreads is refused by validation, which must be safe to run.
            Definition::FragmentDefinition(fragment) => {
                // It may be spread below `__schema`; otherwise its operation was refused before.
                count.fields = 0;
                count.set(&fragment.selection_set, 1, GRAPHQL_INTROSPECTION_DEPTH_MAX)?;
            }
            _ => {}
        }
    }
    Ok(())
}

struct Count<'a> {
    fragments: AHashMap<&'a str, &'a Node<FragmentDefinition>>,
    open: AHashSet<&'a str>,
    fields: usize,
    /// Fields, fragments and spreads of all definitions. This bounds the traversal when fragments contain nothing but
    /// fragments.
    selections: usize,
    nesting: usize,
}

impl<'a> Count<'a> {
    fn operation(&mut self, operation: &'a OperationDefinition) -> Result<()> {
        self.fields = 0;
        self.set(&operation.selection_set, 1, GRAPHQL_DEPTH_MAX)
    }

    fn set(&mut self, set: &'a [Selection], depth: usize, depth_max: usize) -> Result<()> {
        if depth > depth_max && !set.is_empty() {
            return Err(Error::new(
                Code::InvalidGraphql,
                format!("the document selects deeper than {depth_max} levels"),
            )
            .with_hint("ask for less at once, or in several documents"));
        }
        if self.nesting >= GRAPHQL_NESTING_MAX {
            let message = format!("fields and fragments of the document nest deeper than {GRAPHQL_NESTING_MAX} levels");
            return Err(Error::new(Code::InvalidGraphql, message).with_hint("spread fewer fragments in fragments"));
        }
        self.nesting += 1;
        self.selections(set, depth, depth_max)?;
        self.nesting -= 1;
        Ok(())
    }

    fn selections(&mut self, set: &'a [Selection], depth: usize, depth_max: usize) -> Result<()> {
        for selection in set {
            self.selections += 1;
            match selection {
                Selection::Field(field) => {
                    self.fields += 1;
                    let meta = matches!(field.name.as_str(), "__schema" | "__type");
                    let depth_max = if meta { GRAPHQL_INTROSPECTION_DEPTH_MAX } else { depth_max };
                    self.set(&field.selection_set, depth + 1, depth_max)?;
                }
                Selection::InlineFragment(inline) => self.set(&inline.selection_set, depth, depth_max)?,
                Selection::FragmentSpread(spread) => {
                    let name = spread.fragment_name.as_str();
                    // Recursive fragments are left to validation, which has the better error message.
                    if let Some(fragment) = self.fragments.get(name).copied()
                        && self.open.insert(name)
                    {
                        self.set(&fragment.selection_set, depth, depth_max)?;
                        self.open.remove(name);
                    }
                }
            }
            if self.fields > GRAPHQL_FIELDS_MAX || self.selections > GRAPHQL_SELECTIONS_MAX {
                return Err(Error::new(
                    Code::InvalidGraphql,
                    format!("the document selects more than {GRAPHQL_FIELDS_MAX} fields"),
                )
                .with_hint("ask for less at once, or in several documents"));
            }
        }
        Ok(())
    }
}

/// Refuses an operation whose arguments are too large in total: each use of a variable copies its value.
///
/// # Errors
/// `InvalidGraphql`, naming the limit.
pub(crate) fn check_arguments(document: &ExecutableDocument, operation: &Operation, variables: &JsonMap) -> Result<()> {
    let sizes = variables.iter().map(|(name, value)| (name.as_str(), size(value))).collect();
    Sum { document, variables: sizes, bytes: 0 }.set(&operation.selection_set)
}

struct Sum<'a> {
    document: &'a ExecutableDocument,
    /// Sizes of the variables' values.
    variables: AHashMap<&'a str, usize>,
    bytes: usize,
}

impl Sum<'_> {
    fn set(&mut self, set: &SelectionSet) -> Result<()> {
        for selection in &set.selections {
            match selection {
                Selected::Field(field) => {
                    for argument in &field.arguments {
                        self.bytes += self.literal(&argument.value);
                    }
                    if self.bytes > ARGUMENT_BYTES_MAX {
                        let message =
                            format!("the arguments of the document have more than {ARGUMENT_BYTES_MAX} bytes");
                        return Err(Error::new(Code::InvalidGraphql, message)
                            .with_hint("use large variables fewer times, or in several documents"));
                    }
                    self.set(&field.selection_set)?;
                }
                Selected::InlineFragment(inline) => self.set(&inline.selection_set)?,
                Selected::FragmentSpread(spread) => {
                    if let Some(fragment) = self.document.fragments.get(&spread.fragment_name) {
                        self.set(&fragment.selection_set)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn literal(&self, literal: &Literal) -> usize {
        let inner = match literal {
            Literal::Variable(name) => self.variables.get(name.as_str()).copied().unwrap_or(0),
            Literal::String(text) => text.len(),
            Literal::List(items) => items.iter().map(|item| self.literal(item)).sum(),
            Literal::Object(fields) => fields.iter().map(|(name, value)| name.len() + self.literal(value)).sum(),
            _ => 0,
        };
        VALUE_BYTES + inner
    }
}

/// Approximate size of a value in addition to its text, in bytes.
const VALUE_BYTES: usize = 32;

fn size(value: &JsonValue) -> usize {
    let inner = match value {
        JsonValue::String(text) => text.as_str().len(),
        JsonValue::Array(items) => items.iter().map(size).sum(),
        JsonValue::Object(fields) => fields.iter().map(|(name, value)| name.as_str().len() + size(value)).sum(),
        _ => 0,
    };
    VALUE_BYTES + inner
}
