//! Authentication of callers: by an API key, a signed token, a name and password with each request, the session of a
//! user who logged in, here or at an identity provider, or the certificate that the client showed for the connection.
//! One credential is enough; an invalid one is an error.
//!
//! The first of these in a request decides: the API key header, a token, a name and password, the session cookie, and
//! without any of them the certificate. A header that occurs twice proves nothing: an intermediary may have checked the
//! other value. Secrets are compared by their keyed hashes, so that timing reveals nothing about them.

mod api_key;
mod attempts;
mod basic;
mod current;
mod hmac;
mod jwt;
mod login;
mod oidc;
mod password;
mod schemes;
mod scram;
mod session;
mod users;
mod watched_file;
mod wire_login;
mod wordpress;

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use quick_cache::sync::Cache;
use salver_model::ports::{Database, IdentityProvider, KeySetSource, MaybeReady};
use salver_model::spec::AuthSpec;
use salver_model::{Code, Error, Principal, Result};
use salver_service::Service;

use self::api_key::{ApiKeys, FoundKey};
use self::attempts::Attempts;
use self::basic::Basic;
pub use self::current::CurrentAuth;
use self::hmac::Tag;
use self::jwt::{Jwt, TokenCheck};
pub(crate) use self::login::Logins;
pub(crate) use self::oidc::{BegunLogin, CallbackParameters, Oidc, astray};
use self::password::Passwords;
pub(crate) use self::session::Session;
pub use self::session::Sessions;
use self::session::{Scope, session_in};
pub use self::users::is_same_table;
pub(crate) use self::users::{Login, User, Users, exists};

/// The properties of a caller, by name.
pub(crate) type Identity = Vec<(String, String)>;

/// Returns the properties that rules see first: the authentication method and the name. They precede all properties
/// from the credential itself, so that the same name proved in two ways is two callers.
fn proved_by(way: &str, name: Option<&str>) -> Identity {
    let named = name.map(|name| (Principal::IDENTITY.to_owned(), format!("{way}:{name}")));
    std::iter::once(("auth".to_owned(), way.to_owned())).chain(named).collect()
}

/// Most logins at other wires that are cached.
const CACHED_LOGINS: usize = 4_096;

/// The method of those who show a certificate.
const CERTIFICATE: &str = "certificate";

/// Returns what the certificate of a client proves.
fn certified(name: &str) -> Identity {
    let mut identity = proved_by(CERTIFICATE, Some(name));
    identity.push(("user".to_owned(), name.to_owned()));
    identity
}

/// Returns whether an identity was proved by the certificate of a client.
pub(crate) fn is_by_certificate(identity: &[(String, String)]) -> bool {
    identity.first().is_some_and(|(name, way)| name == "auth" && way == CERTIFICATE)
}

/// Headers that carry tokens by default.
const JWT_HEADERS: [HeaderName; 2] = [HeaderName::from_static("x-authorization"), header::AUTHORIZATION];

/// The configured authentication methods.
#[derive(Debug)]
pub struct Auth {
    required: bool,
    key_header: Option<HeaderName>,
    api_keys: ApiKeys,
    pub(crate) sessions: Arc<Sessions>,
    basic: Option<Basic>,
    jwt: Option<(Jwt, Vec<HeaderName>)>,
    /// Whether the certificate of a client proves who it is.
    certificates: bool,
    logins: Arc<Logins>,
    pub(crate) users: Option<Users>,
    pub(crate) oidc: Option<Oidc>,
    /// Name of the cookie of sessions, where there are any.
    pub(crate) session_cookie: Option<String>,
    pub(crate) attempts: Arc<Attempts>,
    passwords: Arc<Passwords>,
    /// Users of the table whose passwords were right at another wire, where each statement proves it again.
    proven: Cache<Tag, ()>,
    challenges: Vec<HeaderValue>,
}

