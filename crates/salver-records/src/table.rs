//! A table of a database behind the port of readable entries: a query becomes one statement, and its rows Arrow.
//!
//! Comparisons and orders have the semantics of datasets, whatever collation a column has: text is compared by its
//! bytes. Rows may change at any moment, so that no reply is repeatable and none is cached.

mod batches;
mod column;
mod compare;
mod decimal;
mod held_rows;
mod keyset;
mod non_texts;
mod page;
mod select;
mod shared_view;
mod stored_value;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::Schema;
use async_trait::async_trait;
use futures::{StreamExt, stream};
use salver_model::ports::{Held, Left, MaybeReady, Table};
use salver_model::records::{DatabaseSchema, Operation, TableInfo, TableKind};
use salver_model::shares::Yielding;
use salver_model::spec::RecordRule;
use salver_model::{
    Batches, Caller, Code, Description, EntryKind, Error, Filter, Holder, Name, Principal, Query, ReadView, Relation,
    Result, Rows, Version,
};
use tokio::sync::mpsc;

use crate::access::Access;
use crate::backend::slow_clients;
use crate::condition::{self, begin};
use crate::dialect::{Dialect, Sql};
use crate::schema_cache::{KnownDatabase, is_gone};
use batches::BatchSink;
use select::{SelectContext, Selected};
use shared_view::PlaceInView;

/// Replies limited to at most this many rows are read whole, and know their next page; others are streamed.
const WHOLE_ROWS: u64 = 65_536;
/// Number of batches buffered for a slow reader.
const BATCHES_CAPACITY: usize = 1;

/// One table or view.
#[derive(Clone, Debug)]
pub(crate) struct RecordsTable {
    known: Arc<KnownDatabase>,
    dialect: Dialect,
    info: TableInfo,
    description: Description,
    rules: RowRules,
    /// The entries of the database's tables.
    names: Arc<BTreeMap<String, Name>>,
    /// Its place in the view of a statement.
    view: Option<PlaceInView>,
}

/// The rules and the tenancy of a table, as they choose rows for some callers.
#[derive(Clone, Debug)]
pub(crate) struct RowRules {
    filters: Vec<Filter>,
    /// The schema with all columns: a rule may choose by a column that is hidden.
    schema: Arc<DatabaseSchema>,
}

impl RowRules {
    /// Returns the rules for the table called `table`, a table of `schema`.
    pub(crate) fn of(access: Access<'_>, schema: &Arc<DatabaseSchema>, table: &str) -> Self {
        let filters = schema.table(table).map(|whole| access.rows(Operation::List, whole)).unwrap_or_default();
        Self { filters, schema: Arc::clone(schema) }
    }

    /// Appends the predicates: ` WHERE` before the first condition, ` AND` before others.
    ///
    /// # Errors
    /// `Config` when a rule names a column that the table does not have.
    fn push(&self, table: &str, sql: &mut Sql, first: &mut bool) -> Result<()> {
        if self.filters.is_empty() {
            return Ok(());
        }
        let whole = self.schema.table(table).ok_or_else(|| Error::internal("a table with rules has no columns"))?;
        self.filters.iter().try_for_each(|filter| {
            begin(sql, first);
            condition::filter(whole, "", filter, sql)
        })
    }
}

