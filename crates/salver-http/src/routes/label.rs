//! Labels under which requests are counted: a path of the table, and one for each kind of path that entries declare.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU16, Ordering};

use super::{RouteRow, rows};

/// A label, as a number. Rows of one path share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RouteLabel(u16);

/// Labels of paths that are not in the table.
const OTHERS: [&str; 3] = ["(none)", "(a stream's route)", "(user code)"];

impl RouteLabel {
    /// Nothing that is served.
    pub(crate) const NONE: Self = Self(0);
    /// The route of a stream.
    pub(crate) const STREAM_ROUTE: Self = Self(1);
    /// A path of user code.
    pub(crate) const USER_CODE: Self = Self(2);

    /// Returns its place among [`labels`].
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A label that is found out while others hold it: it is [`RouteLabel::NONE`] until then.
#[derive(Debug, Default)]
pub(crate) struct AtomicLabel(AtomicU16);

impl AtomicLabel {
    pub(crate) fn set(&self, label: RouteLabel) {
        self.0.store(label.0, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> RouteLabel {
        RouteLabel(self.0.load(Ordering::Relaxed))
    }
}

/// Returns the rows with their labels.
pub(super) fn labelled(mut rows: Vec<RouteRow>) -> Vec<RouteRow> {
    let mut known: HashMap<&str, u16> = HashMap::new();
    for row in &mut rows {
        let next = (OTHERS.len() + known.len()) as u16;
        let number = *known.entry(row.paths[0]).or_insert(next);
        row.label = RouteLabel(number);
    }
    rows
}

/// Returns the texts of all labels, by number: paths, as in the table.
pub(crate) fn labels() -> impl Iterator<Item = &'static str> {
    let mut next = OTHERS.len();
    OTHERS.into_iter().chain(rows().filter_map(move |row| {
        let is_first = row.label.index() == next;
        next += usize::from(is_first);
        is_first.then(|| row.paths[0])
    }))
}

#[cfg(test)]
mod tests {
    use super::{RouteLabel, labels};
    use crate::routes::rows;

    #[test]
    fn every_row_has_its_own() {
        let all: Vec<_> = labels().collect();
        for row in rows() {
            assert_ne!(row.label, RouteLabel::NONE);
            assert_eq!(all[row.label.index()], row.paths[0]);
        }
        for (index, label) in all.iter().enumerate() {
            assert!(!all[..index].contains(label), "{label:?}");
        }
    }
}