/// What the authentication methods need from outside.
#[derive(Debug)]
pub struct AuthSources {
    /// The database of the users table, accessed without its rules.
    pub users: Option<Arc<dyn Database>>,
    /// The set of `spec.jwt.key_set`.
    pub key_set: Option<Arc<dyn KeySetSource>>,
    /// The provider of `spec.oidc`.
    pub provider: Option<Arc<dyn IdentityProvider>>,
    /// The sessions of those who have logged in.
    pub sessions: Arc<Sessions>,
}

/// A credential in a request.
enum Credentials<'h> {
    Key(&'h str),
    Token(&'h str),
    Login(&'h str),
    Password(&'h str),
    Session(&'h str),
}

/// The result of checking a credential.
enum CredentialCheck {
    /// The result, known at once.
    Known(Result<Identity>),
    /// Undecided: the check needs a database query or some milliseconds of computation.
    NeedsLookup,
}

impl Auth {
    /// Sets up the authentication methods of `spec`. Whose session is one of `sources` stays logged in, if the table of
    /// users or the provider is the same; attempts are counted on after those of the `previous` methods.
    ///
    /// # Errors
    /// `Config`, for an unreadable file and an invalid key.
    pub fn new(spec: &AuthSpec, sources: AuthSources, previous: Option<&Self>) -> Result<Self> {
        let AuthSources { users, key_set, provider, sessions } = sources;
        let named = |name: &str| HeaderName::try_from(name).map_err(|error| misnamed(name).with_source(error));
        let passwords = Arc::new(Passwords::new());
        let users = match (&spec.users, users) {
            (Some(spec), Some(database)) => {
                Some(Users::new(spec.clone(), database, Arc::clone(&passwords), Arc::clone(&sessions)))
            }
            _ => None,
        };
        let has_keys = spec.has_api_keys() || users.as_ref().is_some_and(Users::has_keys);
        let prefix = spec.users.as_ref().map_or("", |users| users.prefix.as_str());
        let times = (spec.jwt.leeway, spec.jwt.key_set_interval);
        let oidc = spec.oidc.as_ref().zip(provider);
        let oidc = oidc.map(|(spec, provider)| Oidc::new(spec, provider, &sessions, (prefix, times)));
        let known = previous.and_then(|own| own.jwt.as_ref()).map(|(jwt, _)| jwt);
        let jwt = if spec.jwt.is_accepted() { Some(Jwt::new(&spec.jwt, key_set, (prefix, known))?) } else { None };
        let jwt = match (jwt, &spec.jwt.header) {
            (Some(jwt), Some(header)) => Some((jwt, vec![named(header)?])),
            (jwt, _) => jwt.map(|jwt| (jwt, JWT_HEADERS.to_vec())),
        };
        let mut challenges = Vec::new();
        if spec.has_basic() {
            challenges.extend(HeaderValue::from_str(&format!("Basic realm=\"{}\"", spec.realm)));
        }
        if jwt.is_some() || has_keys {
            challenges.push(HeaderValue::from_static("Bearer"));
        }
        Ok(Self {
            required: spec.required,
            key_header: has_keys.then(|| named(&spec.api_key_header)).transpose()?,
            api_keys: ApiKeys::new(spec)?,
            basic: spec
                .has_basic()
                .then(|| Basic::new(spec, Arc::clone(&passwords), Arc::clone(&sessions.tagger)))
                .transpose()?,
            sessions,
            session_cookie: session_cookie(spec),
            oidc,
            jwt,
            certificates: spec.client_certificates,
            logins: match previous {
                Some(previous) => Arc::clone(&previous.logins),
                None => Arc::new(Logins::new()?),
            },
            users,
            attempts: match previous.filter(|previous| previous.attempts.has_limit(spec.attempts_max)) {
                Some(previous) => Arc::clone(&previous.attempts),
                None => Arc::new(Attempts::new(spec.attempts_max)),
            },
            passwords,
            proven: Cache::new(CACHED_LOGINS),
            challenges,
        })
    }

    /// Identifies the caller, by its address, the name in its certificate, and what the request says; at once, unless
    /// credentials have to be looked up.
    ///
    /// # Errors
    /// `AuthenticationRequired`, `AuthenticationFailed`, `TooManyAttempts`; the errors of the database.
    pub(crate) fn identify<'a>(
        self: &Arc<Self>,
        service: &'a Service,
        (address, certificate): (IpAddr, Option<&'a str>),
        headers: &'a HeaderMap,
    ) -> MaybeReady<'a, Result<Identity>> {
        let given = match self.given(headers) {
            Ok(Some(given)) => given,
            Ok(None) => return MaybeReady::Ready(self.of_connection(certificate)),
            Err(error) => return MaybeReady::Ready(Err(error)),
        };
        match self.check(&given, certificate) {
            CredentialCheck::Known(identity) => MaybeReady::Ready(identity),
            CredentialCheck::NeedsLookup => {
                let own = Arc::clone(self);
                MaybeReady::pending(async move { own.look_up(service, (address, certificate), given).await })
            }
        }
    }

    /// Identifies the caller by credentials that computation alone can't check.
    async fn look_up(
        &self,
        service: &Service,
        (address, certificate): (IpAddr, Option<&str>),
        given: Credentials<'_>,
    ) -> Result<Identity> {
        match given {
            Credentials::Key(key) => match &self.users {
                Some(users) => {
                    let is_free = |name: &str| self.is_free(name);
                    users.of_key(service, key, &is_free).await?.ok_or_else(|| failed("API key"))
                }
                None => Err(failed("API key")),
            },
            Credentials::Password(credentials) => match &self.basic {
                Some(basic) => basic.prove(credentials, &self.attempts, address).await,
                None => self.nobody(),
            },
            Credentials::Session(cookie) => match &self.users {
                Some(users) => {
                    let identity = users.of_session(service, cookie).await?;
                    identity.map_or_else(|| self.of_connection(certificate), Ok)
                }
                None => self.nobody(),
            },
            Credentials::Token(token) => match &self.jwt {
                Some((jwt, _)) => jwt.check_again(token).await?.ok_or_else(|| failed("JWT")),
                None => self.nobody(),
            },
            Credentials::Login(_) => self.nobody(),
        }
    }

    /// Ends the sessions that depend on other settings than these.
    fn end_other_sessions(&self) {
        let of_users = self.users.iter().map(|users| users.scope);
        let scopes: Vec<Scope> = of_users.chain(self.oidc.iter().map(|oidc| oidc.scope)).collect();
        self.sessions.end_others(&scopes);
    }

    /// Ends all sessions.
    fn end_sessions(&self) {
        self.sessions.end_others(&[]);
    }

    /// Keeps the keys of an issuer of tokens fresh, for ever; returns if there is none.
    pub async fn keep_fresh(&self) {
        if let Some((jwt, _)) = &self.jwt {
            jwt.keep_fresh().await;
        }
    }

    /// Returns a token that stands for a name and password, for an hour or until the password changes.
    ///
    /// # Errors
    /// `AuthenticationFailed`, also where basic authentication is not configured; `TooManyAttempts`.
    pub(crate) async fn log_in(&self, name: &str, password: &str, address: IpAddr) -> Result<String> {
        let Some(basic) = &self.basic else { return Err(failed(name)) };
        let state = basic.log_in(name, password, &self.attempts, address).await?;
        Ok(self.logins.issue(name, &state))
    }

    /// Checks that a user in the table may have the name `name`: where users can register themselves, no name may equal
    /// that of an API key or of a user in the settings.
    ///
    /// # Errors
    /// `AuthenticationFailed`.
    pub(crate) fn is_free(&self, name: &str) -> Result<()> {
        let is_open = self.users.as_ref().is_some_and(|users| users.spec.register && users.spec.prefix.is_empty());
        let is = |other: &str| loosely(other) == loosely(name);
        if is_open && (self.api_keys.has_name(&is) || self.basic.as_ref().is_some_and(|basic| basic.has_name(&is))) {
            tracing::warn!(name, "a user in the table has the name of a key or of a user of the settings: not let in");
            return Err(failed(name));
        }
        Ok(())
    }

    /// Fetches once what issuers of tokens and the identity provider publish, if there are any.
    ///
    /// # Errors
    /// `Source` if it can't be fetched, and `Config` for what can't be used.
    pub async fn fetch_published(&self) -> Result<()> {
        if let Some((jwt, _)) = &self.jwt {
            jwt.fetch_key_set().await?;
        }
        match &self.oidc {
            Some(oidc) => oidc.fetch().await,
            None => Ok(()),
        }
    }

    /// Returns the name of the session in a request's cookie.
    ///
    /// # Errors
    /// `AuthenticationFailed` where there are several.
    pub(crate) fn session_of<'h>(&self, headers: &'h HeaderMap) -> Result<Option<&'h str>> {
        self.session_cookie.as_deref().map_or(Ok(None), |cookie| session_in(headers, cookie))
    }

    /// Returns the session that the cookie of a request names, if it began at the provider.
    ///
    /// # Errors
    /// `AuthenticationFailed` where there are several.
    pub(crate) fn session_at_provider(&self, headers: &HeaderMap) -> Result<Option<Arc<Session>>> {
        let name = self.session_of(headers)?;
        Ok(name.and_then(|name| self.oidc.as_ref()?.session(&self.sessions, name)))
    }

    /// Adds the `WWW-Authenticate` challenges to a 401 response. A page that asks by itself and says so
    /// (`X-Requested-With`) gets `XBasic` for `Basic`: for the latter a browser holds its requests and shows a dialog
    /// of its own, however the page would ask.
    pub(crate) fn challenge(&self, request: &HeaderMap, response: &mut HeaderMap) {
        let by_page = request.get("x-requested-with").is_some_and(|by| by.as_bytes() == b"XMLHttpRequest");
        for challenge in &self.challenges {
            let shown = match challenge.to_str() {
                Ok(text) if by_page && text.starts_with("Basic") => HeaderValue::try_from(format!("X{text}")).ok(),
                _ => None,
            };
            response.append(header::WWW_AUTHENTICATE, shown.unwrap_or_else(|| challenge.clone()));
        }
    }

    /// Returns the first credential in a request.
    fn given<'h>(&self, headers: &'h HeaderMap) -> Result<Option<Credentials<'h>>> {
        if let Some(name) = &self.key_header
            && let Some(key) = once(headers, name)?.filter(|key| !key.is_empty())
        {
            return Ok(Some(Credentials::Key(key)));
        }
        let authorization = match (&self.basic, &self.jwt, &self.key_header) {
            (None, None, None) => None,
            _ => once(headers, &header::AUTHORIZATION)?,
        };
        if self.basic.is_some()
            && let Some(own) = authorization.and_then(bearer).filter(|token| Logins::is_own(token))
        {
            return Ok(Some(Credentials::Login(own)));
        }
        for name in self.jwt.iter().flat_map(|(_, names)| names) {
            let is_token = |token: &&str| name != header::AUTHORIZATION || self.is_token(token);
            if let Some(token) = once(headers, name)?.and_then(bearer).filter(is_token) {
                return Ok(Some(Credentials::Token(token)));
            }
        }
        if self.key_header.is_some()
            && let Some(key) = authorization.and_then(bearer)
        {
            return Ok(Some(Credentials::Key(key)));
        }
        if self.basic.is_some()
            && let Some(credentials) = authorization.and_then(|text| scheme(text, "basic"))
        {
            return Ok(Some(Credentials::Password(credentials)));
        }
        Ok(self.session_of(headers)?.map(Credentials::Session))
    }

    /// Returns whether the value of a `Bearer` header is meant as a token. With API keys, what does not have the three
    /// parts of one is a key (RFC 6750 leaves the form to the server).
    fn is_token(&self, text: &str) -> bool {
        self.key_header.is_none() || text.bytes().filter(|byte| *byte == b'.').count() == 2
    }

    /// Checks a credential as far as that takes computation alone.
    fn check(&self, given: &Credentials<'_>, certificate: Option<&str>) -> CredentialCheck {
        CredentialCheck::Known(match given {
            Credentials::Key(key) => match self.api_keys.find(key) {
                Some(FoundKey::Valid(identity)) => Ok(identity),
                Some(FoundKey::Expired) => Err(failed("API key").with_hint("the key has expired; ask for a new one")),
                None => match self.users.as_ref().filter(|users| users.has_keys()) {
                    Some(users) => match users.cached_key(key) {
                        Some(identity) => Ok(identity),
                        None => return CredentialCheck::NeedsLookup,
                    },
                    None => Err(failed("API key")),
                },
            },
            Credentials::Token(token) => match &self.jwt {
                Some((jwt, _)) => match jwt.check(token) {
                    TokenCheck::Trusted(identity) => Ok(identity),
                    TokenCheck::Refused => Err(failed("JWT")),
                    TokenCheck::UnknownKey => return CredentialCheck::NeedsLookup,
                },
                None => self.nobody(),
            },
            Credentials::Login(token) => {
                let known = self.logins.read(token);
                let identity =
                    known.zip(self.basic.as_ref()).and_then(|((name, state), basic)| basic.still(name, &state));
                identity.ok_or_else(|| failed("JWT"))
            }
            Credentials::Password(credentials) => match self.basic.as_ref().and_then(|basic| basic.recall(credentials))
            {
                Some(identity) => Ok(identity),
                None => return CredentialCheck::NeedsLookup,
            },
            // An ended session is no credential, and no error either: browsers keep cookies longer than we do.
            Credentials::Session(cookie) => match self.of_provider(cookie) {
                Some(identity) => Ok(identity),
                None => match self.users.as_ref().map(|users| users.cached_session(cookie)) {
                    Some(Some(Some(identity))) => Ok(identity),
                    Some(None) => return CredentialCheck::NeedsLookup,
                    _ => self.of_connection(certificate),
                },
            },
        })
    }

    /// Returns what the connection proves of a request that proves nothing itself.
    fn of_connection(&self, certificate: Option<&str>) -> Result<Identity> {
        match certificate.filter(|_| self.certificates) {
            // With a prefix, such names are those of users in the table.
            Some(name) if self.users.as_ref().is_some_and(|users| users.has_prefix(name)) => Err(failed("certificate")),
            Some(name) => Ok(certified(name)),
            None => self.nobody(),
        }
    }

    /// Returns the identity of the session of a user who logged in at the identity provider.
    fn of_provider(&self, cookie: &str) -> Option<Identity> {
        let oidc = self.oidc.as_ref()?;
        self.sessions.find(cookie, &oidc.scope).map(|session| session.identity.clone())
    }

    fn nobody(&self) -> Result<Identity> {
        if self.required { Err(required()) } else { Ok(Identity::new()) }
    }
}

