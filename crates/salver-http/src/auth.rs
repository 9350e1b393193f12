//! Who asks, proved: by a key, a signed token, name and password with each request, or a session of a user who logged
//! in. One proof is enough; what is given must be right.
//!
//! The first of these in a request decides: the header of keys, a token, name and password, the cookie of a session. A
//! header that comes twice proves nothing: who stands in between may have looked at the other.
//! Secrets are compared by their keyed hashes, so that the time it takes tells nothing of them.

mod api_key;
mod attempts;
mod basic;
mod jwt;
mod login;
mod password;
mod session;
mod tag;
mod users;
mod wordpress;

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use salver_model::ports::Database;
use salver_model::spec::AuthSpec;
use salver_model::{Caller, Code, Error, Result};
use salver_service::Service;

use self::api_key::ApiKeys;
use self::attempts::Attempts;
use self::basic::Basic;
use self::jwt::Jwt;
pub(crate) use self::login::Logins;
use self::password::Passwords;
use self::tag::Tagger;
pub(crate) use self::users::{Login, User, Users, exists};

/// What is known of a caller, by name.
pub(crate) type Identity = Vec<(String, String)>;

/// What rules see of how it was proved, and of whom, before all that the proof itself tells: the same name proved in
/// two ways is two callers.
fn proved_by(way: &str, name: Option<&str>) -> Identity {
    let named = name.map(|name| (Caller::IDENTITY.to_owned(), format!("{way}:{name}")));
    std::iter::once(("auth".to_owned(), way.to_owned())).chain(named).collect()
}

/// Where tokens are looked for by default.
const JWT_HEADERS: [HeaderName; 2] = [HeaderName::from_static("x-authorization"), header::AUTHORIZATION];

/// The ways to prove who one is, made ready.
#[derive(Debug)]
pub struct Auth {
    required: bool,
    key_header: Option<HeaderName>,
    api_keys: ApiKeys,
    basic: Option<Basic>,
    jwt: Option<(Jwt, Vec<HeaderName>)>,
    logins: Logins,
    pub(crate) users: Option<Users>,
    pub(crate) attempts: Attempts,
    challenges: Vec<HeaderValue>,
}

