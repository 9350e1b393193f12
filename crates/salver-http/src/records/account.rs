//! `POST /login`, `/logout`, `/register` and `/password`, and `GET /me`: sessions and accounts of the users of a table.

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use salver_model::records::{Document, Field};
use salver_model::{Code, Error, Principal, Result};
use serde_json::{Map, Value};

use super::databases::nowhere;
use super::{body, respond};
use crate::auth::{self, Login, Session, User, Users};
use crate::body::Body;
use crate::dialect::php;
use crate::request_context::RequestContext;
use crate::routes::records::AccountStep;

/// The body of a request.
struct Form {
    username: String,
    password: String,
    new_password: String,
}

/// Handles a request.
pub(super) async fn answer(context: &RequestContext<'_>, step: AccountStep, bytes: &[u8]) -> Result<Response<Body>> {
    let auth = context.app.auth.load();
    if matches!(step, AccountStep::Me)
        && let Some(auth) = auth.as_ref().filter(|auth| auth.oidc.is_some())
        && let Some(session) = auth.session_at_provider(context.headers)?
    {
        return tell(context, &claims(&session)?, None).await;
    }
    let users = auth.as_ref().and_then(|auth| auth.users.as_ref());
    let Some(users) = users.filter(|users| users.spec.login) else {
        let is_known = matches!(step, AccountStep::Me) && auth.as_ref().is_some_and(|auth| auth.oidc.is_some());
        return Err(if is_known { auth::required() } else { nowhere(context) });
    };
    match step {
        AccountStep::Login => login(context, users, &form(context, users, bytes)?).await,
        AccountStep::Register => register(context, users, &form(context, users, bytes)?).await,
        AccountStep::Password => password(context, users, &form(context, users, bytes)?).await,
        AccountStep::Logout => {
            let name = users.session_of(context.headers)?.ok_or_else(auth::required)?;
            let session = users.sessions.find(name, &users.scope).ok_or_else(auth::required)?;
            users.sessions.end(name).await?;
            tell(context, &session.told, cookie(context, users, "", true)).await
        }
        AccountStep::Me => {
            let name = users.session_of(context.headers)?.ok_or_else(auth::required)?;
            let session = users.session(&context.app.service, name).await?.ok_or_else(auth::required)?;
            tell(context, &session.told, None).await
        }
    }
}

/// Returns what is known of a user who logged in at a provider, as a JSON object: the name, and the claims that rules
/// see.
fn claims(session: &Session) -> Result<Bytes> {
    let mut told = Map::new();
    // How the user proved it is the server's own word, and no claim.
    for (name, value) in session.identity.iter().filter(|(name, _)| name != "auth" && name != Principal::IDENTITY) {
        // Rules see the first value of a name.
        told.entry(name.as_str()).or_insert_with(|| Value::from(value.as_str()));
    }
    let told = serde_json::to_vec(&told).map_err(|error| Error::internal("a user").with_source(error))?;
    Ok(Bytes::from(told))
}

async fn login(context: &RequestContext<'_>, users: &Users, form: &Form) -> Result<Response<Body>> {
    let login = prove(context, users, &form.username, &form.password).await?;
    if is_taken(context, &login.name) {
        return Err(auth::failed(&form.username));
    }
    let user = users.user(&context.app.service, &login.name).await?.ok_or_else(|| auth::failed(&form.username))?;
    begin(context, users, user).await
}

async fn register(context: &RequestContext<'_>, users: &Users, form: &Form) -> Result<Response<Body>> {
    let (spec, service, name) = (&users.spec, &context.app.service, form.username.as_str());
    if !spec.register {
        return Err(auth::failed(name));
    }
    long_enough(&form.password, spec.password_length_min)?;
    if name.trim().is_empty() {
        return Err(Error::new(Code::UsernameEmpty, "Username is empty or only whitespaces"));
    }
    // Probing for names is limited like guessing passwords.
    count(context, None)?;
    if is_taken(context, name) {
        return Err(auth::exists(name));
    }
    if users.login(service, name).await?.is_some() {
        return Err(auth::exists(name));
    }
    let hash = users.hash(&form.password).await?;
    users.make(service, name, hash).await?;
    let user = users.user(service, name).await?.ok_or_else(|| auth::failed(name))?;
    if spec.login_after_registration {
        return begin(context, users, user).await;
    }
    tell(context, &user.told, None).await
}

