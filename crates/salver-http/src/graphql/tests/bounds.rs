//! Resource limits of a document: memory, rows, concurrent reads, time; and fairness to other tasks meanwhile.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use futures::{FutureExt, StreamExt, stream};
use salver_model::ports::{Held, MaybeReady, Table};
use salver_model::{Batches, Description, Limits, Query, Result, Rows};
use salver_testkit::MemoryTable;
use serde_json::{Value as Json, json};

use crate::graphql::tests::fixture::World;

/// A table that returns a stream of batches, and counts its concurrent reads.
#[derive(Debug)]
struct Streaming {
    /// Table that executes the queries.
    rows: MemoryTable,
    /// Rows per batch.
    batch_rows: usize,
    /// Number of repetitions of the rows.
    times: usize,
    /// Whether reads complete at the first poll, so that only the door itself yields.
    now: bool,
    /// Whether the stream stops after its first batch.
    stuck: bool,
    under_way: Arc<AtomicUsize>,
    most_under_way: Arc<AtomicUsize>,
}

impl Streaming {
    fn new(rows: MemoryTable, batch_rows: usize) -> Self {
        let (under_way, most_under_way) = Default::default();
        Self { rows, batch_rows, times: 1, now: false, stuck: false, under_way, most_under_way }
    }

    async fn stream(&self, query: &Query) -> Result<Rows> {
        let counted = Counted::new(&self.under_way);
        self.most_under_way.fetch_max(self.under_way.load(SeqCst), SeqCst);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.answer(query, counted).await
    }

    async fn answer(&self, query: &Query, counted: Counted) -> Result<Rows> {
        let rows = self.rows.read(query).await?;
        let Batches::Ready(ready) = rows.batches else { panic!("the memory table has all rows at hand") };
        let mut batches = Vec::new();
        for batch in std::iter::repeat_n(&ready, self.times).flatten() {
            let starts = (0..batch.num_rows()).step_by(self.batch_rows);
            batches.extend(starts.map(|at| batch.slice(at, self.batch_rows.min(batch.num_rows() - at))));
        }
        let batches = stream::iter(batches).map(move |batch| {
            let _under_way = &counted;
            Ok(batch)
        });
        let batches = if self.stuck { batches.take(1).chain(stream::pending()).boxed() } else { batches.boxed() };
        Ok(Rows { batches: Batches::Stream(batches), ..rows })
    }
}

struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[async_trait]
impl Table for Streaming {
    fn describe(&self) -> &Description {
        self.rows.describe()
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        if self.now {
            // Nothing in it waits, so that the first poll completes it.
            return MaybeReady::Ready(self.answer(query, Counted::new(&self.under_way)).now_or_never().unwrap());
        }
        MaybeReady::pending(self.stream(query))
    }

    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>> {
        self.rows.hold(parts).await
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn numbers(name: &str, rows: i64) -> MemoryTable {
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let parent: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(|id| id / 2)));
    MemoryTable::new(name, RecordBatch::try_from_iter([("id", id), ("parent", parent)]).unwrap())
}

/// Returns a table with rows of one MiB each.
fn heavy(rows: usize) -> MemoryTable {
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(vec!["x".repeat(1 << 20); rows]));
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    MemoryTable::new("heavy", RecordBatch::try_from_iter([("id", id), ("text", text)]).unwrap()).with_key(&["id"])
}

fn fields(count: usize, field: &str) -> String {
    format!("{{ {} }}", (0..count).map(|i| format!("f{i}: {field} ")).collect::<String>())
}

/// Returns the only error of a document that was refused as a whole.
fn refusal(answer: &Json) -> (&str, &str) {
    assert_eq!((&answer["data"], answer["errors"].as_array().unwrap().len()), (&Json::Null, 1), "{answer:.300}");
    let error = &answer["errors"][0];
    assert!(error["extensions"]["hint"].is_string(), "{answer}");
    (error["extensions"]["code"].as_str().unwrap(), error["message"].as_str().unwrap())
}

