//! The handlers of functions: calls by name at `/api/functions/{file}/{function}`, the routes that files declare, the
//! list of functions, and asynchronous calls at `/api/jobs`.

mod arguments;
mod asking;
mod callback;
mod describe;
mod jobs;
mod openapi;
mod preference;
mod pure;
mod refusal;
mod respond;
mod standing;

use std::sync::Arc;

use http::{Method, Response};
use salver_model::functions::{Endpoint, Interface};
use salver_model::ports::Functions;
use salver_model::{Code, Error, Result, suggest};

use crate::app::App;
use crate::asked::Mounted;
use crate::body::Body;
use crate::dialect::Refusal;
use crate::exchange::Exchange;
use crate::receive::Incoming;
use crate::routes::functions::Target;

/// Handles a request for a path that is served by user code.
pub(crate) async fn answer_mounted(
    exchange: &Exchange<'_>,
    mounted: Mounted<'_>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    match mounted {
        Mounted::Methods(methods) => refusal::of_method(exchange.method, &methods),
        Mounted::Endpoint(file, interface, index, values) => {
            asking::function(exchange, file, (&interface, index), values, body).await
        }
        Mounted::Application(file, path) => asking::application(exchange, file, path, body).await,
    }
}

/// Handles a request for functions or jobs.
pub(crate) async fn answer(
    exchange: &Exchange<'_>,
    target: Target<'_>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let app = exchange.app;
    match target {
        Target::List => Ok(describe::all(app)),
        Target::Openapi => Ok(openapi::answer(app)),
        Target::One(name) => Ok(describe::one(file(app, &name)?)),
        Target::Named(name, function) => {
            let file = file(app, &name)?;
            let interface = file.interface()?;
            let (index, endpoint) = named(&interface, &name, &function)?;
            if *exchange.method != Method::POST && !endpoint.pure {
                return refusal::of_method(exchange.method, "POST, OPTIONS");
            }
            asking::function(exchange, file, (&interface, index), Vec::new(), body).await
        }
        Target::Job(id) => Ok(jobs::show(exchange, &id).await?),
        Target::EndJob(id) => Ok(jobs::end(exchange, &id)?),
        Target::Result(id) => Ok(jobs::result(exchange, &id).await?),
    }
}

/// Returns the file called `name`.
fn file<'a>(app: &'a App, name: &str) -> Result<&'a Arc<dyn Functions>> {
    let files = app.service.functions();
    files.iter().find(|file| file.spec().name.as_str() == name).ok_or_else(|| {
        let names = files.iter().map(|file| file.spec().name.as_str());
        Error::new(Code::NotFound, format!("there is no file of functions called `{name}`"))
            .with_hint("`/api/functions` lists them")
            .with_hint_if(suggest::hint(name, names))
    })
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
