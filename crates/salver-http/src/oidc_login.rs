//! `/auth/login`, `/auth/callback` and `/auth/logout`: log-in at an identity provider, as a browser sees it.
//!
//! A log-in that has begun lies in a cookie of its browser, sealed. So only that browser can finish it: who is lured to
//! the callback with somebody else's code is not logged in as somebody else.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderValue, Method, Response, StatusCode, header};
use salver_model::limits::{OIDC_LOGIN_S_MAX, OIDC_PATH_BYTES_MAX};
use salver_model::{Code, Error, Result};

use crate::auth::{self, Auth, BegunLogin, CallbackParameters, Oidc};
use crate::body::Body;
use crate::cookie;
use crate::dialect::Refusal;
use crate::exit;
use crate::request_context::{RequestContext, parameters};
use crate::routes::own::ProviderStep;
use crate::tokens::Owner;

/// Path that the provider sends the browser back to.
const CALLBACK: &str = "/auth/callback";
/// What the sealed cookie is for.
const DOOR: &str = "log-in at a provider";
/// Name of the cookie. With TLS it gets the prefix `__Host-`, so that no neighbouring host can set it (RFC 6265bis,
/// section 4.1.3).
const COOKIE: &str = "salver_login";

/// Handles a request.
pub(crate) async fn answer(context: &RequestContext<'_>, step: ProviderStep) -> Result<Response<Body>, Refusal> {
    let auth = context.app.auth.load();
    let Some((auth, oidc)) = auth.as_ref().and_then(|auth| Some((auth, auth.oidc.as_ref()?))) else {
        return Err(Error::new(Code::NotFound, "nobody logs in at a provider here")
            .with_hint("set `auth.oidc_issuer`; users of a table log in at `/api/login`")
            .into());
    };
    match step {
        ProviderStep::Login => Ok(begin(context, oidc).await?),
        // A program that looks where a link leads must not use up the code.
        ProviderStep::Callback if *context.method == Method::HEAD => {
            Err(Refusal::of_method(context.method, "GET, OPTIONS"))
        }
        ProviderStep::Callback => finish(context, auth, oidc).await,
        ProviderStep::Logout => Ok(log_out(context, auth, oidc).await?),
    }
}

/// Sends the browser to the provider.
async fn begin(context: &RequestContext<'_>, oidc: &Oidc) -> Result<Response<Body>> {
    let base = &context.app.options.base_path;
    let to = path_in(context)?.unwrap_or_else(|| format!("{base}/"));
    let server = own_url(context)?;
    let (url, begun) = oidc.begin(format!("{server}{base}{CALLBACK}"), to).await?;
    let content = serde_json::to_vec(&begun).map_err(|error| Error::internal("a log-in").with_source(error))?;
    let sealed = context.app.tokens.seal(DOOR, &Owner::default(), content)?;
    let mut response = redirect(&url)?;
    let value = URL_SAFE_NO_PAD.encode(sealed);
    add_cookie(&mut response, login_cookie(context, &value, OIDC_LOGIN_S_MAX)?);
    Ok(response)
}

/// Takes what the provider sends back with the browser. The browser forgets the log-in, however it ends.
async fn finish(context: &RequestContext<'_>, auth: &Auth, oidc: &Oidc) -> Result<Response<Body>, Refusal> {
    let begun = begun(context)?;
    let forgotten = login_cookie(context, "", 0)?;
    match enter(context, auth, oidc, &begun).await {
        Ok(mut response) => {
            add_cookie(&mut response, forgotten);
            Ok(response)
        }
        // A log-in that the provider could not decide on may be tried again.
        Err(error) if error.code == Code::AuthenticationUnavailable => Err(error.into()),
        // What belongs to another log-in is no reason to end this one.
        Err(error) if error.code == Code::InvalidRequest => Err(error.into()),
        Err(error) => Err(Refusal::from(error).with_header(header::SET_COOKIE, forgotten)),
    }
}