impl RecordsTable {
    /// Creates the table `info` of a database, without the columns that rules hide; returns `None` when they hide all
    /// of its columns, or it is not served. `names` has the entries of the database's tables.
    pub(crate) fn new(
        known: &Arc<KnownDatabase>,
        info: TableInfo,
        rules: RowRules,
        names: Arc<BTreeMap<String, Name>>,
    ) -> Option<Self> {
        let spec = &known.spec;
        let name = names.get(&info.name)?;
        let dialect = Dialect::of(spec.kind);
        let fields: Vec<_> = info.columns.iter().map(|own| column::field(own, dialect)).collect();
        if fields.is_empty() {
            return None;
        }
        let named = |columns: &[usize]| columns.iter().map(|index| info.columns[*index].name.clone()).collect();
        let relations = info.foreign_keys.iter().filter_map(|key| {
            let columns: Vec<String> = named(&key.columns);
            let name = relation_name(&columns, &key.target, &info);
            let target = names.get(&key.target)?.clone();
            Some(Relation { name, columns, target, target_columns: key.target_columns.clone() })
        });
        let what = if info.kind == TableKind::View { "view" } else { "table" };
        let description = Description {
            name: name.clone(),
            kind: EntryKind::Table,
            schema: Arc::new(Schema::new(fields)),
            key: named(&info.key),
            relations: relations.collect(),
            rows: None,
            version: Version(rules.schema.stamp()),
            source: format!("{what} of the database {}", spec.name),
            memory_bytes: 0,
        };
        Some(Self { known: Arc::clone(known), dialect, info, description, rules, names, view: None })
    }

    async fn whole(&self, query: &Query, selected: Selected) -> Result<Rows> {
        let mut reads = vec![selected.rows.clone()];
        reads.extend(selected.total.clone());
        let sink = BatchSink::new(&selected, usize::MAX);
        let sink = match self.shared_view() {
            None => self.known.backend.read(reads, sink, None).await?,
            // In a task of its own: to drop it in the middle would end the transaction for the other tables. No piece
            // is sent; the receiver goes with this future, which stops the read.
            Some(view) => {
                let (sender, _receiver) = mpsc::channel(BATCHES_CAPACITY);
                let reading = tokio::spawn(view.turn().await.read(reads, sink, Some(sender)));
                reading.await.map_err(|error| Error::internal("reading a table broke off").with_source(error))??
            }
        };
        let total = sink.total().filter(|_| query.count);
        let (batches, next) = page::page(query, &self.description, &selected, sink.finish()?)?;
        Ok(Rows { total, next, ..self.answer(&selected, Batches::Ready(batches)) })
    }

    async fn streamed(&self, selected: Selected) -> Result<Rows> {
        let total = match &selected.total {
            None => None,
            Some(total) => {
                let sink = BatchSink::counting();
                self.known.backend.read(vec![total.clone()], sink, None).await?.total()
            }
        };
        let turn = match self.shared_view() {
            Some(view) => Some(view.turn().await),
            None => None,
        };
        // The caller is counted where its query is admitted. Who has a connection must not wait for a share: those who
        // have the shares may wait for that connection. It yields all the same.
        let lying = self.known.backend.lying();
        let share = match &turn {
            Some(turn) if turn.has_connection() => lying.none_of(&Holder::Server),
            _ => slow_clients::take(lying, &Holder::Server).await?,
        };
        let view = self.shared_view().cloned();
        let (sender, mut receiver) = mpsc::channel(BATCHES_CAPACITY);
        let backend = Arc::clone(&self.known.backend);
        let (sink, read) = (BatchSink::new(&selected, batches::BATCH_ROWS), selected.rows.clone());
        tokio::spawn(async move {
            let (reads, out) = (vec![read], Some(sender.clone()));
            let ended = match turn {
                Some(turn) => turn.read(reads, sink, out).await,
                None => tokio::select! {
                    // The task ends with the receiver. A statement that finds no rows would never learn of it by
                    // itself; dropping the read stops it.
                    () = sender.closed() => return,
                    ended = backend.read(reads, sink, out) => ended,
                },
            };
            let last = match ended {
                Ok(sink) => sink.finish(),
                Err(error) => Err(error),
            };
            match last {
                Ok(batch) if batch.num_rows() == 0 => {}
                last => drop(sender.send(last).await),
            }
        });
        // A statement that fails before its first batch is an error of the request, not a broken stream.
        let first = receiver.recv().await.transpose()?;
        let rest = stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
        let batches = stream::iter(first.map(Ok)).chain(rest);
        let batches = Yielding::new(batches.boxed(), share);
        let batches = match view {
            // Its statement may learn of it much later, when its client reads on.
            Some(view) => batches.on_give_up(move || view.end()).boxed(),
            None => batches.boxed(),
        };
        Ok(Rows { total, ..self.answer(&selected, Batches::Stream(batches)) })
    }

