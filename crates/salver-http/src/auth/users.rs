//! Users in a database table: lookup, registration and password changes, bypassing the rules of the entry. Results
//! never contain the password and key columns, unless the settings name them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use quick_cache::sync::Cache;
use salver_model::ports::Database;
use salver_model::records::{Change, ChangeKind, Condition, Field, Operator, RecordQuery, RecordRead};
use salver_model::spec::UsersSpec;
use salver_model::{Caller, Code, Error, Result};
use salver_service::Service;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use super::hmac::{Tag, Tagger};
use super::password::Passwords;
use super::session::{Scope, Seen, Session, Sessions, session_in};
use super::{Identity, proved_by, wordpress};

/// Lifetime of a cached user where the database can't report changes.
const KEPT_FOR: Duration = Duration::from_secs(1);
/// WordPress's column of email addresses, which may serve as login names, too.
const WORDPRESS_EMAIL: &str = "user_email";
/// Number of hashes that are sampled before the first login.
const SAMPLE_ROWS: u64 = 100;
/// Most API keys that are cached.
const CACHED_KEYS: usize = 16_384;

/// The users table.
#[derive(Debug)]
pub(crate) struct Users {
    pub(crate) spec: UsersSpec,
    pub(crate) sessions: Arc<Sessions>,
    /// What their sessions depend on.
    pub(crate) scope: Scope,
    /// Number of these settings among those under which rows were read.
    reader: u64,
    passwords: Arc<Passwords>,
    database: Arc<dyn Database>,
    tagger: Arc<Tagger>,
    keys: Cache<Tag, KnownKey>,
    /// Set once some hashes were sampled for their cost.
    sampled: OnceCell<()>,
}

/// An API key that was valid.
#[derive(Clone, Debug)]
struct KnownKey {
    identity: Identity,
    seen: Seen,
}

/// A row of the users table.
#[derive(Debug)]
pub(crate) struct User {
    /// Name of the user.
    pub(crate) name: String,
    /// The user's properties, as rules see them.
    pub(crate) identity: Identity,
    /// The user's columns for the client, as JSON.
    pub(crate) told: Bytes,
    proof: Tag,
    seen: Seen,
}

impl User {
    /// Returns a session for the user.
    pub(crate) fn session(self, scope: Scope) -> Session {
        let Self { name, identity, told, proof, seen } = self;
        Session { scope, username: name, identity, stores_identity: false, told, proof, seen: Some(seen) }
    }
}

/// Name and password hash of a user.
#[derive(Debug)]
pub(crate) struct Login {
    /// Name of the user, as the table has it.
    pub(crate) name: String,
    /// Password hash; `None` for a user who can't log in.
    pub(crate) hash: Option<String>,
}

impl Users {
    /// Creates the users of `spec`.
    pub(super) fn new(
        spec: UsersSpec,
        database: Arc<dyn Database>,
        passwords: Arc<Passwords>,
        sessions: Arc<Sessions>,
    ) -> Self {
        static READERS: AtomicU64 = AtomicU64::new(0);
        let tagger = Arc::clone(&sessions.tagger);
        // A user of one table is nobody in another, whatever the name.
        let settings = [
            "users",
            spec.database.as_str(),
            spec.wordpress.as_deref().unwrap_or_default(),
            &spec.table,
            spec.login_table.as_deref().unwrap_or_default(),
            &spec.username_column,
            &spec.prefix,
        ];
        let scope = Scope::of(&tagger, &settings, spec.session_idle);
        Self {
            spec,
            sessions,
            scope,
            reader: READERS.fetch_add(1, Ordering::Relaxed),
            passwords,
            database,
            tagger,
            keys: Cache::new(CACHED_KEYS),
            sampled: OnceCell::new(),
        }
    }

    /// Returns whether names like this one are those of users in the table alone.
    pub(super) fn has_prefix(&self, name: &str) -> bool {
        !self.spec.prefix.is_empty() && name.starts_with(&self.spec.prefix)
    }

    /// Returns whether users have API keys.
    pub(super) fn has_keys(&self) -> bool {
        self.spec.api_key_column.is_some()
    }

