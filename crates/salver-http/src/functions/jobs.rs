//! `/api/jobs/{id}`: the state and the results of asynchronous calls.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::SystemTime;

use futures::future::maybe_done;
use futures::{FutureExt, poll};
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use salver_model::functions::{Answer, AnswerBody, Call};
use salver_model::{Caller, Code, Error, Result};
use salver_service::{FunctionFile, trace};
use tokio::time::timeout;

use super::answered_rows::RowBound;
use super::job_state::{document, state};
use super::preference::Preference;
use super::{callback, pure_cache, refusal, respond};
use crate::app::App;
use crate::body::Body;
use crate::dialect::Dialect;
use crate::exit;
use crate::functions_state::{Job, JobOutcome};
use crate::idempotency::Kept;
use crate::refuse::refuse;
use crate::request_context::RequestContext;
use crate::status::json_response;

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Creates a job for `call` and responds with its location, or with its result if it is done while the client waits.
pub(super) async fn open(
    context: &RequestContext<'_>,
    (file, function): (&FunctionFile, String),
    (call, rows): (Call, RowBound),
    preference: Preference,
) -> Result<Response<Body>> {
    let app = context.app;
    let callback = callback::of(app, context.headers)?;
    let job = app.jobs.open(function, context.caller, callback, call.arguments.len() + call.body.len())?;
    let call = Call { job: Some(Arc::clone(&job.begun)), ..call };
    let work = work((Arc::clone(app), context.caller.clone()), file.clone(), (call, rows), Arc::clone(&job));
    let mut work = Box::pin(maybe_done(trace::carried(work)));
    // Polled once to join the queue: tasks start in any order, but jobs run in the order of their requests.
    let _ = poll!(work.as_mut());
    job.is_done_by(tokio::spawn(work).abort_handle());
    // A client that does not wait gets the job, even if its result is known already.
    if !preference.wait.is_zero()
        && let Some(outcome) = wait(&job, preference).await
    {
        return Ok(outcome.answer.answer());
    }
    let mut response = json_response(&document(app, &job));
    *response.status_mut() = StatusCode::ACCEPTED;
    let headers = response.headers_mut();
    headers.insert(PREFERENCE_APPLIED, HeaderValue::from_static("respond-async"));
    headers.insert(header::LOCATION, location(app, &job)?);
    Ok(response)
}

/// Responds with the state of the job `id`.
pub(super) async fn show(context: &RequestContext<'_>, id: &str) -> Result<Response<Body>> {
    let job = context.app.jobs.find(id, context.caller)?;
    wait(&job, Preference::of(context.headers)).await;
    Ok(json_response(&document(context.app, &job)))
}

/// Deletes the job `id`, and aborts it if it is running.
pub(super) fn end(context: &RequestContext<'_>, id: &str) -> Result<Response<Body>> {
    let job = context.app.jobs.find(id, context.caller)?;
    context.app.jobs.remove(&job);
    Ok(exit::empty(StatusCode::NO_CONTENT))
}

/// Responds with the result of the job `id`.
pub(super) async fn result(context: &RequestContext<'_>, id: &str) -> Result<Response<Body>> {
    let job = context.app.jobs.find(id, context.caller)?;
    let outcome = wait(&job, Preference::of(context.headers)).await.ok_or_else(|| {
        Error::new(Code::NotFound, format!("the job is {} and has no result yet", state(&job)))
            .with_hint("ask for the job until it is done; `Prefer: wait=10` waits so many seconds for that")
    })?;
    Ok(outcome.answer.answer())
}

/// Returns the outcome of the job, if it is known within the time that the client waits.
async fn wait(job: &Job, preference: Preference) -> Option<&JobOutcome> {
    match job.outcome.get() {
        None if !preference.wait.is_zero() => timeout(preference.wait, job.outcome.wait()).await.ok(),
        outcome => outcome,
    }
}

/// Runs a job to its end, including the callback.
async fn work((app, caller): (Arc<App>, Caller), file: FunctionFile, (call, rows): (Call, RowBound), job: Arc<Job>) {
    let broken = |_| Err(Error::internal("the server failed while it ran the job"));
    let answered = AssertUnwindSafe(answered(&app, &caller, &file, call)).catch_unwind().await.unwrap_or_else(broken);
    let answered = answered.and_then(|response| rows.check(response));
    let is_failure = answered.is_err();
    let response = answered.unwrap_or_else(|error| refuse(&app, Dialect::Salver, refusal::of_call(error)));
    let Some(answer) = Kept::of(&response) else { return };
    app.jobs.finish(&job, JobOutcome { at: SystemTime::now(), is_failure, answer });
    callback::tell(&app, &job).await;
}

/// Calls the function and buffers its response; for a pure function a cached response is used.
async fn answered(app: &Arc<App>, caller: &Caller, file: &FunctionFile, call: Call) -> Result<Response<Body>> {
    let key = pure_cache::key(file.spec(), &call);
    if let Some(kept) = key.as_deref().and_then(|key| pure_cache::kept(app, key)) {
        return Ok(kept);
    }
    let answer = file.call(caller, call).await?;
    let body = respond::whole(answer.body, app.service.limits().job_bytes_max).await?;
    let response = respond::answer(app, Answer { body: AnswerBody::Whole(body), ..answer })?;
    Ok(match key {
        Some(key) => pure_cache::keep(app, &key, response),
        None => response,
    })
}

fn location(app: &App, job: &Job) -> Result<HeaderValue> {
    HeaderValue::from_str(&format!("{}/api/jobs/{}", app.options.base_path, job.id))
        .map_err(|cause| Error::internal("the base path can't stand in a header").with_source(cause))
}
