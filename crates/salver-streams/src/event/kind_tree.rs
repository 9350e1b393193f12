//! Tree of the kinds, members and elements seen at each place of the events.

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use arrow::datatypes::{DataType, Field, Fields};
use salver_model::limits::{EVENT_COLUMNS_MAX, EVENT_DEPTH_MAX};
use salver_text::json::Reader;
use serde::{Deserialize, Serialize};

use super::value_kinds::{Kinds, WHOLE_DIGITS, number_kind};

/// Columns that every stream has. A member of the same name has no column; it stays in the event.
pub(crate) const OWN_COLUMNS: [&str; 4] = ["_offset", "_id", "_time", "_key"];

/// Name of the column for a member whose name is empty, as in datasets.
pub(crate) const UNNAMED: &str = "unnamed";

/// Type of integers out of the range of `i64`.
pub(crate) const LARGE_WHOLE: DataType = DataType::Decimal128(WHOLE_DIGITS, 0);

/// Values seen at one place of the events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    pub(super) kinds: Kinds,
    /// Members of its objects, in the order of their first appearance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) members: Vec<(String, Node)>,
    /// Elements of its arrays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) element: Option<Box<Node>>,
    /// Index of members by name, built on demand.
    #[serde(skip)]
    names: HashMap<String, usize, RandomState>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.kinds == other.kinds && self.members == other.members && self.element == other.element
    }
}

impl Node {
    /// Returns whether only text can hold all values seen here; then there are no columns for what is inside them.
    pub(super) fn is_mixed(&self) -> bool {
        let kinds = self.kinds.without(Kinds::NULL);
        let containers = Kinds::OBJECT.with(Kinds::ARRAY);
        (kinds.has(Kinds::OBJECT) && kinds != Kinds::OBJECT)
            || (kinds.has(Kinds::ARRAY) && kinds != Kinds::ARRAY)
            || kinds.has(containers)
    }

    /// Returns the type of the column.
    pub(super) fn data_type(&self) -> DataType {
        let kinds = self.kinds.without(Kinds::NULL);
        let whole = Kinds::INT.with(Kinds::LARGE);
        if kinds == Kinds::BOOL {
            DataType::Boolean
        } else if kinds == Kinds::INT {
            DataType::Int64
        } else if kinds == Kinds::LARGE || kinds == whole {
            LARGE_WHOLE
        } else if kinds.has(Kinds::FLOAT) && whole.with(Kinds::FLOAT).has(kinds) {
            DataType::Float64
        } else if kinds == Kinds::OBJECT && !self.members.is_empty() {
            DataType::Struct(self.fields())
        } else if kinds == Kinds::ARRAY {
            let element = self.element.as_ref().map_or(DataType::Utf8, |element| element.data_type());
            DataType::List(Arc::new(Field::new_list_field(element, true)))
        } else {
            DataType::Utf8
        }
    }

    /// Returns the columns of the members.
    pub(super) fn fields(&self) -> Fields {
        self.members.iter().map(|(name, node)| Field::new(name, node.data_type(), true)).collect()
    }

    /// Returns the columns of the members, with the type `Null` for those that are null in all events so far.
    pub(super) fn known_fields(&self) -> Fields {
        self.members.iter().map(|(name, node)| Field::new(name, node.known_type(), true)).collect()
    }

    fn known_type(&self) -> DataType {
        match self.data_type() {
            _ if !self.has_values() => DataType::Null,
            // Of an object whose members are all null, the members are the only trace.
            DataType::Struct(_) if self.members.iter().any(|(_, member)| member.has_values()) => {
                DataType::Struct(self.known_fields())
            }
            DataType::List(element) => match self.element.as_ref().map_or(DataType::Null, |own| own.known_type()) {
                DataType::Null => DataType::List(element),
                known => DataType::List(Arc::new(Field::new_list_field(known, true))),
            },
            other => other,
        }
    }

    /// Returns whether a value other than null was seen.
    pub(super) fn has_values(&self) -> bool {
        self.kinds.without(Kinds::NULL) != Kinds::default()
    }
}

/// Widening of a tree, up to the limit of columns.
#[derive(Debug)]
pub(super) struct Widening {
    /// Number of columns ever created. A column removed because its place became mixed still counts: otherwise a member
    /// that was refused a column could get one later, which earlier rows would lack.
    pub(super) columns: usize,
}

impl Widening {
    /// Adds the next value of `reader`, which is validated JSON.
    pub(super) fn observe(&mut self, node: &mut Node, reader: &mut Reader<'_>, depth: usize) {
        let Some(first) = reader.peek() else { return };
        let kind = match first {
            b'"' => Kinds::TEXT,
            b'{' => Kinds::OBJECT,
            b'[' => Kinds::ARRAY,
            b't' | b'f' => Kinds::BOOL,
            b'n' => Kinds::NULL,
            _ => reader.clone().skip().map_or(Kinds::NULL, number_kind),
        };
        self.see(node, kind);
        if node.is_mixed() || depth > EVENT_DEPTH_MAX {
            reader.skip();
        } else if kind == Kinds::OBJECT {
            reader.enter();
            let mut is_first = true;
            while let Some(name) = reader.member(&mut is_first) {
                let name = name.to_text();
                match self.member(node, column_name(&name), depth) {
                    Some(member) => self.observe(member, reader, depth + 1),
                    None => _ = reader.skip(),
                }
            }
        } else if kind == Kinds::ARRAY {
            reader.enter();
            let mut is_first = true;
            while reader.element(&mut is_first) {
                match self.element(node) {
                    Some(element) => self.observe(element, reader, depth + 1),
                    None => _ = reader.skip(),
                }
            }
        } else {
            reader.skip();
        }
    }

    fn see(&mut self, node: &mut Node, kinds: Kinds) {
        node.kinds = node.kinds.with(kinds);
        if node.is_mixed() {
            node.members.clear();
            node.names.clear();
            node.element = None;
        }
    }

    fn member<'n>(&mut self, node: &'n mut Node, name: &str, depth: usize) -> Option<&'n mut Node> {
        if node.names.len() != node.members.len() {
            node.names = node.members.iter().enumerate().map(|(index, (name, _))| (name.clone(), index)).collect();
        }
        if let Some(index) = node.names.get(name) {
            return node.members.get_mut(*index).map(|(_, node)| node);
        }
        if self.columns >= EVENT_COLUMNS_MAX || !may_be_column(name, depth) {
            return None;
        }
        self.columns += 1;
        node.names.insert(name.to_owned(), node.members.len());
        node.members.push((name.to_owned(), Node::default()));
        node.members.last_mut().map(|(_, node)| node)
    }

    fn element<'n>(&mut self, node: &'n mut Node) -> Option<&'n mut Node> {
        if node.element.is_none() {
            if self.columns >= EVENT_COLUMNS_MAX {
                return None;
            }
            self.columns += 1;
        }
        Some(node.element.get_or_insert_default())
    }
}

/// Returns whether a member at `depth` can have a column: names of Salver's own columns are taken.
fn may_be_column(name: &str, depth: usize) -> bool {
    depth > 0 || !OWN_COLUMNS.contains(&name)
}

/// Returns the name of a member's column; an empty name is replaced.
fn column_name(name: &str) -> &str {
    if name.is_empty() { UNNAMED } else { name }
}