    /// Returns the table's place in a view that it shares with others of its database.
    fn shared_view(&self) -> Option<&PlaceInView> {
        self.view.as_ref().filter(|view| view.is_shared())
    }

    /// Triggers a new reflection of the schema when a name is gone, and reports that the entry has changed.
    async fn as_it_is<T>(&self, done: Result<T>) -> Result<T> {
        let Err(error) = done else { return done };
        let stamp = self.description.version.0;
        if !is_gone(error.code) || !self.known.is_other_than(stamp).await? {
            return Err(error);
        }
        let message = format!("`{}` was changed in its database a moment ago", self.description.name);
        Err(Error::new(Code::Contention, message).with_hint("ask again").with_source(error))
    }

    fn answer(&self, selected: &Selected, batches: Batches) -> Rows {
        Rows {
            schema: Arc::clone(&selected.schema),
            batches,
            total: None,
            next: None,
            read: vec![(self.description.name.clone(), self.description.version)],
            repeatable: false,
        }
    }
}

/// Returns the name of the field that follows a foreign key: `author` for the column `author_id`, else the referenced
/// table, unless a column has that name.
fn relation_name(columns: &[String], target: &str, info: &TableInfo) -> String {
    let stem = match columns {
        [only] => only.strip_suffix("_id").filter(|stem| !stem.is_empty()),
        _ => None,
    };
    let wanted = stem.unwrap_or(target);
    if info.column(wanted).is_some() { format!("{}_{target}", columns.join("_")) } else { wanted.to_owned() }
}

#[async_trait]
impl Table for RecordsTable {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        MaybeReady::pending(async move {
            let orders_texts = !non_texts::are_in_the_order(self, query).await?;
            let ground =
                SelectContext { dialect: self.dialect, info: &self.info, about: &self.description, orders_texts };
            let selected = select::select(&ground, &self.rules, query)?;
            let rows = if query.limit.is_some_and(|limit| limit <= WHOLE_ROWS) {
                self.whole(query, selected).await
            } else {
                self.streamed(selected).await
            };
            self.as_it_is(rows).await
        })
    }

    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>> {
        self.as_it_is(held_rows::hold(self, parts).await).await
    }

    fn with_rows(&self, filter: &Filter) -> Option<Arc<dyn Table>> {
        let mut table = self.clone();
        table.rules.filters.push(filter.clone());
        Some(Arc::new(table))
    }

    fn in_view(&self, view: &Arc<ReadView>) -> Option<Arc<dyn Table>> {
        let own = || PlaceInView::new(view, &self.known.backend, &self.info);
        self.view.is_none().then(|| Arc::new(Self { view: Some(own()), ..self.clone() }) as _)
    }

    /// Returns `None`: held rows are gone with their transaction, so that they can't be held again at a version.
    async fn hold_at(&self, _: Version, _: usize) -> Result<Option<Arc<dyn Held>>> {
        Ok(None)
    }

    fn left_for(&self, caller: &Principal) -> Left {
        let spec = &self.known.spec;
        let is_for_all = spec.rules.iter().all(RecordRule::is_for_all_alike)
            && spec.tenancy.iter().all(|own| own.attribute().is_none());
        if is_for_all {
            return Left::Whole;
        }
        let caller = Caller::from(caller.clone());
        let access = Access { spec, caller: &caller, for_all_alike: false };
        let Some(whole) = self.rules.schema.table(&self.info.name) else { return Left::Nothing };
        let Some(info) = access.visible_part(whole, Operation::List) else { return Left::Nothing };
        let rules = RowRules::of(access, &self.rules.schema, &self.info.name);
        if info == self.info && rules.filters == self.rules.filters {
            return Left::Whole;
        }
        match Self::new(&self.known, info, rules, Arc::clone(&self.names)) {
            Some(table) => Left::Part(Arc::new(table)),
            None => Left::Nothing,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
