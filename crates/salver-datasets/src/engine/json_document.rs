//! JSON in texts: its normal form, as PostgreSQL's `jsonb` writes it, its parts, and what is made of these. Nothing
//! here knows columns or functions; no tree is built, so that a document needs little more memory than its text.

mod change;
mod normal;
mod number;
mod order;
mod parts;
mod pretty;

pub(super) use change::{Change, concatenated, without_index, without_key, without_nulls};
pub(super) use normal::{Fault, comparable, normal};
pub(super) use order::{compare, contains, has};
pub(super) use parts::{Shape, Step, elements, found, members, plain_text, shape};
pub(super) use pretty::{LINES, pretty};