#[tokio::test]
async fn all_fields_share_the_memory() {
    // No field exceeds the budget alone: 24 times 4 MiB.
    let table = Arc::new(heavy(4));
    let world = World::with(vec![Arc::<MemoryTable>::clone(&table)], Limits::default());
    let (answer, _) = world.run(&fields(10, "heavy { text }"), Json::Null).await;
    assert!(answer.get("errors").is_none(), "ten fields fit");
    let before = table.reads();
    let (answer, ok) = world.run(&fields(24, "heavy { text }"), Json::Null).await;
    assert_eq!((ok, refusal(&answer).0), (true, "answer_too_large"));
    assert!(refusal(&answer).1.contains("64 MiB"), "{answer}");
    assert!(table.reads() - before < 20, "{} reads for an answer that was given up", table.reads() - before);
    // ROAPI's form reports errors differently.
    let error = world.raw(&fields(24, "heavy { text }")).await.unwrap_err();
    assert_eq!(error.code, salver_model::Code::AnswerTooLarge);
    // The next document has a budget of its own.
    assert!(world.data("{ heavy(limit: 1) { id } }").await["heavy"].is_array());
}

#[tokio::test]
async fn rows_of_relations_share_the_memory() {
    let heavy = heavy(40).with_relation("next", &["id"], "heavy", &["id"]);
    let world = World::with(vec![Arc::new(heavy)], Limits::default());
    // Each level holds 40 MiB while the other is read.
    let (answer, _) = world.run("{ heavy { text next { text } } }", Json::Null).await;
    assert_eq!(refusal(&answer).0, "answer_too_large");
    let data = world.data("{ heavy(limit: 5) { text next { text } } }").await;
    assert_eq!(data["heavy"][4]["next"]["text"].as_str().unwrap().len(), 1 << 20);
    // Few rows that multiply when written: 64 to the power of 5.
    let same: ArrayRef = Arc::new(Int64Array::from(vec![1; 64]));
    let few = MemoryTable::new("few", RecordBatch::try_from_iter([("id", same)]).unwrap());
    let few = few.with_relation("all", &["id"], "few", &["id"]);
    let world = World::with(vec![Arc::new(few)], Limits::default());
    let deep = format!("{{ few {{ {} id {} }} }}", "all { ".repeat(4), "} ".repeat(4));
    let (answer, _) = world.run(&deep, Json::Null).await;
    assert_eq!(refusal(&answer).0, "answer_too_large");
}

#[tokio::test]
async fn all_fields_share_the_rows() {
    let limits = Limits { rows_max: 100, ..Limits::default() };
    let table = numbers("numbers", 100).with_relation("above", &["parent"], "numbers", &["id"]);
    let world = World::with(vec![Arc::new(table)], limits);
    assert_eq!(world.data(&fields(10, "numbers(limit: 10) { id }")).await["f9"].as_array().unwrap().len(), 10);
    let (answer, _) = world.run(&fields(11, "numbers(limit: 10) { id }"), Json::Null).await;
    assert_eq!(refusal(&answer).0, "answer_too_large");
    assert!(refusal(&answer).1.contains("rows_max"), "{answer}");
    // 60 rows and 30 related ones; then 80 and 40.
    world.data("{ numbers(limit: 60) { id above { id } } }").await;
    let (answer, _) = world.run("{ numbers(limit: 80) { id above { id } } }", Json::Null).await;
    assert_eq!(refusal(&answer).0, "answer_too_large");
}

#[tokio::test]
async fn two_reads_at_a_time() {
    let relations = (0..5).fold(numbers("numbers", 50), |table, i| {
        table.with_relation(&format!("above_{i}"), &["parent"], "numbers", &["id"])
    });
    let table = Arc::new(Streaming::new(relations, 7));
    let inner: String = (0..5).map(|i| format!("above_{i} {{ id above_0 {{ id }} }} ")).collect();
    let document = fields(65, &format!("numbers {{ id {inner} }}"));
    // Fewer permits than the document has fields, and no request waits for long.
    for queries_max in [1, 2, 64] {
        let limits = Limits { queries_max, ..Limits::default() };
        let world = World::with(vec![Arc::<Streaming>::clone(&table)], limits);
        table.most_under_way.store(0, SeqCst);
        let (answer, ok) = world.run(&document, Json::Null).await;
        assert!(ok && answer.get("errors").is_none(), "{queries_max}: {:.500}", answer["errors"]);
        assert_eq!(answer["data"]["f64"][49], answer["data"]["f0"][49]);
        assert_eq!(table.most_under_way.load(SeqCst), queries_max.min(2));
        assert_eq!(table.under_way.load(SeqCst), 0);
    }
}