/// Begins the session of a user whom the provider names, in place of the one of the request.
async fn enter(context: &RequestContext<'_>, auth: &Auth, oidc: &Oidc, begun: &BegunLogin) -> Result<Response<Body>> {
    let given = given(context)?;
    let session = oidc.finish(begun, given).await?;
    if let Ok(Some(old)) = auth.session_of(context.headers) {
        auth.sessions.end(old).await?;
    }
    let mut response = redirect(&begun.to)?;
    let name = auth.sessions.begin(session)?;
    add_cookie(&mut response, session_cookie(context, auth, &name, false)?);
    Ok(response)
}

/// Ends the session of the request, and then the one at the provider if that is wanted.
async fn log_out(context: &RequestContext<'_>, auth: &Auth, oidc: &Oidc) -> Result<Response<Body>> {
    let to = path_in(context)?;
    let mut elsewhere = None;
    if let Some(name) = auth.session_of(context.headers)? {
        let is_of_provider = oidc.session(&auth.sessions, name).is_some();
        auth.sessions.end(name).await?;
        if is_of_provider {
            let base = &context.app.options.base_path;
            let to = to.clone().unwrap_or_else(|| format!("{base}/"));
            elsewhere = oidc.logout(&format!("{}{to}", own_url(context)?)).await;
        }
    }
    let mut response = match elsewhere.or(to) {
        Some(to) => redirect(&to)?,
        None => exit::empty(StatusCode::NO_CONTENT),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    add_cookie(&mut response, session_cookie(context, auth, "", true)?);
    Ok(response)
}

/// Returns scheme and host of this server, as the browser has them.
fn own_url(context: &RequestContext<'_>) -> Result<String> {
    context.app.gate.own_url(context.headers).ok_or_else(|| {
        Error::new(Code::InvalidRequest, "the request does not say which host it means").with_hint("send `Host`")
    })
}

/// Returns the log-in that the browser of the request has begun.
fn begun(context: &RequestContext<'_>) -> Result<BegunLogin> {
    let sealed = cookie::only(context.headers, &cookie_name(context)).ok().flatten();
    let opened = sealed.and_then(|sealed| URL_SAFE_NO_PAD.decode(sealed).ok()).and_then(|sealed| {
        let content = context.app.tokens.open(DOOR, &Owner::default(), sealed)?;
        serde_json::from_slice(&content).ok()
    });
    opened.ok_or_else(|| auth::astray("this browser has begun none"))
}

/// Reads what the provider sent with the browser.
fn given(context: &RequestContext<'_>) -> Result<CallbackParameters> {
    let mut given = CallbackParameters::default();
    for (name, value) in parameters(context.query)? {
        let place = match name.as_str() {
            "state" => &mut given.state,
            "code" => &mut given.code,
            "iss" => &mut given.issuer,
            "error" => &mut given.error,
            _ => continue,
        };
        if place.replace(value).is_some() {
            return Err(auth::astray(&format!("its answer has two values of `{name}`")));
        }
    }
    Ok(given)
}

/// Returns the path of the parameter `to`, which is one of this server.
///
/// # Errors
/// `InvalidRequest` for anything else: a link must not lead to another site by way of this one.
fn path_in(context: &RequestContext<'_>) -> Result<Option<String>> {
    let given = parameters(context.query)?;
    let mut given = given.into_iter().filter(|(name, _)| name == "to").map(|(_, value)| value);
    let Some(path) = given.next() else { return Ok(None) };
    if given.next().is_none() && is_own_path(&path, &context.app.options.base_path) {
        return Ok(Some(path));
    }
    Err(Error::new(Code::InvalidRequest, "`to` is not a path of this server")
        .with_hint("write it like `/api/tables/cities`, with the base path if there is one"))
}

/// Returns whether a browser that is redirected to `path` stays at this server, and below `base`.
fn is_own_path(path: &str, base: &str) -> bool {
    // Browsers take a backslash for a slash, and leave out tabs and the like.
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let plain = path.split(['?', '#']).next().unwrap_or_default();
    let is_dots = |part: &str| matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    let below = plain.strip_prefix(base);
    path.len() <= OIDC_PATH_BYTES_MAX
        && is_plain
        && below.is_some_and(|below| below.starts_with('/') || below.is_empty() && !base.is_empty())
        && !plain.starts_with("//")
        && !plain.split('/').any(is_dots)
}

/// Redirects a browser, which asks there by GET. Where it comes from is not told, since that may have a code in it.
fn redirect(url: &str) -> Result<Response<Body>> {
    let location = HeaderValue::from_str(url).map_err(|error| Error::internal("a redirect").with_source(error))?;
    let mut response = exit::empty(StatusCode::SEE_OTHER);
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, location);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

fn cookie_name(context: &RequestContext<'_>) -> String {
    if context.app.gate.is_secure(context.headers) { format!("__Host-{COOKIE}") } else { COOKIE.to_owned() }
}

/// Returns the cookie that keeps a log-in for so many seconds. The provider's page leads back to the server, and the
/// browser sends it along only because it is `Lax`.
fn login_cookie(context: &RequestContext<'_>, value: &str, age_s: u64) -> Result<HeaderValue> {
    let attributes = format!("Max-Age={age_s}");
    set_cookie(context, &cookie_name(context), value, &attributes)
}

/// Returns the cookie that sets the session, or removes it.
fn session_cookie(context: &RequestContext<'_>, auth: &Auth, name: &str, is_over: bool) -> Result<HeaderValue> {
    let cookie = auth.session_cookie.as_deref().unwrap_or_default();
    set_cookie(context, cookie, name, if is_over { "Max-Age=0" } else { "" })
}

fn set_cookie(context: &RequestContext<'_>, name: &str, value: &str, attributes: &str) -> Result<HeaderValue> {
    let secure = if context.app.gate.is_secure(context.headers) { "; Secure" } else { "" };
    let separator = if attributes.is_empty() { "" } else { "; " };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{separator}{attributes}");
    let mut value = HeaderValue::from_str(&text).map_err(|error| Error::internal("a cookie").with_source(error))?;
    value.set_sensitive(true);
    Ok(value)
}

fn add_cookie(response: &mut Response<Body>, cookie: HeaderValue) {
    response.headers_mut().append(header::SET_COOKIE, cookie);
}

#[cfg(test)]
mod tests {
    use super::is_own_path;

    #[test]
    fn where_a_log_in_may_lead() {
        for (path, base, expected) in [
            ("/", "", true),
            ("/api/tables/a.csv?limit=5&x=//y#z", "", true),
            ("/a//b", "", true),
            ("/a?b=https://evil.example", "", true),
            ("", "", false),
            ("a", "", false),
            ("//evil.example", "", false),
            ("///evil.example", "", false),
            ("/\\evil.example", "", false),
            ("\\\\evil.example", "", false),
            ("/a\\b", "", false),
            ("/\t/evil.example", "", false),
            ("/\n", "", false),
            (" /", "", false),
            ("https://evil.example", "", false),
            ("https:evil.example", "", false),
            ("javascript:alert(1)", "", false),
            ("@evil.example", "", false),
            (".evil.example", "", false),
            ("/\u{e4}", "", false),
            ("/data", "/data", true),
            ("/data/", "/data", true),
            ("/data?x", "/data", true),
            ("/data/a/b", "/data", true),
            ("/database", "/data", false),
            ("/", "/data", false),
            ("/other", "/data", false),
            ("/data/../other", "/data", false),
            ("/data/%2e%2E/other", "/data", false),
            ("/data/.%2e", "/data", false),
            ("/data/..", "/data", false),
            ("/data/...", "/data", true),
            ("/.//evil.example", "", false),
        ] {
            assert_eq!(is_own_path(path, base), expected, "{path:?} below {base:?}");
        }
        assert!(!is_own_path(&format!("/{}", "a".repeat(1_024)), ""));
    }
}
