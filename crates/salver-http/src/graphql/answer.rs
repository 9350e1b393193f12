//! The standard result: the root fields, a few of them concurrently, with their values and errors in one document.

use std::sync::Arc;

use ahash::AHashMap;
use apollo_compiler::response::ExecutionResponse;
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use salver_formats::json::write_string;
use salver_model::{Batches, Error, Name, Result, Version};

use crate::graphql::failure::Problem;
use crate::graphql::piece::WrittenBatch;
use crate::graphql::plan::{DocumentPlan, Level, PageField, RootPlan, Selection, Work};
use crate::graphql::run::{Gathered, Joined, Reading, Runner};
use crate::offload::{self, INLINE_BYTES};

/// Root fields that are processed concurrently, in order: one is read while another is written.
const ROOTS_AT_ONCE: usize = 2;

/// A finished document.
#[derive(Debug)]
pub(crate) struct FinishedDocument {
    pub(crate) body: Vec<u8>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) repeatable: bool,
    /// Entries that named queries read.
    pub(crate) read: Vec<(Name, Version)>,
}

/// A root field with its value, as JSON.
#[derive(Debug)]
struct Written {
    body: Vec<u8>,
    problems: Vec<Problem>,
    repeatable: bool,
    read: Vec<(Name, Version)>,
}

/// Runs `plan`; `introspection` has the values of the introspection fields.
///
/// # Errors
/// When the document's budget is exceeded.
pub(crate) async fn run(
    runner: Runner<'_>,
    plan: &DocumentPlan,
    introspection: Option<&ExecutionResponse>,
) -> Result<FinishedDocument> {
    let mut body = Vec::new();
    let mut problems = Vec::new();
    let (mut repeatable, mut read) = (true, Vec::new());
    let values = plan.roots.iter().enumerate().map(|(index, root)| value(runner, root, head(index, &root.key)).boxed());
    let values: Vec<BoxFuture<'_, Result<Written>>> = values.collect();
    let mut values = std::pin::pin!(stream::iter(values).buffered(ROOTS_AT_ONCE));
    for (index, root) in plan.roots.iter().enumerate() {
        let Some(written) = values.next().await else { break };
        if let Some(error) = runner.budget.refusal() {
            return Err(error);
        }
        match written {
            Ok(mut written) => {
                problems.append(&mut written.problems);
                repeatable &= written.repeatable;
                read.append(&mut written.read);
                body = join(body, written.body).await?;
            }
            Err(error) => {
                body.append(&mut head(index, &root.key));
                body.extend_from_slice(b"null");
                problems.push(Problem::at(&[&root.key], &error));
            }
        }
        if matches!(root.work, Work::Introspection) {
            let value = introspection.and_then(|response| response.data.as_ref()?.get(root.key.as_str()));
            let value = value.map_or_else(|| "null".to_owned(), ToString::to_string);
            runner.budget.take_bytes(value.len())?;
            body.extend_from_slice(value.as_bytes());
            // Introspection results change with any entry, not only with those that are read.
            repeatable = false;
        }
    }
    if plan.roots.is_empty() {
        body.extend_from_slice(b"{\"data\":{");
    }
    body.push(b'}');
    if let Some(response) = introspection {
        problems.extend(response.errors.iter().map(Problem::of));
    }
    write_errors(&problems, &mut body);
    body.push(b'}');
    repeatable &= problems.is_empty();
    Ok(FinishedDocument { body, problems, repeatable, read })
}

/// Returns a result of errors alone, for a document that was not run.
pub(crate) fn refused(problems: &[Problem]) -> Vec<u8> {
    let mut body = b"{".to_vec();
    write_errors(problems, &mut body);
    body.push(b'}');
    body
}

/// Returns the result of a mutation that was rolled back.
pub(crate) fn undone(problems: &[Problem]) -> Vec<u8> {
    let mut body = b"{\"data\":null".to_vec();
    write_errors(problems, &mut body);
    body.push(b'}');
    body
}

/// Returns the result for a request that could not be parsed.
pub(crate) fn unread(error: &Error) -> Vec<u8> {
    refused(&[Problem::at(&[], error)])
}

/// Returns the result for a request that was aborted.
pub(crate) fn broken_off(error: &Error) -> Vec<u8> {
    undone(&[Problem::at(&[], error)])
}

/// Returns the JSON that precedes the value of a root field.
fn head(index: usize, key: &str) -> Vec<u8> {
    let mut head = if index == 0 { b"{\"data\":{".to_vec() } else { b",".to_vec() };
    write_string(key, &mut head);
    head.push(b':');
    head
}

/// Appends `next` to `body`.
async fn join(mut body: Vec<u8>, mut next: Vec<u8>) -> Result<Vec<u8>> {
    if body.is_empty() {
        return Ok(next);
    }
    let is_long = next.len() > INLINE_BYTES;
    let work = move || {
        body.append(&mut next);
        Ok(body)
    };
    if is_long { offload::elsewhere(work).await } else { work() }
}

fn write_errors(problems: &[Problem], body: &mut Vec<u8>) {
    if problems.is_empty() {
        return;
    }
    if body.len() > 1 {
        body.push(b',');
    }
    let errors: serde_json::Value = problems.iter().map(Problem::json).collect();
    body.extend_from_slice(b"\"errors\":");
    body.extend_from_slice(errors.to_string().as_bytes());
}

