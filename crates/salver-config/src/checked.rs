//! Validated settings, in the types used by the rest of Salver.

mod access;
pub(crate) mod auth;
mod cluster;
mod columns;
pub(crate) mod database;
mod dataset;
mod function;
mod limit;
mod links;
mod listen;
mod object_store;
mod options;
mod query;
pub(crate) mod real_location;
pub(crate) mod reserved;
mod role;
mod server;
mod sources;
pub(crate) mod stream;
mod tls;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use salver_model::spec::{AuthSpec, DatabaseSpec, DatasetSpec, FunctionSpec, QuerySpec, StreamSpec, ViewSpec};
use salver_model::{AccessPolicy, LimitPolicy, Limits, Name};

pub use self::listen::Listen;
pub use self::query::query_of_text;
use crate::hidden::HiddenText;
use crate::mistake::{Findings, Mistake, Warning};
use crate::raw::{Raw, Table};
use crate::setting_place::SettingPlace;
use crate::setting_sources::Sources;

/// Configuration in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// `[server]`
    pub server: Server,
    /// `[wire]`
    pub wire: Wire,
    /// `[cluster]`; `None` without an engine.
    pub cluster: Option<Cluster>,
    /// `[auth]`, if an authentication method is configured.
    pub auth: Option<AuthSpec>,
    /// Every `[[role]]` and `[[access]]`; `None` without rules.
    pub access: Option<Arc<AccessPolicy>>,
    /// Every `[[limit]]`, with the roles; `None` without limits.
    pub caller_limits: Option<Arc<LimitPolicy>>,
    /// `[limits]`
    pub limits: Limits,
    /// `[compat]`
    pub compat: Compat,
    /// Every `[[dataset]]`, and those of the command line.
    pub datasets: Vec<DatasetSpec>,
    /// Every `[[store]]`.
    pub stores: Vec<StoreSpec>,
    /// Every `[[database]]`, and those of the command line.
    pub databases: Vec<DatabaseSpec>,
    /// Every `[[stream]]`.
    pub streams: Vec<StreamSpec>,
    /// Every `[[function]]`, and those of the command line.
    pub functions: Vec<FunctionSpec>,
    /// Every `[[view]]`.
    pub views: Vec<ViewSpec>,
    /// Every `[[query]]`, and those of the files in `server.queries`.
    pub queries: Vec<QuerySpec>,
    /// What variables and files put into settings, which is shown to nobody; the longest first.
    pub hidden: Vec<HiddenText>,
}

/// Protocols beside HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    /// Address for clients of PostgreSQL: host and port.
    pub postgres: Option<String>,
    /// Address for clients of Arrow Flight SQL: host and port.
    pub flight: Option<String>,
}

/// The cluster that large statements go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Host and port of its scheduler.
    pub scheduler: String,
    /// Bytes of files from which on a statement goes there.
    pub bytes_min: u64,
    /// Parts that the work of a statement is cut into.
    pub partitions: usize,
}

/// Settings of the server itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// What it listens on.
    pub listen: Listen,
    /// Address that `/metrics` has for itself: host and port.
    pub metrics_listen: Option<String>,
    /// Mode of the file of a Unix socket.
    pub socket_mode: u32,
    /// Base path: empty, or begins with `/` and does not end with one.
    pub base_path: String,
    /// Directory of streams, converted files and spilled queries; `None` for a directory of the process, and streams
    /// beside the configuration file.
    pub data_dir: Option<PathBuf>,
    /// Folder with files of named queries.
    pub queries: Option<PathBuf>,
    /// What to do while another server has the data directory.
    pub data_dir_in_use: WhenInUse,
    /// Log level: `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub log: String,
    /// Format of the log: `text` or `json`.
    pub log_format: String,
    /// Whether pages of any origin may read responses.
    pub cors: bool,
    /// Whether each request is logged.
    pub access_log: bool,
    /// Time after which a request or a query is logged as slow, in milliseconds; 0 logs none.
    pub slow_ms: u64,
    /// Whether responses tell how long they took.
    pub server_timing: bool,
    /// Address of the collector that the traces of requests are sent to; `None` leaves it to the environment.
    pub otlp_endpoint: Option<String>,
    /// Whether `/ready` fails while an entry can't be served.
    pub ready_needs_all: bool,
    /// Suffix of the default format of rows.
    pub default_format: String,
    /// Number of worker threads; 0 for one per processor.
    pub threads: usize,
    /// Whether the server is behind the operator's own reverse proxy.
    pub reverse_proxy: bool,
    /// Attributes of the caller for rules: names and their request headers.
    pub caller: Vec<(String, String)>,
    /// Allowed addresses and networks; empty for all.
    pub firewall: Vec<String>,
    /// Addresses and networks whose connections begin with a header of the PROXY protocol, or [`UNIX`].
    pub proxy_protocol: Vec<String>,
    /// Allowed prefixes of callback URLs.
    pub callbacks: Vec<String>,
    /// Certificates; `None` for a server without TLS.
    pub tls: Option<Tls>,
    /// Whether requests without TLS are redirected.
    pub ssl_redirect: bool,
    /// Whether files that come into served directories, or go, are noticed.
    pub watch: bool,
    /// Whether everybody may be let in where others can reach the server.
    pub insecure: bool,
    /// Whether writes require the XSRF token.
    pub xsrf: bool,
    /// Whether writes require the header that scripts send.
    pub ajax_only: bool,
    /// Origins that have the same rights as the server's own.
    pub cors_origins: Vec<String>,
    /// Host names of the server; empty to derive them from the listen address.
    pub hosts: Vec<String>,
}

