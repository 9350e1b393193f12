//! Changes on their way to the database: the steps of one program, and which answer is made of which step.

use std::ops::Range;

use salver_model::Error;

use super::judged::Judged;
use crate::json::{Form, JsonRow};
use crate::statement::{Bind, Step};

/// The answer to one record or key of a change.
#[derive(Debug)]
pub(crate) enum Answer {
    /// JSON at hand.
    Ready(Vec<u8>),
    /// The rows a step touched.
    Affected(usize),
    /// What the database numbered the row of a step.
    Key(usize),
    /// The first cell of the first row a step answered.
    Cell { step: usize, form: Form },
    /// The first row a step answered, when the step `of` touched one; else null.
    Row { step: usize, of: usize, row: JsonRow },
    /// All rows a step answered, without the cells behind the row's members.
    Rows { step: usize, row: JsonRow },
    /// It could not be made a step.
    Failed(Error),
}

/// One record or key of a change.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) steps: Range<usize>,
    pub(crate) answer: Answer,
}

/// One change.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The table's name, for messages.
    pub(crate) table: String,
    /// Whether the answer is an array.
    pub(crate) batch: bool,
    pub(crate) items: Vec<Item>,
    /// Values that only the database can judge, by the numbers of their items.
    pub(crate) judged: Vec<(usize, Vec<Judged>)>,
    /// Columns that later changes refer to, with where their values are.
    pub(crate) exports: Vec<(String, Bind)>,
}

/// Everything one request asks for.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) changes: Vec<Planned>,
}

impl Plan {
    /// Adds a step; its number.
    pub(crate) fn step(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Every record and key of every change.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.changes.iter().flat_map(|change| &change.items)
    }

    /// Whether every part could be made steps.
    pub(crate) fn is_sound(&self) -> bool {
        !self.items().any(|item| matches!(item.answer, Answer::Failed(_)))
    }

    /// Takes out the error of the first item that could not be made a step.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.changes.iter_mut().flat_map(|change| &mut change.items).find_map(|item| match &mut item.answer {
            answer @ Answer::Failed(_) => match std::mem::replace(answer, Answer::Ready(Vec::new())) {
                Answer::Failed(error) => Some(error),
                _ => None,
            },
            _ => None,
        })
    }
}
