//! How the doors behave where an operator may choose.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use salver_formats::Format;
use salver_model::RootKey;
use salver_model::ports::Courier;

use crate::auth::Auth;

/// How the doors behave where an operator may choose.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The names the server goes by, with `*` for any part; empty for those that follow from where it listens.
    pub hosts: Vec<String>,
    /// The host it was told to listen on.
    pub listen_host: String,
    /// Directories of entries and of the server, of which clients are told nothing but what is in them.
    pub private_dirs: Vec<PathBuf>,
    /// Where it listens, which it finds out itself.
    pub listens: Option<SocketAddr>,
    /// A path before every route, like `/data`; empty for none.
    pub base_path: String,
    /// Whether JSON leaves out null fields, as ROAPI does, in place of writing `null`.
    pub omit_nulls: bool,
    /// Whether an unknown table is 400, as in ROAPI, in place of 404.
    pub unknown_table_400: bool,
    /// Whether pages of any origin may read answers, without credentials.
    pub cors: bool,
    /// Which pages may ask every door, with credentials, as PHP-CRUD-API has it; `None` leaves it to `cors`.
    pub origins: Option<OriginOptions>,
    /// Whether each request is logged.
    pub access_log: bool,
    /// The format of rows when the client leaves the choice.
    pub default_format: Format,
    /// Whether every request comes through a proxy of one's own, so that `X-Forwarded-For`, `X-Forwarded-Proto` and
    /// `caller_headers` are its words and not the client's.
    pub reverse_proxy: bool,
    /// What rules see as `caller.NAME`, and the header it comes in; believed only behind a proxy.
    pub caller_headers: Vec<(String, String)>,
    /// Addresses and networks (`10.0.0.0/8`) that are let in; empty lets everybody in.
    pub firewall: Vec<String>,
    /// Whether requests that came to the proxy without TLS are sent to `https://`.
    pub ssl_redirect: bool,
    /// Whether what writes through the records doors must repeat the cookie `XSRF-TOKEN` in a header.
    pub xsrf: bool,
    /// Whether what writes through the records doors must say that it comes from a script of a page.
    pub ajax_only: bool,
    /// Who may be told when jobs are over; `None` for nobody.
    pub callbacks: Option<Callbacks>,
    /// How callers prove who they are; `None` lets everybody in.
    pub auth: Option<Arc<Auth>>,
    /// What tokens are sealed under; by default a key of this process, with which they end.
    pub root_key: RootKey,
}

/// Who may be told when jobs are over.
#[derive(Clone, Debug)]
pub struct Callbacks {
    /// What their addresses begin with.
    pub allowed: Vec<String>,
    /// Who tells them.
    pub courier: Arc<dyn Courier>,
}

/// Which pages may ask the records doors, and how (<https://fetch.spec.whatwg.org/#http-cors-protocol>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginOptions {
    /// Origins, with `*` for any run of characters.
    pub allowed_origins: Vec<String>,
    /// Headers a page may send; those only Salver knows are allowed to pages that ask for them.
    pub allow_headers: String,
    /// Methods a page may use.
    pub allow_methods: String,
    /// Whether cookies and the like may come along.
    pub allow_credentials: bool,
    /// Headers a page may read; empty for those it may read in any case.
    pub expose_headers: String,
    /// How long a browser may keep what it was told, in seconds.
    pub max_age_s: u64,
}

impl OriginOptions {
    /// Pages of `allowed_origins`, and else PHP-CRUD-API's defaults.
    #[must_use]
    pub fn of(allowed_origins: Vec<String>) -> Self {
        Self {
            allowed_origins,
            allow_headers: "Content-Type, X-XSRF-TOKEN, X-Authorization, X-API-Key".to_owned(),
            allow_methods: "OPTIONS, GET, PUT, POST, DELETE, PATCH".to_owned(),
            allow_credentials: true,
            expose_headers: "ETag".to_owned(),
            max_age_s: 1_728_000,
        }
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            listen_host: String::new(),
            private_dirs: Vec::new(),
            listens: None,
            base_path: String::new(),
            omit_nulls: false,
            unknown_table_400: false,
            cors: false,
            origins: None,
            access_log: false,
            default_format: Format::Json,
            reverse_proxy: false,
            caller_headers: Vec::new(),
            firewall: Vec::new(),
            ssl_redirect: false,
            xsrf: false,
            ajax_only: false,
            callbacks: None,
            auth: None,
            root_key: RootKey::random(),
        }
    }
}