/// What a server does while another one has its data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenInUse {
    /// It waits, before it listens, and takes over.
    Wait,
    /// It ends with a message.
    End,
    /// It uses the directory, too, as far as that goes.
    Share,
}

impl WhenInUse {
    /// Returns how it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::End => "end",
            Self::Share => "share",
        }
    }
}

/// Certificates of a server that speaks TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Where the server's own comes from.
    pub source: CertificateSource,
    /// Certificates of clients; `None` if they are not asked for any.
    pub client: Option<TlsClient>,
}

/// Where the certificate of the server comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateSource {
    /// Files that somebody else renews.
    Files(TlsFiles),
    /// An authority that the server asks for it (ACME, RFC 8555).
    Acme(AcmeSpec),
}

impl Tls {
    /// Returns the files of the certificate, if it comes from files.
    #[must_use]
    pub fn files(&self) -> Option<&TlsFiles> {
        match &self.source {
            CertificateSource::Files(files) => Some(files),
            CertificateSource::Acme(_) => None,
        }
    }

    /// Returns how the certificate is asked for, if it comes from an authority.
    #[must_use]
    pub fn acme(&self) -> Option<&AcmeSpec> {
        match &self.source {
            CertificateSource::Files(_) => None,
            CertificateSource::Acme(spec) => Some(spec),
        }
    }
}

/// Files with the certificate of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Chain of certificates, as PEM.
    pub certificate: PathBuf,
    /// Private key of the first of them, as PEM.
    pub key: PathBuf,
}

/// How the server asks an authority for its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeSpec {
    /// Names in the certificate, in small letters.
    pub domains: Vec<String>,
    /// Address of mail by which the authority reaches the operator.
    pub contact: Option<String>,
    /// URL of the authority's directory.
    pub directory: String,
    /// Certificates that the authority's own leads to, as PEM; `None` for those of the public authorities.
    pub authorities: Option<PathBuf>,
}

/// Which certificates clients show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsClient {
    /// Certificates of the authorities that sign them, as PEM.
    pub authorities: PathBuf,
    /// Whether there is no connection without one.
    pub required: bool,
}

/// Folder of the data directory with what the server keeps of an authority.
pub const ACME_DIR: &str = "acme";
/// Folder of the data directory with parts of remote objects.
pub const OBJECTS_DIR: &str = "objects";

/// What stands in `proxy_protocol` for the callers of a Unix socket.
pub const UNIX: &str = "unix";

impl Server {
    /// Returns whether a proxy proves who callers are.
    fn has_callers_of_proxy(&self) -> bool {
        self.reverse_proxy && !self.caller.is_empty()
    }

    /// Returns the directory of persistent data: `data_dir`, or else `salver-data` beside the configuration `file`;
    /// `None` without either.
    #[must_use]
    pub fn keep_dir(&self, file: Option<&Path>) -> Option<PathBuf> {
        self.data_dir.clone().or_else(|| file.map(|file| beside(file).join(stream::DATA_DIR)))
    }
}

/// Returns the directory of a file. `./a.csv` and `a.csv` are the same file; the shorter one reads better.
fn beside(file: &Path) -> &Path {
    file.parent().filter(|parent| *parent != Path::new(".")).unwrap_or(Path::new(""))
}