/// A proof that came with a request.
enum Given<'h> {
    Key(&'h str),
    Token(&'h str),
    Login(&'h str),
    Password(&'h str),
    Session(&'h str),
}

/// What is to be said of a proof.
enum Verdict {
    /// It is known by now.
    Known(Result<Identity>),
    /// It takes a look into a database, or some milliseconds of work.
    Ask,
}

impl Auth {
    /// Makes the ways of `spec` ready. `users` is the database of its table of users, past all rules.
    ///
    /// # Errors
    /// `Config`, for a file that can't be read and a key that is none.
    pub fn new(spec: &AuthSpec, users: Option<Arc<dyn Database>>) -> Result<Self> {
        let named = |name: &str| HeaderName::try_from(name).map_err(|error| misnamed(name).with_source(error));
        let tagger = Arc::new(Tagger::new()?);
        let passwords = Arc::new(Passwords::new());
        let users = match (&spec.users, users) {
            (Some(spec), Some(database)) => {
                Some(Users::new(spec.clone(), database, Arc::clone(&passwords), Arc::clone(&tagger)))
            }
            _ => None,
        };
        let has_keys = !spec.api_keys.is_empty() || users.as_ref().is_some_and(Users::has_keys);
        let prefix = spec.users.as_ref().map_or("", |users| users.prefix.as_str());
        let jwt = match (&spec.jwt.secrets[..], &spec.jwt.header) {
            ([], _) => None,
            (_, Some(header)) => Some((Jwt::new(&spec.jwt, prefix)?, vec![named(header)?])),
            (_, None) => Some((Jwt::new(&spec.jwt, prefix)?, JWT_HEADERS.to_vec())),
        };
        let mut challenges = Vec::new();
        if spec.has_basic() {
            challenges.extend(HeaderValue::from_str(&format!("Basic realm=\"{}\"", spec.realm)));
        }
        if jwt.is_some() {
            challenges.push(HeaderValue::from_static("Bearer"));
        }
        Ok(Self {
            required: spec.required,
            key_header: has_keys.then(|| named(&spec.api_key_header)).transpose()?,
            api_keys: ApiKeys::new(&spec.api_keys, Arc::clone(&tagger)),
            basic: spec.has_basic().then(|| Basic::new(spec, passwords, tagger)).transpose()?,
            jwt,
            logins: Logins::new()?,
            users,
            attempts: Attempts::new(spec.attempts_max),
            challenges,
        })
    }

    /// Who asks, when that is known at once; `None` means "use [`Auth::identify`]", which tells the same.
    pub(crate) fn identify_now(&self, headers: &HeaderMap) -> Option<Result<Identity>> {
        let given = match self.given(headers) {
            Ok(Some(given)) => given,
            Ok(None) => return Some(self.nobody()),
            Err(error) => return Some(Err(error)),
        };
        match self.judge(&given) {
            Verdict::Known(identity) => Some(identity),
            Verdict::Ask => None,
        }
    }

    /// Who asks.
    ///
    /// # Errors
    /// `AuthenticationRequired`, `AuthenticationFailed`, `TooManyAttempts`; what a database says.
    pub(crate) async fn identify(&self, service: &Service, address: IpAddr, headers: &HeaderMap) -> Result<Identity> {
        let Some(given) = self.given(headers)? else { return self.nobody() };
        match (self.judge(&given), given) {
            (Verdict::Known(identity), _) => identity,
            (Verdict::Ask, Given::Key(key)) => match &self.users {
                Some(users) => {
                    let is_free = |name: &str| self.is_free(name);
                    users.of_key(service, key, &is_free).await?.ok_or_else(|| failed("API key"))
                }
                None => Err(failed("API key")),
            },
            (Verdict::Ask, Given::Password(credentials)) => match &self.basic {
                Some(basic) => basic.prove(credentials, &self.attempts, address).await,
                None => self.nobody(),
            },
            (Verdict::Ask, Given::Session(cookie)) => match &self.users {
                Some(users) => users.of_session(service, cookie).await?.map_or_else(|| self.nobody(), Ok),
                None => self.nobody(),
            },
            (Verdict::Ask, Given::Token(_) | Given::Login(_)) => self.nobody(),
        }
    }

    /// A token that is as good as name and password, for an hour or until the password changes.
    ///
    /// # Errors
    /// `AuthenticationFailed`, also where nobody can prove anything so; `TooManyAttempts`.
    pub(crate) async fn log_in(&self, name: &str, password: &str, address: IpAddr) -> Result<String> {
        let Some(basic) = &self.basic else { return Err(failed(name)) };
        let state = basic.log_in(name, password, &self.attempts, address).await?;
        Ok(self.logins.issue(name, &state))
    }

    /// That a user in the table may be called `name`: where users come by themselves, nobody is called as a key or a
    /// user of the settings is.
    ///
    /// # Errors
    /// `AuthenticationFailed`.
    pub(crate) fn is_free(&self, name: &str) -> Result<()> {
        let is_open = self.users.as_ref().is_some_and(|users| users.spec.register && users.spec.prefix.is_empty());
        let is = |other: &str| loosely(other) == loosely(name);
        if is_open && (self.api_keys.names().any(is) || self.basic.as_ref().is_some_and(|basic| basic.has_name(&is))) {
            tracing::warn!(name, "a user in the table has the name of a key or of a user of the settings: not let in");
            return Err(failed(name));
        }
        Ok(())
    }

    /// What an answer with 401 says of the ways in.
    pub(crate) fn challenge(&self, headers: &mut HeaderMap) {
        for challenge in &self.challenges {
            headers.append(header::WWW_AUTHENTICATE, challenge.clone());
        }
    }

    /// The first proof in a request.
    fn given<'h>(&self, headers: &'h HeaderMap) -> Result<Option<Given<'h>>> {
        if let Some(name) = &self.key_header
            && let Some(key) = once(headers, name)?.filter(|key| !key.is_empty())
        {
            return Ok(Some(Given::Key(key)));
        }
        let authorization = match (&self.basic, &self.jwt) {
            (None, None) => None,
            _ => once(headers, &header::AUTHORIZATION)?,
        };
        if self.basic.is_some()
            && let Some(own) = authorization.and_then(bearer).filter(|token| Logins::is_own(token))
        {
            return Ok(Some(Given::Login(own)));
        }
        for name in self.jwt.iter().flat_map(|(_, names)| names) {
            if let Some(token) = once(headers, name)?.and_then(bearer) {
                return Ok(Some(Given::Token(token)));
            }
        }
        if self.basic.is_some()
            && let Some(credentials) = authorization.and_then(|text| scheme(text, "basic"))
        {
            return Ok(Some(Given::Password(credentials)));
        }
        let Some(users) = &self.users else { return Ok(None) };
        Ok(users.session_of(headers)?.map(Given::Session))
    }

    /// What can be said of a proof by computing alone.
    fn judge(&self, given: &Given<'_>) -> Verdict {
        Verdict::Known(match given {
            Given::Key(key) => match self.api_keys.find(key) {
                Some(identity) => Ok(identity),
                None => match self.users.as_ref().filter(|users| users.has_keys()) {
                    Some(users) => match users.of_key_now(key) {
                        Some(identity) => Ok(identity),
                        None => return Verdict::Ask,
                    },
                    None => Err(failed("API key")),
                },
            },
            Given::Token(token) => match &self.jwt {
                Some((jwt, _)) => jwt.prove(token).ok_or_else(|| failed("JWT")),
                None => self.nobody(),
            },
            Given::Login(token) => {
                let known = self.logins.read(token);
                let identity =
                    known.zip(self.basic.as_ref()).and_then(|((name, state), basic)| basic.still(name, &state));
                identity.ok_or_else(|| failed("JWT"))
            }
            Given::Password(credentials) => match self.basic.as_ref().and_then(|basic| basic.recall(credentials)) {
                Some(identity) => Ok(identity),
                None => return Verdict::Ask,
            },
            // A session that ended proves nothing and claims nothing: browsers keep cookies longer than we do.
            Given::Session(cookie) => match self.users.as_ref().map(|users| users.of_session_now(cookie)) {
                Some(Some(Some(identity))) => Ok(identity),
                Some(None) => return Verdict::Ask,
                _ => self.nobody(),
            },
        })
    }

    fn nobody(&self) -> Result<Identity> {
        if self.required { Err(required()) } else { Ok(Identity::new()) }
    }
}

/// A name as somebody may read it.
fn loosely(name: &str) -> String {
    name.trim().to_lowercase()
}

/// The one value of a header; what is no text is no proof either.
fn once<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(|value| value.to_str().unwrap_or("\0"));
    if values.next().is_some() {
        return Err(Error::new(Code::AuthenticationFailed, format!("the header `{name}` came more than once"))
            .with_hint("send one proof of who you are"));
    }
    Ok(value)
}

fn bearer(text: &str) -> Option<&str> {
    scheme(text, "bearer")
}

/// What stands behind the name of an authentication scheme.
fn scheme<'h>(text: &'h str, name: &str) -> Option<&'h str> {
    let (scheme, rest) = text.trim().split_once(' ')?;
    let rest = rest.trim();
    (scheme.eq_ignore_ascii_case(name) && !rest.is_empty()).then_some(rest)
}

/// That nothing was proved.
pub(crate) fn required() -> Error {
    Error::new(Code::AuthenticationRequired, "Authentication required")
}

/// That a proof is wrong. `who` is never a secret.
pub(crate) fn failed(who: &str) -> Error {
    Error::new(Code::AuthenticationFailed, format!("Authentication failed for '{who}'"))
}

fn misnamed(name: &str) -> Error {
    Error::new(Code::Config, format!("`{name}` is not the name of a header"))
}
