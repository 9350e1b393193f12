//! `GET /api/export/{token}` and `DELETE`: the state of an export, and its end.

use http::{Response, StatusCode};
use salver_formats::Format;
use salver_formats::json::write_string;
use salver_model::Result;

use super::json;
use super::resume;
use crate::app::App;
use crate::body::Body;
use crate::export_state::{ExportToken, Opened};
use crate::request_context::{RequestContext, parameters};

/// Responds with the state of an export, which is JSON. A `format` of rows is passed over, and what is none is refused.
pub(super) async fn answer(
    app: &App,
    context: &RequestContext<'_>,
    text: &str,
    token: &ExportToken,
) -> Result<Response<Body>> {
    let named = parameters(context.query)?.into_iter().find(|(name, _)| name == "format");
    if let Some((_, format)) = named {
        context.choose_or(None, Some(&format), Format::NdJson)?;
    }
    let opened = resume::find(app, context.caller, token).await?;
    Ok(json(StatusCode::OK, write(app, text, token, &opened)))
}

/// Ends an export.
pub(super) fn end(app: &App, token: &ExportToken) -> Result<Response<Body>> {
    app.exports.sessions.end(token);
    let mut response = json(StatusCode::NO_CONTENT, Vec::new());
    response.headers_mut().remove(http::header::CONTENT_TYPE);
    Ok(response)
}

/// Writes an export as JSON.
pub(super) fn write(app: &App, text: &str, token: &ExportToken, opened: &Opened) -> Vec<u8> {
    let description = opened.held.describe();
    let streams = &opened.streams;
    let all: Option<u64> = streams.iter().map(|stream| stream.rows).sum();
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(b"{\"export\":");
    write_string(text, &mut out);
    out.extend_from_slice(b",\"entry\":");
    write_string(description.name.as_str(), &mut out);
    out.extend_from_slice(format!(",\"version\":\"{}\",\"rows\":{}", token.version, rows(all)).as_bytes());
    out.extend_from_slice(format!(",\"expires_in\":{},\"schema\":[", token.ttl_s).as_bytes());
    let schema = opened.held.schema_of(&opened.columns);
    for (index, field) in schema.fields().iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"{\"name\":" } else { b",{\"name\":" });
        write_string(field.name(), &mut out);
        out.extend_from_slice(b",\"type\":");
        write_string(&field.data_type().to_string(), &mut out);
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"streams\":[");
    for (index, stream) in streams.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(format!("{{\"stream\":{index},\"rows\":{},\"url\":", rows(stream.rows)).as_bytes());
        write_string(&format!("{}/api/export/{text}/{index}", app.options.base_path), &mut out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    out
}

fn rows(rows: Option<u64>) -> String {
    rows.map_or_else(|| "null".to_owned(), |rows| rows.to_string())
}