/// Returns the name of the cookie of sessions, where there are any.
fn session_cookie(spec: &AuthSpec) -> Option<String> {
    let of_users = spec.users.as_ref().map(|users| users.session_cookie.clone());
    of_users.or_else(|| spec.oidc.as_ref().map(|oidc| oidc.session_cookie.clone()))
}

/// Trims a name and converts it to lower case, so that names that look alike to a reader are equal.
fn loosely(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Returns the single value of a header; a value that is not text is no valid credential.
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

/// Returns the text that follows the name of an authentication scheme.
fn scheme<'h>(text: &'h str, name: &str) -> Option<&'h str> {
    let (scheme, rest) = text.trim().split_once(' ')?;
    let rest = rest.trim();
    (scheme.eq_ignore_ascii_case(name) && !rest.is_empty()).then_some(rest)
}

/// Returns the error for a request without credentials.
pub(crate) fn required() -> Error {
    Error::new(Code::AuthenticationRequired, "Authentication required")
}

/// Returns the error for an invalid credential. `who` is never a secret.
pub(crate) fn failed(who: &str) -> Error {
    Error::new(Code::AuthenticationFailed, format!("Authentication failed for '{who}'"))
}

fn misnamed(name: &str) -> Error {
    Error::new(Code::Config, format!("`{name}` is not the name of a header"))
}
