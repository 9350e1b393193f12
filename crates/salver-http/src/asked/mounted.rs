//! What user code has at paths of its own: endpoints that files declare, and applications that are mounted.

use std::sync::Arc;

use http::Method;
use salver_model::functions::Interface;
use salver_model::ports::Functions;

use crate::app::App;
use crate::functions_state::Found;

/// What user code has at a path of its own.
#[derive(Debug)]
pub(crate) enum Mounted<'a> {
    /// An endpoint, in what its file offers, and what the path says.
    Endpoint(&'a Arc<dyn Functions>, Arc<Interface>, usize, Vec<(String, String)>),
    /// An application, and the path below where it is mounted.
    Application(&'a Arc<dyn Functions>, String),
    /// There is an endpoint at this path, but not for the method; those it has.
    Methods(String),
}

impl<'a> Mounted<'a> {
    /// What user code has at `path`: an endpoint that is declared, else the application that is mounted nearest.
    pub(crate) fn at(app: &'a App, method: &Method, path: &str) -> Option<Self> {
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
