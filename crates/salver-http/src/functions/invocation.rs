//! Dispatches a request to a function or an application, and returns the response.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, Response, header};
use salver_formats::receive_arrow_stream;
use salver_model::functions::{Call, Interface};
use salver_model::{Code, Error, Result};
use salver_service::FunctionFile;

use super::answered_rows::RowBound;
use super::arguments::Arguments;
use super::preference::Preference;
use super::{arguments, jobs, pure_cache, respond};
use crate::app::App;
use crate::body::{Body, off_the_loop};
use crate::dialect::Refusal;
use crate::receive;
use crate::receive::Incoming;
use crate::request_context::{RequestContext, header_fields};

/// The headers about the format of the body and the response, which are not the function's concern.
const OF_FORM: [HeaderName; 2] = [header::ACCEPT, header::CONTENT_TYPE];

/// Calls the function with this index in `file`. `values` are the parameters of the path.
pub(super) async fn function(
    context: &RequestContext<'_>,
    file: &FunctionFile,
    (interface, index): (&Arc<Interface>, usize),
    values: Vec<(String, String)>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let endpoint = interface.endpoints.get(index).ok_or_else(|| moved(file))?;
    let headers = context.headers;
    // Who sees the request itself sees the body as it was sent.
    let body = match endpoint.takes_request {
        true => receive::read_as_sent(context.app, headers, body).await?,
        false => receive::read_body(context.app, headers, body).await?,
    };
    let Arguments { named, body: rest, table } = arguments::read(endpoint, values, context.query, headers, &body)?;
    let (body, rest) = match &table {
        Some(name) => {
            let taken = take_table(context.app, name, body).await?;
            (taken.clone(), taken)
        }
        None => (body, rest),
    };
    let seen = if endpoint.takes_request {
        let path = format!("{}{}", context.app.options.base_path, context.path);
        Call { body, ..whole(context, path) }
    } else {
        Call { headers: header_fields(headers, |name| OF_FORM.contains(name)), body: rest, ..Call::default() }
    };
    let interface = Some(Arc::clone(interface));
    let call = Call { endpoint: Some(index), interface, arguments: named, table, ..seen };
    let (preference, rows) = (Preference::of(headers), RowBound::of(context, endpoint));
    if preference.is_async {
        let function = format!("{}/{}", file.spec().name, endpoint.function);
        return Ok(jobs::open(context, (file, function), (call, rows), preference).await?);
    }
    Ok(rows.check(pure_cache::answer(context, file, call).await?)?)
}

/// Decodes the table in the body and encodes it again, since the callee trusts its content.
async fn take_table(app: &App, name: &str, body: Bytes) -> Result<Bytes> {
    let bytes_max = app.service.limits().body_bytes_max;
    let taken = off_the_loop(move || receive_arrow_stream(&body, bytes_max)).await;
    taken.map(Bytes::from).map_err(|mut error| {
        error.message = format!("the body is not right for `{name}`: {}", error.message);
        error
    })
}

/// Forwards the request to an application, under `path`.
pub(super) async fn application(
    context: &RequestContext<'_>,
    file: &FunctionFile,
    path: String,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let body = receive::read_as_sent(context.app, context.headers, body).await?;
    let call = Call { body, ..whole(context, path) };
    let preference = Preference::of(context.headers);
    if preference.is_async {
        let name = file.spec().name.to_string();
        return Ok(jobs::open(context, (file, name), (call, RowBound::NONE), preference).await?);
    }
    respond::ask(context, file, call).await
}

/// Returns the request as the callee sees it, without the body.
fn whole(context: &RequestContext<'_>, path: String) -> Call {
    Call {
        method: context.method.as_str().to_owned(),
        path,
        query: context.query.to_owned(),
        headers: header_fields(context.headers, |_| true),
        address: context.caller.address.map(|address| address.to_string()),
        ..Call::default()
    }
}

/// The error when the file was reloaded since the request arrived.
fn moved(file: &FunctionFile) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{}` has just changed", file.spec().name)).with_hint("ask again")
}