async fn password(context: &RequestContext<'_>, users: &Users, form: &Form) -> Result<Response<Body>> {
    let (service, name) = (&context.app.service, form.username.as_str());
    let session = users.session_of(context.headers)?.and_then(|name| users.sessions.find(name, &users.scope));
    if session.is_none_or(|session| session.username != name) {
        return Err(auth::failed(name));
    }
    long_enough(&form.new_password, users.spec.password_length_min)?;
    let login = prove(context, users, name, &form.password).await?;
    let hash = users.hash(&form.new_password).await?;
    users.set_password(service, &login.name, hash).await?;
    // Ends all sessions that were opened with the old password.
    users.sessions.end_all_of(&login.name, &users.scope);
    let user = users.user(service, &login.name).await?.ok_or_else(|| auth::failed(name))?;
    begin(context, users, user).await
}

/// Returns whether another authentication method uses this name.
fn is_taken(context: &RequestContext<'_>, name: &str) -> bool {
    context.app.auth.load().is_some_and(|auth| auth.is_free(name).is_err())
}

/// Verifies the password. The work done does not reveal whether the user exists.
async fn prove(context: &RequestContext<'_>, users: &Users, name: &str, password: &str) -> Result<Login> {
    let address = context.address();
    count(context, Some(name))?;
    let login = users.login(&context.app.service, name).await?;
    let hash = login.as_ref().and_then(|login| login.hash.clone());
    let is_right = users.is_right(password, hash).await?;
    let login = login.filter(|_| is_right).ok_or_else(|| auth::failed(name))?;
    if let Some(auth) = context.app.auth.load() {
        auth.attempts.forgive(address, name);
    }
    Ok(login)
}

/// Counts an attempt against the limit.
fn count(context: &RequestContext<'_>, user: Option<&str>) -> Result<()> {
    let address = context.address();
    context.app.auth.load().map_or(Ok(()), |auth| auth.attempts.begin(address, user))
}

/// Starts a session of `user`, in place of the one of the request.
async fn begin(context: &RequestContext<'_>, users: &Users, user: User) -> Result<Response<Body>> {
    if let Ok(Some(old)) = users.session_of(context.headers) {
        users.sessions.end(old).await?;
    }
    let told = user.told.clone();
    let name = users.sessions.begin(user.session(users.scope))?;
    tell(context, &told, cookie(context, users, &name, false)).await
}

/// Returns the cookie that sets the session, or removes it.
fn cookie(context: &RequestContext<'_>, users: &Users, name: &str, is_over: bool) -> Option<HeaderValue> {
    let secure = if context.app.gate.is_secure(context.headers) { "; Secure" } else { "" };
    let age = if is_over { "; Max-Age=0" } else { "" };
    let text = format!("{}={name}; Path=/; HttpOnly; SameSite=Lax{secure}{age}", users.spec.session_cookie);
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Responds with the user.
async fn tell(context: &RequestContext<'_>, told: &Bytes, cookie: Option<HeaderValue>) -> Result<Response<Body>> {
    let document = Document::whole(told.to_vec());
    let mut response = respond::document(context, document, php::wants_xml(context.query), None).await?;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cookie) = cookie {
        headers.insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

fn long_enough(password: &str, length_min: usize) -> Result<()> {
    if password.chars().count() < length_min {
        return Err(Error::new(Code::PasswordTooShort, format!("Password too short (<{length_min} characters)")));
    }
    Ok(())
}

fn form(context: &RequestContext<'_>, users: &Users, bytes: &[u8]) -> Result<Form> {
    let read = body::read(bytes, php::wants_xml(context.query))?;
    let record = read.records.into_iter().next().filter(|_| !read.batch).unwrap_or_default();
    let text = |wanted: &String| {
        let field = record.iter().find(|(name, _)| name == wanted).map(|(_, field)| field);
        match field {
            Some(Field::Text(text) | Field::Number(text)) => text.clone(),
            _ => String::new(),
        }
    };
    let [username, password, new_password] = &users.spec.fields;
    Ok(Form { username: text(username), password: text(password), new_password: text(new_password) })
}