/// Appends the value of `root` to `body`.
async fn value(runner: Runner<'_>, root: &RootPlan, body: Vec<u8>) -> Result<Written> {
    let mut written = Written { body, problems: Vec::new(), repeatable: true, read: Vec::new() };
    match &root.work {
        Work::Typename => written.body.extend_from_slice(b"\"Query\""),
        Work::Introspection => {}
        Work::Constant(value) => written.body.extend_from_slice(value),
        Work::Nothing => written.body.extend_from_slice(b"null"),
        Work::Failed(error) => {
            // A copy of the error from compilation.
            return Err(Error::new(error.code, error.message.clone()).with_hint_if(error.hint.clone()));
        }
        Work::Rows(level) => {
            let reading = runner.read(level, &level.query).await?;
            written.body.push(b'[');
            rows(runner, (level, &root.key), reading, &mut written).await?;
            written.body.push(b']');
        }
        Work::One(level) => {
            let reading = runner.read(level, &level.query).await?;
            let before = written.body.len();
            rows(runner, (level, &root.key), reading, &mut written).await?;
            if written.body.len() == before {
                written.body.extend_from_slice(b"null");
            }
        }
        Work::Named(call) => {
            let mut reading = runner.run_named(call).await?;
            written.repeatable &= reading.rows.repeatable;
            written.read = std::mem::take(&mut reading.rows.read);
            written.body.push(b'[');
            plain(runner, &call.selection, reading, &mut written.body).await?;
            written.body.push(b']');
        }
        Work::Page(level, fields) => page(runner, (level, &root.key), fields, &mut written).await?,
    }
    Ok(written)
}

async fn page(
    runner: Runner<'_>,
    (level, key): (&Arc<Level>, &str),
    fields: &[(String, PageField)],
    written: &mut Written,
) -> Result<()> {
    let reading = runner.read(level, &level.query).await?;
    let total = reading.rows.total;
    let next = reading.rows.next.as_ref().map(salver_model::Cursor::encode);
    written.repeatable &= reading.rows.repeatable;
    let mut reading = Some(reading);
    for (index, (name, field)) in fields.iter().enumerate() {
        written.body.push(if index == 0 { b'{' } else { b',' });
        write_string(name, &mut written.body);
        written.body.push(b':');
        match (field, total, &next) {
            (PageField::Rows, ..) => {
                written.body.push(b'[');
                if let Some(reading) = reading.take() {
                    rows(runner, (level, key), reading, written).await?;
                }
                written.body.push(b']');
            }
            (PageField::Total, Some(total), _) => written.body.extend_from_slice(total.to_string().as_bytes()),
            (PageField::Next, _, Some(next)) => write_string(next, &mut written.body),
            (PageField::Typename(name), ..) => write_string(name, &mut written.body),
            (PageField::Total | PageField::Next, ..) => written.body.extend_from_slice(b"null"),
        }
    }
    written.body.push(b'}');
    Ok(())
}

/// Writes all rows as objects, separated by commas.
async fn rows(
    runner: Runner<'_>,
    (level, key): (&Arc<Level>, &str),
    reading: Reading<'_>,
    written: &mut Written,
) -> Result<()> {
    written.repeatable &= reading.rows.repeatable;
    let selection = &level.selection;
    if selection.relations.is_empty() {
        return plain(runner, selection, reading, &mut written.body).await;
    }
    let mut gathered = Gathered::new(runner.budget);
    gathered.add(reading, key).await?;
    let Some((batch, _held)) = gathered.finish().await? else { return Ok(()) };
    let joined = runner.relations(selection, &batch).await;
    failures(selection, &joined, &mut vec![key], &mut written.problems);
    written.repeatable &= joined.iter().flatten().all(Joined::all_repeatable);
    let piece = WrittenBatch { joined, first: true, ..piece(runner, selection, batch) };
    written.body = piece.write(std::mem::take(&mut written.body)).await?;
    Ok(())
}

/// Writes rows without relations, batch by batch as they arrive.
async fn plain(runner: Runner<'_>, selection: &Arc<Selection>, reading: Reading<'_>, body: &mut Vec<u8>) -> Result<()> {
    let Reading { rows, turn } = reading;
    let mut batches = match rows.batches {
        Batches::Ready(batches) => stream::iter(batches.into_iter().map(Ok)).left_stream(),
        Batches::Stream(batches) => batches.right_stream(),
    };
    let mut first = true;
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        runner.budget.take_rows(batch.num_rows())?;
        let is_first = first;
        first &= batch.num_rows() == 0;
        let piece = WrittenBatch { first: is_first, ..piece(runner, selection, batch) };
        *body = piece.write(std::mem::take(body)).await?;
    }
    drop(turn);
    Ok(())
}

fn piece(runner: Runner<'_>, selection: &Arc<Selection>, batch: RecordBatch) -> WrittenBatch {
    let (selection, budget) = (Arc::clone(selection), Arc::clone(runner.budget));
    WrittenBatch { selection, batch, joined: Vec::new(), budget, next: 0, first: true }
}

/// Collects the errors of relations that could not be read, each once.
fn failures<'a>(
    selection: &'a Selection,
    joined: &[Result<Joined>],
    path: &mut Vec<&'a str>,
    problems: &mut Vec<Problem>,
) {
    let mut told: AHashMap<&str, ()> = AHashMap::new();
    for (relation, rows) in selection.relations.iter().zip(joined) {
        path.push(&relation.key);
        match rows {
            Ok(rows) => failures(&relation.child.selection, &rows.below, path, problems),
            Err(error) if told.insert(&relation.key, ()).is_none() => problems.push(Problem::at(path, error)),
            Err(_) => {}
        }
        path.pop();
    }
}