    /// Returns the name of the session in a request's cookie.
    ///
    /// # Errors
    /// `AuthenticationFailed` where there are several.
    pub(crate) fn session_of<'h>(&self, headers: &'h HeaderMap) -> Result<Option<&'h str>> {
        session_in(headers, &self.spec.session_cookie)
    }

    /// Returns the identity of an API key from the cache, if the entry is still fresh.
    pub(super) fn cached_key(&self, key: &str) -> Option<Identity> {
        let known = self.keys.get(&self.tagger.tag(&[key]))?;
        self.is_news(&known.seen).then_some(known.identity)
    }

    /// Returns the identity of a session from the cache, if the user's row is still fresh; `Some(None)` if there is no
    /// such session.
    pub(super) fn cached_session(&self, name: &str) -> Option<Option<Identity>> {
        let Some(session) = self.sessions.find(name, &self.scope) else { return Some(None) };
        session.seen.is_some_and(|seen| self.is_news(&seen)).then(|| Some(session.identity.clone()))
    }

    /// Returns the identity of a session, `None` if there is no such session.
    pub(super) async fn of_session(&self, service: &Service, name: &str) -> Result<Option<Identity>> {
        Ok(self.session(service, name).await?.map(|session| session.identity.clone()))
    }

    /// Returns a session, after reading the user's row again if it may have changed; `None` if there is no such
    /// session. A session ends when its user is deleted or gets another password.
    pub(crate) async fn session(&self, service: &Service, name: &str) -> Result<Option<Arc<Session>>> {
        let Some(session) = self.sessions.find(name, &self.scope) else { return Ok(None) };
        if session.seen.is_some_and(|seen| self.is_news(&seen)) {
            return Ok(Some(session));
        }
        let user = self.user(service, &session.username).await?;
        let Some(user) = user.filter(|user| user.proof == session.proof) else {
            self.sessions.forget(name);
            return Ok(None);
        };
        let session = Arc::new(user.session(self.scope));
        self.sessions.renew(name, Arc::clone(&session));
        Ok(Some(session))
    }

    /// Returns the current state of the database, which the next read sees at the earliest.
    fn seen(&self) -> Seen {
        Seen { reader: self.reader, version: self.database.version(), at: Instant::now() }
    }

    /// Returns whether data that was read in this state, and under these settings, is still fresh.
    fn is_news(&self, seen: &Seen) -> bool {
        seen.reader == self.reader
            && match seen.version {
                Some(version) => self.database.version() == Some(version),
                None => seen.at.elapsed() < KEPT_FOR,
            }
    }

    /// Looks an API key up in the table and returns its identity, provided that the user's name passes `is_free`;
    /// `None` for an unknown key.
    pub(super) async fn of_key(
        &self,
        service: &Service,
        key: &str,
        is_free: &(dyn Fn(&str) -> Result<()> + Sync),
    ) -> Result<Option<Identity>> {
        let Some(column) = &self.spec.api_key_column else { return Ok(None) };
        let seen = self.seen();
        let table = &self.spec.table;
        let columns = vec![column.clone(), self.spec.username_column.clone()];
        let Some((_, row)) = self.row(service, table, (column, key), columns).await? else { return Ok(None) };
        // Some databases compare text loosely, and none in constant time.
        let own = row.get(column).and_then(Value::as_str).unwrap_or_default();
        let tag = self.tagger.tag(&[key]);
        if tag != self.tagger.tag(&[own]) {
            return Ok(None);
        }
        let (_, told) = self.told(service, table, (column, key)).await?.unwrap_or_default();
        let name = row.get(&self.spec.username_column).and_then(as_text);
        is_free(name.as_deref().unwrap_or_default())?;
        let identity = self.identity(name.as_deref(), &told);
        let known = KnownKey { identity: identity.clone(), seen };
        self.keys.insert(tag, known);
        Ok(Some(identity))
    }

    /// Returns the user's properties as rules see them: the name first, then the columns.
    fn identity(&self, name: Option<&str>, row: &UserRow) -> Identity {
        let named = name.map(|name| ("user".to_owned(), format!("{}{name}", self.spec.prefix)));
        let columns = row.iter().filter_map(|(column, value)| Some((column.clone(), as_text(value)?)));
        proved_by("user", name).into_iter().chain(named).chain(columns).collect()
    }

    /// Returns name and password hash of the user who logs in as `name`; for WordPress that may be an email address,
    /// too.
    pub(crate) async fn login(&self, service: &Service, name: &str) -> Result<Option<Login>> {
        let spec = &self.spec;
        self.sampled.get_or_try_init(|| self.sample(service)).await?;
        let columns = vec![spec.username_column.clone(), spec.password_column.clone()];
        let table = self.login_table();
        let mut row = self.row(service, table, (&spec.username_column, name), columns.clone()).await?;
        if row.is_none() && spec.wordpress.is_some() && name.contains('@') {
            row = self.row(service, table, (WORDPRESS_EMAIL, name), columns).await?;
        }
        let Some((_, row)) = row else { return Ok(None) };
        let text = |column: &str| row.get(column).and_then(as_text);
        let missing = || {
            let message = format!("`{}` has no column `{}`", self.login_table(), spec.username_column);
            Error::new(Code::Config, message)
        };
        Ok(Some(Login { name: text(&spec.username_column).ok_or_else(missing)?, hash: text(&spec.password_column) }))
    }

    /// Samples the cost of some hashes, before the timing of a failed login can reveal that a name does not exist.
    async fn sample(&self, service: &Service) -> Result<()> {
        let query = RecordQuery {
            table: self.login_table().to_owned(),
            include: Some(vec![self.spec.password_column.clone()]),
            size: Some(SAMPLE_ROWS),
            ..RecordQuery::default()
        };
        let list = RecordRead::List(Box::new(query));
        let bytes = service.collect_records(&Caller::default(), &self.database, &list).await?;
        let rows: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        for row in rows["records"].as_array().into_iter().flatten() {
            if let Some(hash) = row[&self.spec.password_column].as_str() {
                self.passwords.learn(hash);
            }
        }
        Ok(())
    }

    /// Returns the user `name`, with the columns that a login returns.
    pub(crate) async fn user(&self, service: &Service, name: &str) -> Result<Option<User>> {
        let seen = self.seen();
        let Some(Login { name, hash: Some(hash) }) = self.login(service, name).await? else { return Ok(None) };
        let told = self.told(service, self.login_table(), (&self.spec.username_column, &name)).await?;
        Ok(told.map(|(told, row)| {
            let (identity, proof) = (self.identity(Some(&name), &row), self.tagger.tag(&[&name, &hash]));
            User { name, identity, told, proof, seen }
        }))
    }

    /// Creates a user.
    ///
    /// # Errors
    /// `UserExists`, and the errors of the database.
    pub(crate) async fn make(&self, service: &Service, name: &str, hash: String) -> Result<()> {
        let spec = &self.spec;
        let mut record = vec![
            (spec.username_column.clone(), Field::Text(name.to_owned())),
            (spec.password_column.clone(), Field::Text(hash)),
        ];
        record.extend(spec.register_columns.iter().map(|(column, text)| (column.clone(), Field::Text(text.clone()))));
        let mut change = Change::new(ChangeKind::Create, spec.table.clone());
        (change.records, change.strict) = (vec![record], true);
        let made = service.change(&Caller::default(), &self.database, change).await;
        made.map(|_| ()).map_err(|error| match error.code {
            Code::DuplicateKey => exists(name),
            _ => error,
        })
    }

    /// Returns whether `password` matches `hash`; without a hash it takes just as long and returns `false`.
    pub(crate) async fn is_right(&self, password: &str, hash: Option<String>) -> Result<bool> {
        if self.spec.wordpress.is_none() {
            return self.passwords.is_right(password.to_owned(), hash).await;
        }
        let (plain, slashed) = (wordpress::trimmed(password), wordpress::from_form(password));
        let is_plain = self.passwords.is_right(plain.to_owned(), hash.clone()).await?;
        Ok(is_plain || plain != slashed && self.passwords.is_right(slashed, hash).await?)
    }

    /// Hashes a new password.
    pub(crate) async fn hash(&self, password: &str) -> Result<String> {
        let is_wordpress = self.spec.wordpress.is_some();
        let hashed = if is_wordpress { wordpress::from_form(password) } else { password.to_owned() };
        self.passwords.hash(hashed).await
    }

    /// Sets the password hash of the user `name`.
    pub(crate) async fn set_password(&self, service: &Service, name: &str, hash: String) -> Result<()> {
        let spec = &self.spec;
        let mut change = Change::new(ChangeKind::Update, spec.table.clone());
        change.filter = Some(equals(&spec.username_column, name));
        (change.affected_max, change.strict) = (Some(1), true);
        change.records = vec![vec![(spec.password_column.clone(), Field::Text(hash))]];
        service.change(&Caller::default(), &self.database, change).await.map(|_| ())
    }

    fn login_table(&self) -> &str {
        self.spec.login_table.as_deref().unwrap_or(&self.spec.table)
    }

    /// Returns the row where `column` equals `value`, with the columns that may be disclosed.
    async fn told(&self, service: &Service, table: &str, key: (&str, &str)) -> Result<Option<(Bytes, UserRow)>> {
        let spec = &self.spec;
        let mut query = RecordQuery::default();
        if spec.returned_columns.is_empty() {
            query.exclude = Some(spec.secret_columns().map(str::to_owned).collect());
        } else {
            query.include = Some(spec.returned_columns.clone());
        }
        self.find(service, table, key, query).await
    }

    /// Returns some columns of the row where `column` equals `value`.
    async fn row(
        &self,
        service: &Service,
        table: &str,
        key: (&str, &str),
        columns: Vec<String>,
    ) -> Result<Option<(Bytes, UserRow)>> {
        self.find(service, table, key, RecordQuery { include: Some(columns), ..RecordQuery::default() }).await
    }

    async fn find(
        &self,
        service: &Service,
        table: &str,
        (column, value): (&str, &str),
        mut query: RecordQuery,
    ) -> Result<Option<(Bytes, UserRow)>> {
        table.clone_into(&mut query.table);
        (query.filter, query.size) = (Some(equals(column, value)), Some(2));
        let list = RecordRead::List(Box::new(query));
        let bytes = service.collect_records(&Caller::default(), &self.database, &list).await?;
        let list = bytes.strip_prefix(b"{\"records\":").and_then(|rest| rest.strip_suffix(b"}"));
        let list = list.ok_or_else(|| Error::internal("the list of users is malformed"))?;
        let mut rows: Vec<UserRow> = serde_json::from_slice(list)
            .map_err(|error| Error::internal("a user is not an object").with_source(error))?;
        let Some(row) = rows.pop() else { return Ok(None) };
        if !rows.is_empty() {
            tracing::warn!(table, column, "two users have one value in this column: neither is let in by it");
            return Err(super::failed("user"));
        }
        let inside = &list[1..list.len() - 1];
        Ok(Some((Bytes::copy_from_slice(inside), row)))
    }
}

/// Returns whether both mean the same users, and keep the same of them from others.
#[must_use]
pub fn is_same_table(one: &UsersSpec, other: &UsersSpec) -> bool {
    let secrets = |spec: &UsersSpec| spec.secret_columns().map(str::to_owned).collect::<Vec<_>>();
    let home = |spec: &UsersSpec| (spec.database.clone(), spec.wordpress.clone(), spec.shown);
    home(one) == home(other)
        && (&one.table, &one.login_table) == (&other.table, &other.login_table)
        && secrets(one) == secrets(other)
}

/// Values by column name.
type UserRow = Map<String, Value>;

/// Returns the error for a new user whose `name` is taken.
pub(crate) fn exists(name: &str) -> Error {
    Error::new(Code::UserExists, format!("User '{name}' already exists"))
}

fn equals(column: &str, value: &str) -> Condition {
    Condition::Test {
        path: vec![column.to_owned()],
        operator: Operator::Equal,
        negated: false,
        value: value.to_owned(),
    }
}

/// Converts a value to the text that rules see; null is absent.
pub(super) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
