//! The handlers of functions: calls by name at `/api/functions/{file}/{function}`, the routes that files declare, the
//! list of functions, and asynchronous calls at `/api/jobs`.

mod answered_rows;
mod argument_values;
mod arguments;
mod callback;
mod describe;
mod invocation;
mod job_state;
mod jobs;
mod multipart;
mod openapi;
mod preference;
mod pure_cache;
mod refusal;
mod respond;

use std::sync::Arc;

use http::{Method, Response};
use salver_model::functions::{Endpoint, Interface};
use salver_model::{Code, Error, Result, suggest};
use salver_service::FunctionFile;

pub(crate) use self::openapi::describe;
use crate::body::Body;
use crate::dialect::Refusal;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::routes::declared::{DeclaredMatch, DeclaredTarget};
use crate::routes::functions::FunctionsTarget;
use crate::routes::{self, Found, RouteTarget};

/// Handles a request for a route that a file declares, or a path of its application.
///
/// # Errors
/// `EntryUnavailable` while the file is not loaded, so that its routes are not known.
pub(crate) async fn answer_declared(
    context: &RequestContext<'_>,
    declared: DeclaredMatch,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let target = declared.target();
    let file = target.file().and_then(|index| context.app.service.functions().get(index));
    let Some(file) = file else { return Err(unloaded(declared.entry()).into()) };
    file.check(context.caller)?;
    match target {
        DeclaredTarget::Endpoint(index, endpoint) => {
            let interface = declared.interface(index).ok_or_else(|| unloaded(declared.entry()))?;
            let interface = Arc::clone(interface);
            invocation::function(context, file, (&interface, endpoint), declared.values, body).await
        }
        DeclaredTarget::Application(index, _) => {
            let path = declared.below(index, context.path).to_owned();
            invocation::application(context, file, path, body).await
        }
        DeclaredTarget::Stream | DeclaredTarget::Unloaded(_) => {
            Err(file.interface().err().unwrap_or_else(|| unloaded(declared.entry())).into())
        }
    }
}

fn unloaded(name: &str) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{name}` is being loaded")).with_hint("try again in a moment")
}

/// Handles a request for functions or jobs.
pub(crate) async fn answer(
    context: &RequestContext<'_>,
    target: FunctionsTarget<'_>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    match target {
        FunctionsTarget::List => Ok(describe::all(context)),
        FunctionsTarget::Openapi => Ok(openapi::answer(context)),
        FunctionsTarget::One(name) => Ok(describe::one(file(context, &name)?)),
        FunctionsTarget::Named(name, function) => {
            let file = file(context, &name)?;
            let interface = file.interface()?;
            let (index, endpoint) = named(&interface, &name, &function)?;
            if *context.method != Method::POST && !endpoint.pure {
                return Err(Refusal::of_method(context.method, "POST, OPTIONS"));
            }
            invocation::function(context, file, (&interface, index), Vec::new(), body).await
        }
        FunctionsTarget::Job(id) => Ok(jobs::show(context, &id).await?),
        FunctionsTarget::EndJob(id) => Ok(jobs::end(context, &id)?),
        FunctionsTarget::Result(id) => Ok(jobs::result(context, &id).await?),
    }
}

/// Returns whether the path is that of a function that the caller may call, and that is not pure, so that it is called
/// by POST only.
pub(crate) fn is_called_only(context: &RequestContext<'_>) -> bool {
    let found = routes::find(&Method::POST, context.path, "");
    let Found::Row(_, RouteTarget::Functions(FunctionsTarget::Named(name, function))) = found else { return false };
    let Ok(interface) = file(context, &name).and_then(FunctionFile::interface) else { return false };
    named(&interface, &name, &function).is_ok_and(|(_, endpoint)| !endpoint.pure)
}

/// Returns the file called `name`.
///
/// # Errors
/// `NotFound`, `Forbidden`.
fn file<'a>(context: &RequestContext<'a>, name: &str) -> Result<&'a FunctionFile> {
    let found = context.app.service.function_file(name);
    match found.map(|file| file.check(context.caller).map(|()| file)) {
        Some(Err(error)) if error.code != Code::NotFound => Err(error),
        Some(Ok(file)) => Ok(file),
        _ => {
            let names = callable(context).map(|file| file.spec().name.as_str());
            Err(Error::new(Code::NotFound, format!("there is no file of functions called `{name}`"))
                .with_hint("`/api/functions` lists them")
                .with_hint_if(suggest::hint(name, names.collect::<Vec<_>>())))
        }
    }
}

/// Returns whether there are files whose functions the caller may call.
pub(crate) fn are_there_for(context: &RequestContext<'_>) -> bool {
    callable(context).next().is_some()
}

/// Returns the files whose functions the caller may call.
fn callable<'a>(context: &RequestContext<'a>) -> impl Iterator<Item = &'a FunctionFile> {
    let caller = context.caller;
    context.app.service.functions().iter().filter(move |file| file.check(caller).is_ok())
}

/// Returns the index of a file's function, and the function.
fn named<'i>(interface: &'i Interface, file: &str, function: &str) -> Result<(usize, &'i Endpoint)> {
    if interface.application {
        return Err(Error::new(Code::NotFound, format!("`{file}` is an application, whose functions have no names"))
            .with_hint("ask for one of its own paths"));
    }
    let mut endpoints = interface.endpoints.iter().enumerate();
    endpoints.find(|(_, endpoint)| endpoint.function == function).ok_or_else(|| {
        let names = interface.endpoints.iter().map(|endpoint| endpoint.function.as_str());
        Error::new(Code::NotFound, format!("`{file}` has no function `{function}`"))
            .with_hint(format!("`/api/functions/{file}` lists what it has"))
            .with_hint_if(suggest::hint(function, names))
    })
}
