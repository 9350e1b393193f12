//! `POST /login`, `/logout`, `/register` and `/password`, and `GET /me`: sessions and accounts of the users of a table.

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use salver_model::records::{Document, Field};
use salver_model::{Code, Error, Result};

use super::databases::nowhere;
use super::{body, respond};
use crate::auth::{self, Login, User, Users};
use crate::body::Body;
use crate::dialect::php;
use crate::exchange::Exchange;
use crate::gate;
use crate::routes::records::AccountStep;

/// The body of a request.
struct Form {
    username: String,
    password: String,
    new_password: String,
}

/// Handles a request.
pub(super) async fn answer(exchange: &Exchange<'_>, step: AccountStep, bytes: &[u8]) -> Result<Response<Body>> {
    let auth = exchange.app.auth.as_ref();
    let Some(users) = auth.and_then(|auth| auth.users.as_ref()).filter(|users| users.spec.login) else {
        return Err(nowhere(exchange));
    };
    match step {
        AccountStep::Login => login(exchange, users, &form(exchange, users, bytes)?).await,
        AccountStep::Register => register(exchange, users, &form(exchange, users, bytes)?).await,
        AccountStep::Password => password(exchange, users, &form(exchange, users, bytes)?).await,
        AccountStep::Logout => {
            let name = users.session_of(exchange.headers)?.ok_or_else(auth::required)?;
            let session = users.sessions.find(name).ok_or_else(auth::required)?;
            users.sessions.end(name);
            tell(exchange, &session.told, cookie(exchange, users, "", true)).await
        }
        AccountStep::Me => {
            let session = users.session_of(exchange.headers)?.and_then(|name| users.sessions.find(name));
            tell(exchange, &session.ok_or_else(auth::required)?.told, None).await
        }
    }
}

async fn login(exchange: &Exchange<'_>, users: &Users, form: &Form) -> Result<Response<Body>> {
    let login = prove(exchange, users, &form.username, &form.password).await?;
    if is_taken(exchange, &login.name) {
        return Err(auth::failed(&form.username));
    }
    let user = users.user(&exchange.app.service, &login.name).await?.ok_or_else(|| auth::failed(&form.username))?;
    begin(exchange, users, user).await
}

async fn register(exchange: &Exchange<'_>, users: &Users, form: &Form) -> Result<Response<Body>> {
    let (spec, service, name) = (&users.spec, &exchange.app.service, form.username.as_str());
    if !spec.register {
        return Err(auth::failed(name));
    }
    long_enough(&form.password, spec.password_length_min)?;
    if name.trim().is_empty() {
        return Err(Error::new(Code::UsernameEmpty, "Username is empty or only whitespaces"));
    }
    // Probing for names is limited like guessing passwords.
    count(exchange)?;
    if is_taken(exchange, name) {
        return Err(auth::exists(name));
    }
    if users.login(service, name).await?.is_some() {
        return Err(auth::exists(name));
    }
    let hash = users.hash(&form.password).await?;
    users.make(service, name, hash).await?;
    let user = users.user(service, name).await?.ok_or_else(|| auth::failed(name))?;
    if spec.login_after_registration {
        return begin(exchange, users, user).await;
    }
    tell(exchange, &user.told, None).await
}

async fn password(exchange: &Exchange<'_>, users: &Users, form: &Form) -> Result<Response<Body>> {
    let (service, name) = (&exchange.app.service, form.username.as_str());
    let session = users.session_of(exchange.headers)?.and_then(|name| users.sessions.find(name));
    if session.is_none_or(|session| session.username != name) {
        return Err(auth::failed(name));
    }
    long_enough(&form.new_password, users.spec.password_length_min)?;
    let login = prove(exchange, users, name, &form.password).await?;
    let hash = users.hash(&form.new_password).await?;
    users.set_password(service, &login.name, hash).await?;
    // Ends all sessions that were opened with the old password.
    users.sessions.end_all_of(&login.name);
    let user = users.user(service, &login.name).await?.ok_or_else(|| auth::failed(name))?;
    begin(exchange, users, user).await
}

/// Returns whether another authentication method uses this name.
fn is_taken(exchange: &Exchange<'_>, name: &str) -> bool {
    exchange.app.auth.as_ref().is_some_and(|auth| auth.is_free(name).is_err())
}

/// Verifies the password. The work done does not reveal whether the user exists.
async fn prove(exchange: &Exchange<'_>, users: &Users, name: &str, password: &str) -> Result<Login> {
    let address = exchange.address();
    let attempts = exchange.app.auth.as_ref().map(|auth| &auth.attempts);
    count(exchange)?;
    let login = users.login(&exchange.app.service, name).await?;
    let hash = login.as_ref().and_then(|login| login.hash.clone());
    let is_right = users.is_right(password, hash).await?;
    let login = login.filter(|_| is_right).ok_or_else(|| auth::failed(name))?;
    if let Some(attempts) = attempts {
        attempts.forgive(address);
    }
    Ok(login)
}

/// Counts an attempt against the limit.
fn count(exchange: &Exchange<'_>) -> Result<()> {
    let address = exchange.address();
    exchange.app.auth.as_ref().map_or(Ok(()), |auth| auth.attempts.begin(address))
}

/// Starts a session of `user`, in place of the one of the request.
async fn begin(exchange: &Exchange<'_>, users: &Users, user: User) -> Result<Response<Body>> {
    if let Ok(Some(old)) = users.session_of(exchange.headers) {
        users.sessions.end(old);
    }
    let told = user.told.clone();
    let name = users.sessions.begin(user.session())?;
    tell(exchange, &told, cookie(exchange, users, &name, false)).await
}

/// Returns the cookie that sets the session, or removes it.
fn cookie(exchange: &Exchange<'_>, users: &Users, name: &str, is_over: bool) -> Option<HeaderValue> {
    let secure = if gate::is_secure(exchange.headers) { "; Secure" } else { "" };
    let age = if is_over { "; Max-Age=0" } else { "" };
    let text = format!("{}={name}; Path=/; HttpOnly; SameSite=Lax{secure}{age}", users.spec.session_cookie);
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Responds with the user.
async fn tell(exchange: &Exchange<'_>, told: &Bytes, cookie: Option<HeaderValue>) -> Result<Response<Body>> {
    let document = Document::whole(told.to_vec());
    let mut response = respond::document(exchange, document, php::wants_xml(exchange.query), None).await?;
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

fn form(exchange: &Exchange<'_>, users: &Users, bytes: &[u8]) -> Result<Form> {
    let read = body::read(bytes, php::wants_xml(exchange.query))?;
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
