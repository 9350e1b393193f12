//! `PUT` and `DELETE /api/queries/{name}`: a named query is saved as the text of a file of SQL, or removed, where the
//! server was started with `--edit`.

use http::{HeaderMap, Method, Response, StatusCode, header};
use salver_formats::Format;
use salver_model::limits::QUERY_TEXT_BYTES_MAX;
use salver_model::ports::{EditCondition, QueryEditor};
use salver_model::{Code, Error, Result, Version};

use crate::body::Body;
use crate::dialect::Refusal;
use crate::request_context::RequestContext;
use crate::status::json_response;
use crate::{conditional, exit, header_lines, queries};

/// Methods of a query that no request changes.
const READS: &str = "GET, HEAD, OPTIONS";

/// Saves or removes the query called `name`.
pub(crate) async fn answer(context: &RequestContext<'_>, name: &str) -> Result<Response<Body>, Refusal> {
    let Some(editor) = &context.app.options.query_editor else {
        let error = Error::new(Code::MethodNotAllowed, "named queries are not changed by requests here")
            .with_hint("`salver serve --edit` permits it; else write NAME.sql into the folder `server.queries`");
        return Err(Refusal::from(error).with_header(header::ALLOW, READS));
    };
    context.app.service.check_query_edit(context.caller, name)?;
    let condition = condition(context.headers)?;
    let changed = match *context.method {
        Method::PUT => save(context, &**editor, name, condition).await,
        _ => remove(&**editor, name, condition).await,
    };
    changed.map_err(|error| match error.code {
        Code::Unsupported => Refusal::from(error).with_header(header::ALLOW, READS),
        _ => error.into(),
    })
}

async fn save(
    context: &RequestContext<'_>,
    editor: &dyn QueryEditor,
    name: &str,
    condition: EditCondition,
) -> Result<Response<Body>> {
    if let Some((_, suffix)) = name.rsplit_once('.')
        && Format::of_suffix(suffix).is_some()
    {
        let message = format!("`{name}` can't be the name of a query: `.{suffix}` chooses the format of its rows");
        return Err(Error::new(Code::InvalidName, message).with_hint("leave the suffix out"));
    }
    let spec = editor.read(name, text(context)?)?;
    let description = context.app.service.plan_query(context.caller, &spec).await?;
    let shown = queries::described(&spec, &description);
    let tag = conditional::etag(spec.text_version());
    let is_new = editor.save(spec, condition).await?;
    let mut response = json_response(&shown);
    if is_new {
        *response.status_mut() = StatusCode::CREATED;
    }
    response.headers_mut().insert(header::ETAG, tag);
    Ok(response)
}

async fn remove(editor: &dyn QueryEditor, name: &str, condition: EditCondition) -> Result<Response<Body>> {
    let absent = |error: Error| match error.code {
        // What can't be a name is none of a query.
        Code::InvalidName => Error::new(Code::NotFound, format!("no query `{name}`")),
        _ => error,
    };
    let own = salver_model::Name::new(name).map_err(absent)?;
    editor.remove(own, condition).await?;
    Ok(exit::empty(StatusCode::NO_CONTENT))
}

/// Returns the text in the body.
fn text<'b>(context: &'b RequestContext<'_>) -> Result<&'b str> {
    let media_type = context.header(header::CONTENT_TYPE).unwrap_or_default().split(';').next().unwrap_or_default();
    if media_type.trim().eq_ignore_ascii_case("application/json") {
        return Err(Error::new(Code::UnsupportedMediaType, "a query is saved as SQL, and not as JSON")
            .with_hint("send the text of the file, as `application/sql` or `text/plain`"));
    }
    if context.body.len() > QUERY_TEXT_BYTES_MAX {
        let message = format!("the query has more than {QUERY_TEXT_BYTES_MAX} bytes");
        return Err(Error::new(Code::BodyTooLarge, message).with_hint("write it as a [[view]] and a shorter query"));
    }
    let text = std::str::from_utf8(&context.body)
        .map_err(|error| Error::new(Code::InvalidBody, "the query is not UTF-8 text").with_source(error))?;
    if text.trim().is_empty() {
        return Err(Error::new(Code::InvalidSql, "there is no statement").with_hint("send it as the body"));
    }
    Ok(text)
}

/// Returns what must hold of the query.
fn condition(headers: &HeaderMap) -> Result<EditCondition> {
    let refuse = |message: &str, hint: &str| Err(Error::new(Code::InvalidRequest, message).with_hint(hint.to_owned()));
    let absent = header_lines::list(headers, header::IF_NONE_MATCH);
    match (absent.as_deref().map(str::trim), header_lines::list(headers, header::IF_MATCH)) {
        (None, None) => Ok(EditCondition::Always),
        (Some("*"), None) => Ok(EditCondition::Absent),
        (Some(_), None) => refuse("`If-None-Match` takes `*` here", "it means that there must be no such query yet"),
        (Some(_), Some(_)) => {
            refuse("`If-Match` and `If-None-Match` exclude each other", "send `If-Match` to change what is there")
        }
        (None, Some(tags)) if tags.trim() == "*" => Ok(EditCondition::Present),
        (None, Some(tags)) => Ok(EditCondition::Version(tags.split(',').filter_map(version).collect())),
    }
}

/// Returns the version in an entity tag; `None` for one that no query has. A weak tag never matches.
fn version(tag: &str) -> Option<Version> {
    let digits = tag.trim().strip_prefix('"')?.strip_suffix('"')?;
    let is_own = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_own).map(Version)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, header};
    use salver_model::Version;
    use salver_model::ports::EditCondition;

    use super::condition;

    #[test]
    fn headers_of_conditions() {
        let (matches, none) = (header::IF_MATCH, header::IF_NONE_MATCH);
        for (lines, expected) in [
            (&[][..], Some(EditCondition::Always)),
            (&[(&none, "*")], Some(EditCondition::Absent)),
            (&[(&matches, "*")], Some(EditCondition::Present)),
            (&[(&matches, "\"00000000000000ff\", \"x\"")], Some(EditCondition::Version(vec![Version(255)]))),
            (&[(&matches, "W/\"00000000000000ff\"")], Some(EditCondition::Version(Vec::new()))),
            (&[(&none, "\"00000000000000ff\"")], None),
            (&[(&none, "*"), (&matches, "*")], None),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(*name, value.parse().unwrap());
            }
            assert_eq!(condition(&headers).ok(), expected, "{lines:?}");
        }
    }
}
