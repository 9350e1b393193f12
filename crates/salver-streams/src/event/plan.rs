//! A shape compiled for the walk over an event.

use std::collections::HashMap;

use ahash::RandomState;
use salver_model::limits::EVENT_COLUMNS_MAX;
use salver_text::json::Text;

use super::kinds::Kinds;
use super::tree::{Node, OWN_COLUMNS, UNNAMED};

/// Step at which everything is known: no value below it adds to the shape.
pub(super) const NONE: u32 = 0;
/// Step at which nothing is known: any value adds to the shape.
const UNSEEN: u32 = 1;
const ROOT: u32 = 2;

/// Steps compiled from a shape.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
}

/// Node of the shape.
#[derive(Debug)]
pub(super) struct Step {
    /// Kinds of values seen at this node.
    pub(super) kinds: Kinds,
    /// Whether an unknown member adds nothing.
    pub(super) is_closed: bool,
    /// Members, in the expected order.
    pub(super) members: Vec<Member>,
    names: HashMap<Box<[u8]>, u32, RandomState>,
    /// Step of the elements.
    pub(super) element: u32,
}

/// Known member.
#[derive(Debug)]
pub(super) struct Member {
    /// `"name":`, the usual spelling in a text.
    pub(super) lead: Box<[u8]>,
    /// Step of the member's value.
    pub(super) node: u32,
}

impl Plan {
    pub(super) fn new(root: &Node, columns: usize) -> Self {
        let is_full = columns >= EVENT_COLUMNS_MAX;
        let mut plan = Self { steps: Vec::new() };
        plan.steps.push(Step::new(Kinds::ALL, true, NONE));
        plan.steps.push(Step::new(Kinds::default(), true, NONE));
        plan.add(root, is_full);
        for name in OWN_COLUMNS {
            plan.steps[ROOT as usize].add(name, NONE);
        }
        plan
    }

    fn add(&mut self, node: &Node, is_full: bool) -> u32 {
        let index = self.steps.len();
        let is_mixed = node.is_mixed();
        let element = if is_full || is_mixed { NONE } else { UNSEEN };
        self.steps.push(Step::new(node.kinds, is_full || is_mixed, element));
        for (name, member) in &node.members {
            let place = self.add(member, is_full);
            self.steps[index].add(name, place);
        }
        if let Some(unnamed) = self.steps[index].find(UNNAMED.as_bytes(), false) {
            let place = self.steps[index].members[unnamed as usize].node;
            self.steps[index].add("", place);
        }
        if let Some(node) = &node.element {
            self.steps[index].element = self.add(node, is_full);
        }
        index as u32
    }

    pub(super) fn root(&self) -> u32 {
        ROOT
    }

    #[inline]
    pub(super) fn step(&self, index: u32) -> &Step {
        &self.steps[index as usize]
    }
}

impl Step {
    fn new(kinds: Kinds, is_closed: bool, element: u32) -> Self {
        Self { kinds, is_closed, members: Vec::new(), names: HashMap::default(), element }
    }

    fn add(&mut self, name: &str, node: u32) {
        // Escaped where necessary, so that a text with this prefix is well-formed up to its end.
        let lead = format!("{}:", serde_json::Value::from(name)).into_bytes().into_boxed_slice();
        self.names.insert(name.as_bytes().into(), self.members.len() as u32);
        self.members.push(Member { lead, node });
    }

    /// Returns the index of the member with this name, given as it is spelled between the quotes.
    pub(super) fn find(&self, name: &[u8], is_escaped: bool) -> Option<u32> {
        if self.members.is_empty() {
            return None;
        }
        if is_escaped {
            return self.names.get(&*Text { raw: name, is_escaped }.unescaped()).copied();
        }
        self.names.get(name).copied()
    }
}
