//! Paths that user code serves: endpoints that files declare, and mounted applications.

use std::sync::Arc;

use http::Method;
use salver_model::functions::Interface;
use salver_service::FunctionFile;

use crate::app::App;
use crate::functions_state::Found;

/// A path that user code serves.
#[derive(Debug)]
pub(crate) enum Mounted<'a> {
    /// An endpoint: its functions, their interface, its index in that interface, and the parameters of the path.
    Endpoint(&'a FunctionFile, Arc<Interface>, usize, Vec<(String, String)>),
    /// An application, and the path relative to its mount point.
    Application(&'a FunctionFile, String),
    /// An endpoint that exists, but not for the method; the methods that it has.
    Methods(String),
}

impl<'a> Mounted<'a> {
    /// Returns the name of the file; `None` where several may be meant.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Endpoint(file, ..) | Self::Application(file, _) => Some(file.spec().name.as_str()),
            Self::Methods(_) => None,
        }
    }

    /// Returns what serves `path`: a declared endpoint, else the application with the nearest mount point.
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
            let nearer = |other: &(&FunctionFile, String)| other.0.spec().path.len() < mount.len();
            if interface.application && application.as_ref().is_none_or(nearer) {
                application = Some((file, or_root(below)));
            }
        }
        // An application can't refuse requests for the server's own paths.
        let own = ["/", "/health", "/ready", "/metrics", ""].contains(&path) || path.starts_with("/api/");
        methods.map(Self::Methods).or_else(|| {
            let (file, below) = application.filter(|_| !own)?;
            Some(Self::Application(file, below))
        })
    }
}

fn or_root(below: &str) -> String {
    if below.is_empty() { "/".to_owned() } else { below.to_owned() }
}