impl Checked {
    /// Adds discovered databases that are not declared yet, and whose names are free. If any access is restricted, none
    /// is added: a copy of a database often lies beside it, and would be open to everyone.
    pub(crate) fn add_databases(&mut self, discovered: &[DatabaseSpec], file: Option<&Path>, findings: &mut Findings) {
        let declared = self.databases.len();
        let is_guarded =
            self.auth.is_some() || self.access.is_some() || self.databases.iter().any(real_location::is_ruled);
        for spec in discovered {
            if self.databases[..declared].iter().any(|other| real_location::is_same(other, spec)) {
                continue;
            }
            if is_guarded {
                let place =
                    file.map_or(SettingPlace::Default, |file| SettingPlace::File(Arc::new(file.to_owned()), 0, 0));
                let message = format!("`{}` is left out: it stands in no [[database]]", spec.url);
                let hint = "what lies beside a database with rules or users is served only when it is declared";
                findings.warning(Mistake::new(&place, message).with_hint(hint));
                continue;
            }
            let taken =
                self.databases.iter().any(|other| other.name == spec.name || real_location::is_same(other, spec))
                    || self.datasets.iter().any(|dataset| dataset.name == spec.name)
                    || self.streams.iter().any(|stream| stream::has_entry(stream, &spec.name))
                    || self.views.iter().any(|view| view.name == spec.name);
            if !taken {
                self.databases.push(spec.clone());
            }
        }
    }

    /// Adds discovered files of functions that are not declared yet, and whose names are free.
    pub(crate) fn add_functions(&mut self, discovered: &[FunctionSpec]) {
        for spec in discovered {
            let is_same = |other: &FunctionSpec| {
                let id = real_location::file_id(&other.file);
                real_location::real(&other.file) == real_location::real(&spec.file)
                    || id.is_some() && id == real_location::file_id(&spec.file)
            };
            if !self.functions.iter().any(|other| other.name == spec.name || is_same(other)) {
                self.functions.push(spec.clone());
            }
        }
    }

    /// Returns why no caller can have this identity, with the way out; `None` if one can.
    #[must_use]
    pub fn identity_mistake(&self, identity: &str) -> Option<(String, String)> {
        role::can_be(identity, self.auth.as_ref(), self.server.has_callers_of_proxy()).err()
    }

    /// Returns whether there are datasets, but the files of all of them are missing.
    #[must_use]
    pub fn is_all_missing(&self) -> bool {
        !self.datasets.is_empty() && self.datasets.iter().all(sources::is_missing)
    }
}

/// Compatibility with other systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compat {
    /// ROAPI: nulls are omitted from JSON, an unknown table is 400.
    pub roapi: bool,
}

/// Key-value view of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSpec {
    /// Name of the store.
    pub name: Name,
    /// Name of the dataset.
    pub dataset: Name,
    /// Column that keys are matched with.
    pub key: String,
    /// Column that is returned.
    pub value: String,
}

/// Returns whether rules have the database or one of its tables by this name.
fn is_of_database(database: &Table, name: &Name) -> bool {
    let Some(own) = database.text("name") else { return false };
    name.as_str().strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns what else has the name of an entry, and where that is declared.
fn owner<'r>(raw: &'r Raw, streams: &[StreamSpec], name: &Name) -> Option<(&'r SettingPlace, String)> {
    let place = |tables: &'r [Table], own: &str| {
        let table = tables.iter().find(|table| table.text("name") == Some(own));
        table.map_or(&SettingPlace::Default, |table| table.place_of("name"))
    };
    if let Some(database) = raw.databases.iter().find(|database| is_of_database(database, name)) {
        return Some((database.place_of("name"), "a database or of its tables".to_owned()));
    }
    if let Some(stream) = streams.iter().find(|stream| stream::has_entry(stream, name)) {
        let own = stream.name.as_str();
        return Some((place(&raw.streams, own), format!("the stream `{own}`")));
    }
    let is_view = raw.views.iter().any(|table| table.text("name") == Some(name.as_str()));
    is_view.then(|| (place(&raw.views, name.as_str()), "a view".to_owned()))
}

/// Returns the warning that the name of a sheet on the command line is that of another dataset.
fn sheet_without_name(spec: &DatasetSpec) -> Warning {
    let (file, sheet) = (spec.sources.join(", "), spec.sheet.sheet.as_deref().unwrap_or_default());
    let message = format!("the sheet `{sheet}` of `{file}` is left out: there is a `{}` already", spec.name);
    Warning::new(&SettingPlace::CommandLine(file.as_str().into()), message)
        .with_hint(format!("give it a name: other_name={file},sheet={sheet}"))
}