/// Returns how often other tasks ran while the document was processed.
async fn turns(world: &World, document: &str) -> usize {
    let done = AtomicUsize::new(0);
    let answered = async {
        let (answer, ok) = world.run(document, Json::Null).await;
        assert!(ok && answer.get("errors").is_none(), "{:.300}", answer["errors"]);
        done.store(1, SeqCst);
    };
    let others = async {
        let mut turns = 0;
        while done.load(SeqCst) == 0 {
            turns += 1;
            tokio::task::yield_now().await;
        }
        turns
    };
    tokio::join!(answered, others).1
}

#[tokio::test]
async fn others_get_their_turn() {
    // For any size of batches, and although the table never waits.
    for (batch_rows, times, turns_min) in [(200, 100, 100), (5_000, 40, 40)] {
        let table =
            Streaming { now: true, times, ..Streaming::new(numbers("numbers", batch_rows), batch_rows as usize) };
        let world = World::with(vec![Arc::new(table)], Limits::default());
        let turns = turns(&world, "{ numbers { id } }").await;
        assert!(turns >= turns_min, "{turns} turns for {times} batches of {batch_rows} rows");
    }
    // Many small fields.
    let world = World::with(vec![Arc::new(numbers("numbers", 100))], Limits::default());
    let turns_of_many = turns(&world, &fields(300, "numbers { id }")).await;
    assert!(turns_of_many >= 100, "{turns_of_many} turns");
    // A small document does not yield its thread.
    assert!(turns(&world, "{ numbers(limit: 5) { id } }").await <= 2);
}

#[tokio::test]
async fn a_document_has_one_deadline() {
    let limits = Limits { query_ms_max: 20, ..Limits::default() };
    let table = Streaming { now: true, stuck: true, ..Streaming::new(numbers("numbers", 10), 5) };
    let under_way = Arc::clone(&table.under_way);
    let world = World::with(vec![Arc::new(table)], limits);
    for document in ["{ numbers { id } }".to_owned(), fields(3, "numbers { id }")] {
        let (answer, ok) = world.run(&document, Json::Null).await;
        assert_eq!((ok, refusal(&answer).0), (true, "timeout"), "{answer}");
        assert_eq!(under_way.load(SeqCst), 0, "the reads end with the document");
    }
    assert_eq!(world.raw(&fields(3, "numbers { id }")).await.unwrap_err().code, salver_model::Code::Timeout);
}

#[tokio::test]
async fn rows_are_complete_however_they_are_cut() {
    for batch_rows in [1, 63, 65, 1_024, 1_025, 5_000] {
        let table = Streaming::new(numbers("numbers", 5_000), batch_rows);
        let world = World::with(vec![Arc::new(table)], Limits::default());
        let data = world.data("{ numbers { id } numbers_page(limit: 3000) { total rows { id } next } }").await;
        let ids =
            |rows: &Json| rows.as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect::<Vec<_>>();
        assert!(ids(&data["numbers"]).into_iter().eq(0..5_000), "{batch_rows}");
        assert!(ids(&data["numbers_page"]["rows"]).into_iter().eq(0..3_000), "{batch_rows}");
        assert_eq!(data["numbers_page"]["total"], 5_000);
    }
    // Few but long rows move to another thread in the middle of a batch.
    let world = World::with(vec![Arc::new(heavy(7))], Limits::default());
    let data =
        world.data("{ heavy { id text } one: heavy_by_key(id: 3) { id } none: heavy_by_key(id: 9) { id } }").await;
    let ids: Json = data["heavy"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, json!([0, 1, 2, 3, 4, 5, 6]));
    assert_eq!((&data["one"], &data["none"]), (&json!({ "id": 3 }), &Json::Null));
}
