//! The operator's options of the doors.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use salver_formats::Format;
use salver_model::RootKey;
use salver_model::ports::{QueryEditor, Tracer, WebhookSender};
use tokio_rustls::rustls::ServerConfig;

use crate::auth::CurrentAuth;
use crate::certificate_state::CertificateState;
use crate::listener::Places;

/// The operator's options of the doors.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Host names of the server, with `*` for any part; empty for those that follow from the listener's address.
    pub hosts: Vec<String>,
    /// Host that the server was configured to listen on.
    pub listen_host: String,
    /// Names for which the server gets itself a certificate, to which it answers beside others.
    pub certificate_names: Vec<String>,
    /// Directories of entries and of the server, whose paths are not disclosed to clients.
    pub private_dirs: Vec<PathBuf>,
    /// First address of the listener, which the server determines itself.
    pub listens: Option<SocketAddr>,
    /// Whether only this machine can reach the listener, which the server determines itself.
    pub only_local: bool,
    /// Path before every route, like `/data`; empty for none.
    pub base_path: String,
    /// Whether JSON omits null fields, as ROAPI does, instead of writing `null`.
    pub omit_nulls: bool,
    /// Whether an unknown table is 400, as in ROAPI, instead of 404.
    pub unknown_table_400: bool,
    /// Whether pages of any origin may read responses, without credentials.
    pub cors: bool,
    /// Origins of pages that may use every door, with credentials, as in PHP-CRUD-API; `None` leaves it to `cors`.
    pub origins: Option<OriginOptions>,
    /// Whether each request is logged.
    pub access_log: bool,
    /// Time until the head of a response after which its request is logged as slow, in milliseconds; 0 logs none.
    pub slow_ms: u64,
    /// Whether responses tell how long they took, in `Server-Timing`.
    pub server_timing: bool,
    /// Whether `/ready` fails while an entry can't be served.
    pub ready_needs_all: bool,
    /// Format of rows when the client leaves the choice.
    pub default_format: Format,
    /// Whether every request comes through the operator's own proxy, so that `X-Forwarded-For`, `X-Forwarded-Proto` and
    /// the headers in `caller_headers` are set by the proxy and not by the client.
    pub reverse_proxy: bool,
    /// Attributes that rules see as `caller.NAME`, each with the header it is read from; trusted only behind a proxy.
    pub caller_headers: Vec<(String, String)>,
    /// Addresses and networks (`10.0.0.0/8`) that are admitted; empty admits all.
    pub firewall: Vec<String>,
    /// Addresses and networks whose connections begin with a header of the PROXY protocol; `unix` for the callers of a
    /// Unix socket.
    pub proxy_protocol: Vec<String>,
    /// Where `/metrics` is served alone, which the server determines itself; `None` if it is served with the rest.
    pub metrics: Option<Places>,
    /// TLS of the listener; `None` for a listener without it.
    pub tls: Option<TlsOptions>,
    /// Whether requests that reached the proxy, or a listener with TLS, without TLS are redirected to `https://`.
    pub ssl_redirect: bool,
    /// Whether writes at the records doors must repeat the cookie `XSRF-TOKEN` in a header.
    pub xsrf: bool,
    /// Whether writes at the records doors must declare that a script of a page sent them.
    pub ajax_only: bool,
    /// Callbacks at the end of jobs; `None` for none.
    pub callbacks: Option<Callbacks>,
    /// Authentication of callers.
    pub auth: CurrentAuth,
    /// Where named queries are kept that requests may change; `None` if none may.
    pub query_editor: Option<Arc<dyn QueryEditor>>,
    /// Recorder of the traces of requests; `None` for none.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// Key that seals tokens; by default a key of this process, so that its tokens end with it.
    pub root_key: RootKey,
}

/// TLS of a listener.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// What connections of clients are accepted with.
    pub clients: Arc<ServerConfig>,
    /// What those connections are accepted with by which an authority checks that a name is this server's (RFC 8737);
    /// `None` if none asks.
    pub challenges: Option<Arc<ServerConfig>>,
    /// What is known of the certificate.
    pub certificate: Arc<CertificateState>,
}

/// The callbacks that are allowed at the end of jobs.
#[derive(Clone, Debug)]
pub struct Callbacks {
    /// Allowed prefixes of callback URLs.
    pub allowed: Vec<String>,
    /// Sender of the callbacks.
    pub webhooks: Arc<dyn WebhookSender>,
}

/// The CORS options for pages at the records doors (<https://fetch.spec.whatwg.org/#http-cors-protocol>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginOptions {
    /// Allowed origins, with `*` for any run of characters.
    pub allowed_origins: Vec<String>,
    /// Headers that a page may send; those that only Salver knows are allowed to pages that ask for them.
    pub allow_headers: String,
    /// Methods that a page may use.
    pub allow_methods: String,
    /// Whether cookies and other credentials are allowed.
    pub allow_credentials: bool,
    /// Headers that a page may read; empty for those it may always read.
    pub expose_headers: String,
    /// Time for which a browser may cache the response to a preflight, in seconds.
    pub max_age_s: u64,
}

impl OriginOptions {
    /// Returns options for pages of `allowed_origins`, with PHP-CRUD-API's defaults for the rest.
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
            certificate_names: Vec::new(),
            private_dirs: Vec::new(),
            listens: None,
            only_local: false,
            base_path: String::new(),
            omit_nulls: false,
            unknown_table_400: false,
            cors: false,
            origins: None,
            access_log: false,
            slow_ms: 0,
            server_timing: false,
            ready_needs_all: false,
            default_format: Format::Json,
            reverse_proxy: false,
            caller_headers: Vec::new(),
            firewall: Vec::new(),
            proxy_protocol: Vec::new(),
            metrics: None,
            tls: None,
            ssl_redirect: false,
            xsrf: false,
            ajax_only: false,
            callbacks: None,
            auth: CurrentAuth::default(),
            query_editor: None,
            tracer: None,
            root_key: RootKey::random(),
        }
    }
}
