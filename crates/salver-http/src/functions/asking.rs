//! A request that asks for a call: which call it is, and how it is answered.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, Response, header};
use salver_formats::receive_arrow_stream;
use salver_model::functions::{Call, Interface};
use salver_model::ports::Functions;
use salver_model::{Caller, Code, Error, Result};

use super::arguments::Arguments;
use super::preference::Preference;
use super::{arguments, jobs, pure, refusal, respond};
use crate::app::App;
use crate::body::{Body, off_the_loop};
use crate::exchange::header_fields;
use crate::receive;
use crate::receive::Incoming;

/// What says in which form a body is and an answer is to be, which is not for the function to see to.
const OF_FORM: [HeaderName; 2] = [header::ACCEPT, header::CONTENT_TYPE];

/// A request that asks for a call.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    /// The server's side.
    pub(super) app: &'a Arc<App>,
    /// The request.
    pub(super) head: &'a Parts,
    /// Who asks.
    pub(super) caller: Caller,
}

impl Asking<'_> {
    /// Calls the function that is number `index` of what `file` offers. `values` is what the path says.
    pub(super) async fn function(
        self,
        file: &Arc<dyn Functions>,
        interface: &Arc<Interface>,
        index: usize,
        values: Vec<(String, String)>,
        body: Incoming,
    ) -> Result<Response<Body>> {
        let endpoint = interface.endpoints.get(index).ok_or_else(|| moved(file))?;
        let headers = &self.head.headers;
        let body = receive::whole(self.app, headers, body).await?;
        let query = self.head.uri.query().unwrap_or_default();
        let Arguments { named, body: rest, table } = arguments::read(endpoint, values, query, headers, &body)?;
        let (body, rest) = match &table {
            Some(name) => {
                let taken = self.take_table(name, body).await?;
                (taken.clone(), taken)
            }
            None => (body, rest),
        };
        let seen = if endpoint.takes_request {
            Call { body, ..self.whole(self.head.uri.path().to_owned()) }
        } else {
            Call {
                headers: header_fields(headers, |name| OF_FORM.contains(name)),
                body: rest,
                holder: Some(self.caller.holder()),
                ..Call::default()
            }
        };
        let interface = Some(Arc::clone(interface));
        let call = Call { endpoint: Some(index), interface, arguments: named, table, ..seen };
        let preference = Preference::of(headers);
        if preference.is_async {
            let function = format!("{}/{}", file.spec().name, endpoint.function);
            return jobs::open(self, file, function, call, preference).await;
        }
        Ok(pure::answer(self.app, self.head, file, call).await)
    }

    /// The table that the body is, written anew: whoever calls the function believes it.
    async fn take_table(&self, name: &str, body: Bytes) -> Result<Bytes> {
        let bytes_max = self.app.service.limits().body_bytes_max;
        let taken = off_the_loop(move || receive_arrow_stream(&body, bytes_max)).await;
        taken.map(Bytes::from).map_err(|mut error| {
            error.message = format!("the body is not right for `{name}`: {}", error.message);
            error
        })
    }

    /// Hands the request to an application, as one for `path`.
    pub(super) async fn application(
        self,
        file: &Arc<dyn Functions>,
        path: String,
        body: Incoming,
    ) -> Result<Response<Body>> {
        let body = receive::whole(self.app, &self.head.headers, body).await?;
        let call = Call { body, ..self.whole(path) };
        let preference = Preference::of(&self.head.headers);
        if preference.is_async {
            return jobs::open(self, file, file.spec().name.to_string(), call, preference).await;
        }
        Ok(ask(self.app, file, call).await)
    }

    /// The request as whoever sees it gets it, but for its body.
    fn whole(&self, path: String) -> Call {
        Call {
            method: self.head.method.as_str().to_owned(),
            path,
            query: self.head.uri.query().unwrap_or_default().to_owned(),
            headers: header_fields(&self.head.headers, |_| true),
            address: self.caller.address.map(|address| address.to_string()),
            holder: Some(self.caller.holder()),
            ..Call::default()
        }
    }
}

/// What `file` answers.
pub(super) async fn ask(app: &Arc<App>, file: &Arc<dyn Functions>, call: Call) -> Response<Body> {
    let answered = file.call(call).await.and_then(|answer| respond::answer(app, answer));
    answered.unwrap_or_else(|error| refusal::of_error(app, &error))
}

/// The file was loaded anew since the request came in.
fn moved(file: &Arc<dyn Functions>) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{}` has just changed", file.spec().name)).with_hint("ask again")
}