/// Validates `raw`, which was made of `sources`, and adds the datasets that these have found.
pub(crate) fn check(raw: &Raw, sources: &Sources, findings: &mut Findings) -> Checked {
    let mut datasets: Vec<DatasetSpec> = Vec::new();
    let mut written = Vec::new();
    for table in &raw.datasets {
        if let Some(spec) = dataset::check(table, findings) {
            if datasets.iter().any(|other| other.name == spec.name) {
                let message = format!("there are two datasets called `{}`", spec.name);
                let mistake = Mistake::new(table.place_of("name"), message);
                findings.mistake(mistake.with_hint("rename one; or list both sources in one `source = [...]`"));
                continue;
            }
            datasets.push(spec);
            written.push(table);
        }
    }
    sources::standard_input_once(&datasets, &written, findings);
    sources::warn_of_missing(&datasets, &written, findings);
    let server = server::check(&raw.server, findings);
    let streams =
        stream::check_all(&raw.streams, server.keep_dir(sources.file.as_deref()).as_deref(), &datasets, findings);
    let views = query::views(raw, &datasets, &streams, findings);
    let declared = datasets.len();
    for spec in &sources.sheets {
        if datasets.iter().any(|other| other.name == spec.name) || owner(raw, &streams, &spec.name).is_some() {
            findings.warning(sheet_without_name(spec));
        } else {
            datasets.push(spec.clone());
        }
    }
    for spec in sources.discovered.iter().cloned() {
        // The sheets of a workbook that was found share its file.
        let is_beside = |at: usize, other: &DatasetSpec| at >= declared && other.sources == spec.sources;
        let is_taken = |(at, other): (usize, &DatasetSpec)| {
            other.name == spec.name || !is_beside(at, other) && sources::cover(other, &spec)
        };
        let taken =
            datasets.iter().enumerate().any(is_taken) || streams.iter().any(|other| stream::keeps(other, &spec));
        if let Some((place, owner)) = owner(raw, &streams, &spec.name) {
            let message = format!("`{}` is left out: `{}` is a name of {owner}", spec.sources.join(", "), spec.name);
            let hint = "rename the file, or declare it as a [[dataset]] with another `name`";
            findings.warning(Warning::new(place, message).with_hint(hint));
        } else if !taken {
            datasets.push(spec);
        }
    }
    let queries = query::queries(raw, server.queries.as_deref(), (&datasets, &streams, &views), findings);
    links::relations(&mut datasets, &written, findings);
    let databases = database::check_all(&raw.databases, &datasets, &streams, findings);
    let has_certificates = server.tls.as_ref().is_some_and(|tls| tls.client.is_some());
    let auth = auth::check(&raw.auth, &databases, has_certificates, findings);
    auth::apart_of_proxy(&raw.auth, auth.as_ref(), &server, findings);
    let roles = role::check(raw, auth.as_ref(), server.has_callers_of_proxy(), findings);
    let access = access::check(&raw.access, &roles, findings);
    let caller_limits = limit::check(&raw.caller_limits, &roles, findings);
    Checked {
        wire: wire::check(&raw.wire, &server, findings),
        cluster: cluster::check(&raw.cluster, findings),
        server,
        access,
        caller_limits,
        auth,
        limits: server::limits(&raw.limits),
        compat: Compat { roapi: raw.compat.bool("roapi") },
        stores: links::stores(&raw.stores, &datasets, findings),
        databases,
        streams,
        functions: function::check_all(&raw.functions, findings),
        views,
        queries,
        datasets,
        hidden: findings.hidden.clone(),
    }
}

/// Returns the text of a required key.
fn required<'t>(table: &'t Table, key: &str, findings: &mut Findings) -> Option<&'t str> {
    if let Some(text) = table.text(key) {
        return Some(text);
    }
    // Else the mistake is known already.
    if let Some(setting) = table.section.setting(key).filter(|_| !table.is_mistaken(key)) {
        let message = format!("{} has no `{key}`", table.section.header());
        let mistake = Mistake::new(&table.place, message);
        findings.mistake(mistake.with_hint(format!("add {key} = {}", setting.example)));
    }
    None
}

/// Returns the name under `key`, which is required.
fn name(table: &Table, key: &str, findings: &mut Findings) -> Option<Name> {
    let text = required(table, key, findings)?;
    findings.keep(Name::new(text).map_err(|error| Mistake::from_error(table.place_of(key), &error)))
}
