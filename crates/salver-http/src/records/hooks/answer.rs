//! Calls a function before or after a request, with the values that it has parameters for.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::BodyExt;
use salver_model::functions::{self, AnswerBody, Endpoint, Interface};
use salver_model::limits::CUSTOMIZED_BYTES_MAX;
use salver_model::spec::FunctionPath;
use salver_model::{Code, Error, Result};
use salver_service::FunctionFile;

use crate::body::Body;
use crate::exit;
use crate::functions_state::takes_any;
use crate::records::databases::path;
use crate::request_context::RequestContext;
use crate::request_context::header_fields;

/// The result of a function.
#[derive(Debug)]
pub(super) enum Said {
    /// A response of its own, with a status other than 200.
    Refused(Response<Body>),
    /// The requested changes, as JSON.
    Told(Bytes),
}

/// Calls `function` with `values`, which are pairs of a name and JSON.
///
/// # Errors
/// `EntryUnavailable` while the function does not exist, `FunctionFailed` for a streamed body, and errors of the call.
pub(super) async fn ask(
    context: &RequestContext<'_>,
    function: &FunctionPath,
    values: &[(&str, String)],
    body: &Bytes,
) -> Result<Said> {
    let file = file(context, function)?;
    let interface = file.interface()?;
    let (index, endpoint) = endpoint(&interface, function)?;
    let asked = functions::Call {
        endpoint: Some(index),
        interface: Some(Arc::clone(&interface)),
        method: context.method.as_str().to_owned(),
        path: path(context).to_owned(),
        query: context.query.to_owned(),
        // Only functions that take the request see its headers.
        headers: if endpoint.takes_request { header_fields(context.headers, |_| true) } else { Vec::new() },
        arguments: arguments(endpoint, function, values)?,
        body: body.clone(),
        address: context.caller.address.map(|address| address.to_string()),
        ..functions::Call::default()
    };
    let answer = file.hook(context.caller, asked).await?;
    let AnswerBody::Whole(bytes) = answer.body else {
        return Err(Error::new(Code::FunctionFailed, format!("`{function}` answers a file or a stream"))
            .with_hint("it answers nothing or an object"));
    };
    let status = StatusCode::from_u16(answer.status).map_err(|error| {
        Error::new(Code::FunctionFailed, format!("`{function}` answers no status")).with_source(error)
    })?;
    if status == StatusCode::OK {
        return Ok(Said::Told(bytes));
    }
    let mut response = exit::reply(status, Body::Full(bytes));
    for (name, value) in &answer.headers {
        let parsed = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_bytes(value.as_bytes()).ok());
        if let Some((name, value)) = parsed.filter(|(name, _)| *name != header::CONTENT_LENGTH) {
            response.headers_mut().append(name, value);
        }
    }
    Ok(Said::Refused(response))
}

fn file<'a>(context: &RequestContext<'a>, function: &FunctionPath) -> Result<&'a FunctionFile> {
    context.app.service.function_file(function.file.as_str()).ok_or_else(|| {
        Error::new(Code::EntryUnavailable, format!("the functions of `{}` are not there", function.file))
            .with_hint("the log of the server has the reason")
    })
}

fn endpoint<'i>(interface: &'i Interface, function: &FunctionPath) -> Result<(usize, &'i Endpoint)> {
    let mut endpoints = interface.endpoints.iter().enumerate();
    endpoints.find(|(_, own)| !interface.application && own.function == function.function).ok_or_else(|| {
        let FunctionPath { file, function } = function;
        Error::new(Code::EntryUnavailable, format!("`{file}` has no function `{function}`"))
            .with_hint(format!("`/api/functions/{file}` lists what it has"))
    })
}

/// Returns the values that `endpoint` has parameters for, as a JSON object.
fn arguments(endpoint: &Endpoint, function: &FunctionPath, values: &[(&str, String)]) -> Result<Bytes> {
    let all = endpoint.parameters.iter().any(takes_any);
    let known = |name: &str| values.iter().any(|(own, _)| *own == name);
    let missing = endpoint.parameters.iter().find(|own| own.required && !takes_any(own) && !known(&own.name));
    if let Some(missing) = missing {
        let names: Vec<String> = values.iter().map(|(name, _)| format!("`{name}`")).collect();
        return Err(Error::new(Code::FunctionFailed, format!("`{function}` wants `{}`", missing.name))
            .with_hint(format!("it can have {}", names.join(", "))));
    }
    let wanted = values.iter().filter(|(name, _)| all || endpoint.parameters.iter().any(|own| own.name == *name));
    let members: Vec<String> = wanted.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    Ok(format!("{{{}}}", members.join(",")).into())
}

/// Buffers a body.
///
/// # Errors
/// `AnswerTooLarge`, also for a body that broke off.
pub(super) async fn collected(mut body: Body) -> Result<Vec<u8>> {
    let too_large = || {
        let message = format!("the answer broke off, or has more than {CUSTOMIZED_BYTES_MAX} bytes");
        Error::new(Code::AnswerTooLarge, message).with_hint("ask for less: `size` and `include`")
    };
    let mut whole = match body {
        Body::Full(bytes) => return Ok(bytes.into()),
        Body::Stream(_) => Vec::new(),
    };
    // Each piece is copied: its producer waits until a client has dropped the pieces before.
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| too_large().with_source(error))?;
        whole.extend_from_slice(frame.data_ref().map_or(&[], |piece| &piece[..]));
        if whole.len() > CUSTOMIZED_BYTES_MAX {
            return Err(too_large());
        }
    }
    Ok(whole)
}
