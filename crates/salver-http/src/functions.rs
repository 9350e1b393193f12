//! The doors of functions: calls by name at `/api/functions/{file}/{function}`, the routes that files declare, what
//! there is to call, and calls whose caller does not wait, at `/api/jobs`.

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

use std::sync::Arc;

use http::request::Parts;
use http::{Method, Response};
use salver_model::functions::{Endpoint, Interface};
use salver_model::ports::Functions;
use salver_model::{Caller, Code, Error, Result, suggest};

use self::asking::Asking;
use crate::app::App;
use crate::body::Body;
use crate::functions_state::Found;
use crate::receive::Incoming;
use crate::segment::segment;

/// What of the doors a request is for.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    /// `/api/functions`: what there is.
    List,
    /// `/api/functions.openapi.json`
    Openapi,
    /// `/api/functions/{file}`: what a file has.
    One(String),
    /// `/api/functions/{file}/{function}`
    Named(String, String),
    /// `/api/jobs/{id}`, and whether its result is meant.
    Job(String, bool),
    /// An endpoint that stands at this path, in what its file offers, and what the path says.
    Endpoint(&'a Arc<dyn Functions>, Arc<Interface>, usize, Vec<(String, String)>),
    /// An application, and the path below where it is mounted.
    Application(&'a Arc<dyn Functions>, String),
    /// There is an endpoint at this path, but not for the method; those it has.
    Methods(String),
}

impl<'a> Target<'a> {
    /// What `path`, below the server's base path, is for; `None` when it is nothing of these doors.
    pub(crate) fn of(app: &'a App, method: &Method, path: &str) -> Option<Self> {
        if app.service.functions().is_empty() {
            return None;
        }
        match path.strip_prefix("/api/") {
            Some("functions" | "functions/") => return Some(Self::List),
            Some("functions.openapi.json") => return Some(Self::Openapi),
            Some(rest) => {
                if let Some(rest) = rest.strip_prefix("jobs/") {
                    let (id, is_for_result) = match rest.strip_suffix("/result") {
                        Some(id) => (id, true),
                        None => (rest, false),
                    };
                    return Some(Self::Job(segment(id), is_for_result));
                }
                if let Some(rest) = rest.strip_prefix("functions/") {
                    return Some(match rest.split_once('/') {
                        None => Self::One(segment(rest)),
                        Some((file, function)) => Self::Named(segment(file), segment(function)),
                    });
                }
            }
            None => {}
        }
        Self::mounted(app, method, path)
    }

    /// What user code has at `path`: an endpoint that is declared, else the application that is mounted nearest.
    fn mounted(app: &'a App, method: &Method, path: &str) -> Option<Self> {
        let (mut methods, mut application) = (None, None);
        for (index, file) in app.service.functions().iter().enumerate() {
            let mount = file.spec().path.as_str();
            let Some(below) = path.strip_prefix(mount).filter(|below| below.is_empty() || below.starts_with('/'))
            else {
                continue;
            };
            let Ok(interface) = file.interface() else { continue };
            let known = app.functions.routes(index, &interface);
            match known.routes.find(method.as_str(), below) {
                Found::Endpoint(..) | Found::Methods(_) if interface.application => {
                    return Some(Self::Application(file, or_root(below)));
                }
                Found::Endpoint(endpoint, values) => return Some(Self::Endpoint(file, interface, endpoint, values)),
                Found::Methods(found) => methods = methods.or(Some(found)),
                Found::Nothing => {}
            }
            let nearer = |other: &(&Arc<dyn Functions>, String)| other.0.spec().path.len() < mount.len();
            if interface.application && application.as_ref().is_none_or(nearer) {
                application = Some((file, or_root(below)));
            }
        }
        // What the server has itself is not an application's to refuse.
        let own = ["/", "/health", "/ready", ""].contains(&path) || path.starts_with("/api/");
        methods.map(Self::Methods).or_else(|| {
            let (file, below) = application.filter(|_| !own)?;
            Some(Self::Application(file, below))
        })
    }
}

fn or_root(below: &str) -> String {
    if below.is_empty() { "/".to_owned() } else { below.to_owned() }
}

/// Answers a request that is for `target`.
pub(crate) async fn answer(
    app: &Arc<App>,
    head: &Parts,
    body: Incoming,
    target: Target<'_>,
    caller: Caller,
) -> Result<Response<Body>> {
    let method = &head.method;
    let reads = *method == Method::GET || *method == Method::HEAD;
    let asking = Asking { app, head, caller };
    match target {
        Target::List if reads => Ok(describe::all(app)),
        Target::Openapi if reads => Ok(openapi::answer(app)),
        Target::One(name) if reads => Ok(describe::one(file(app, &name)?)),
        Target::List | Target::Openapi | Target::One(_) => Ok(refusal::of_method(app, method, "GET, HEAD, OPTIONS")),
        Target::Methods(methods) => Ok(refusal::of_method(app, method, &methods)),
        Target::Named(name, function) => {
            let file = file(app, &name)?;
            let interface = file.interface()?;
            let (index, endpoint) = named(&interface, &name, &function)?;
            if *method == Method::POST || endpoint.pure && reads {
                return asking.function(file, &interface, index, Vec::new(), body).await;
            }
            let methods = if endpoint.pure { "GET, HEAD, POST, OPTIONS" } else { "POST, OPTIONS" };
            Ok(refusal::of_method(app, method, methods))
        }
        Target::Endpoint(file, interface, index, values) => {
            asking.function(file, &interface, index, values, body).await
        }
        Target::Job(id, is_for_result) => jobs::answer(asking, &id, is_for_result).await,
        Target::Application(file, path) => asking.application(file, path, body).await,
    }
}

/// The file called `name`.
fn file<'a>(app: &'a App, name: &str) -> Result<&'a Arc<dyn Functions>> {
    let files = app.service.functions();
    files.iter().find(|file| file.spec().name.as_str() == name).ok_or_else(|| {
        let names = files.iter().map(|file| file.spec().name.as_str());
        Error::new(Code::NotFound, format!("there is no file of functions called `{name}`"))
            .with_hint("`/api/functions` lists them")
            .with_hint_if(suggest::hint(name, names))
    })
}

/// The function of a file, and its number.
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
