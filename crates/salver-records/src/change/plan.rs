//! A plan of changes: the steps of one program, and which step's result each response is made of.

use std::ops::Range;

use salver_model::Error;

use super::database_validation::Judged;
use crate::json::{JsonForm, JsonRow};
use crate::statement::{Bind, ProgramStep};

/// The response to one record or key of a change.
#[derive(Debug)]
pub(crate) enum ChangeResponse {
    /// JSON that is ready.
    Ready(Vec<u8>),
    /// The number of rows that a step affected.
    Affected(usize),
    /// The auto-increment value of a step's row.
    Key(usize),
    /// The first cell of the first row that a step returned.
    Cell { step: usize, form: JsonForm },
    /// The first row that a step returned, if the step `of` affected one; else null.
    Row { step: usize, of: usize, row: JsonRow },
    /// The first of two if the step returned a row, else the second.
    Either { step: usize, told: Box<ChangeResponse>, otherwise: Box<ChangeResponse> },
    /// All rows that a step returned, without the cells after the row's members.
    Rows { step: usize, row: JsonRow },
    /// An error: no step could be created.
    Failed(Error),
}

/// One record or key of a change.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) steps: Range<usize>,
    pub(crate) answer: ChangeResponse,
}

/// One change.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The table's name, for messages.
    pub(crate) table: String,
    /// Whether the response is an array.
    pub(crate) batch: bool,
    pub(crate) items: Vec<Item>,
    /// Values that only the database can judge, by the numbers of their items.
    pub(crate) judged: Vec<(usize, Vec<Judged>)>,
    /// Columns that later changes refer to, each with the bind that refers to its value.
    pub(crate) exports: Vec<(String, Bind)>,
}

/// All changes of one request.
#[derive(Debug, Default)]
pub(crate) struct ChangePlan {
    pub(crate) steps: Vec<ProgramStep>,
    pub(crate) changes: Vec<Planned>,
}

impl ChangePlan {
    /// Adds a step; returns its number.
    pub(crate) fn step(&mut self, step: ProgramStep) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Returns every record and key of every change.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.changes.iter().flat_map(|change| &change.items)
    }

    /// Returns whether every part has its steps.
    pub(crate) fn is_sound(&self) -> bool {
        !self.items().any(|item| matches!(item.answer, ChangeResponse::Failed(_)))
    }

    /// Takes the error of the first part without steps.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.changes.iter_mut().flat_map(|change| &mut change.items).find_map(|item| match &mut item.answer {
            answer @ ChangeResponse::Failed(_) => match std::mem::replace(answer, ChangeResponse::Ready(Vec::new())) {
                ChangeResponse::Failed(error) => Some(error),
                _ => None,
            },
            _ => None,
        })
    }
}
