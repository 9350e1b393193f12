//! What the latest statements of a connection were found to take and give. Most drivers prepare the same text again for
//! each set of values, and planning it takes several times as long as reading one row.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use salver_model::ports::{StatementDescription, StatementQuestion};
use salver_model::{Caller, PgParameter};
use salver_service::Snapshot;

/// Statements that are remembered.
const KEPT: usize = 16;
/// Bytes of a text that is remembered, at most.
const TEXT_BYTES: usize = 8 * 1024;
/// Columns of a statement that is remembered, at most.
const COLUMNS: usize = 256;
/// How long it is trusted. Tables of databases get other columns without being another version of the catalog.
const AGE: Duration = Duration::from_secs(1);

/// What a statement was planned over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedOver {
    generation: u64,
    rights: Option<u64>,
}

impl PlannedOver {
    /// Returns the state of the catalog as a caller sees it.
    pub(super) fn of(snapshot: &Snapshot, caller: &Caller) -> Self {
        Self { generation: snapshot.generation(), rights: caller.grants.as_ref().map(|grants| grants.id()) }
    }
}

/// The statements, the latest first.
#[derive(Debug, Default)]
pub(super) struct KnownDescriptions(VecDeque<KnownDescription>);

#[derive(Debug)]
struct KnownDescription {
    text: String,
    types: Vec<Option<PgParameter>>,
    over: PlannedOver,
    since: Instant,
    description: StatementDescription,
}

impl KnownDescriptions {
    /// Returns what the question was answered a moment ago.
    pub(super) fn get(&self, question: StatementQuestion<'_>, over: PlannedOver) -> Option<StatementDescription> {
        let is_it = |known: &&KnownDescription| {
            let is_answered = known.description.columns.is_some() || !question.wants_columns;
            known.over == over && is_answered && known.types == question.types && known.text == question.text
        };
        let known = self.0.iter().find(is_it).filter(|known| known.since.elapsed() < AGE)?;
        Some(known.description.clone())
    }

    /// Remembers the answer to a question.
    pub(super) fn keep(
        &mut self,
        question: StatementQuestion<'_>,
        over: PlannedOver,
        description: &StatementDescription,
    ) {
        let columns = description.columns.as_ref().map_or(0, |columns| columns.fields().len());
        if question.text.len() > TEXT_BYTES || columns > COLUMNS {
            return;
        }
        self.0.retain(|known| known.text != question.text || known.types != question.types);
        self.0.truncate(KEPT - 1);
        let (text, types) = (question.text.to_owned(), question.types.to_vec());
        let since = Instant::now();
        self.0.push_front(KnownDescription { text, types, over, since, description: description.clone() });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::Schema;
    use salver_model::ports::{StatementDescription, StatementQuestion};

    use super::{KEPT, KnownDescriptions, PlannedOver};

    #[test]
    fn the_latest_are_known() {
        let mut known = KnownDescriptions::default();
        let over = PlannedOver { generation: 1, rights: Some(7) };
        let columns = Some(Arc::new(Schema::empty()));
        let question = |text| StatementQuestion { text, types: &[None], wants_columns: false };
        let without = StatementDescription { parameters: Vec::new(), columns: None };
        known.keep(question("a"), over, &without);
        assert!(known.get(question("a"), over).is_some());
        assert!(known.get(question("b"), over).is_none());
        assert!(known.get(StatementQuestion { types: &[], ..question("a") }, over).is_none());
        assert!(known.get(question("a"), PlannedOver { generation: 2, ..over }).is_none());
        assert!(known.get(question("a"), PlannedOver { rights: None, ..over }).is_none());
        let whole = StatementQuestion { wants_columns: true, ..question("a") };
        assert!(known.get(whole, over).is_none(), "the columns were not asked for");
        known.keep(whole, over, &StatementDescription { columns, ..without.clone() });
        assert!(known.get(whole, over).is_some() && known.0.len() == 1);
        let texts: Vec<String> = (0..KEPT).map(|number| number.to_string()).collect();
        texts.iter().for_each(|text| known.keep(question(text), over, &without));
        assert!(known.get(whole, over).is_none() && known.0.len() == KEPT);
    }
}
