//! Identity of databases and files: by their real location, whatever name is used.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use salver_model::spec::{DatabaseKind, DatabaseSpec, own};
use salver_text::percent;

use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
    /// Creation time, where the system has it, since inode numbers are reused.
    made: Option<SystemTime>,
}

/// Returns the identity of the file at `path`; `None` where there is none, or the system does not support it.
#[cfg(unix)]
pub(super) fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some(FileId { device: found.dev(), inode: found.ino(), made: found.created().ok() })
}

/// Returns the identity of the file at `path`; `None` where there is none, or the system does not support it.
#[cfg(not(unix))]
pub(super) fn file_id(_: &Path) -> Option<FileId> {
    None
}

/// Returns whether the file has several names.
#[cfg(unix)]
pub(super) fn has_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.nlink() > 1)
}

/// Returns whether the file has several names.
#[cfg(not(unix))]
pub(super) fn has_names(_: &Path) -> bool {
    false
}

/// Resolves the path. For a file that does not exist yet, its existing directories are resolved.
pub(super) fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        // It ends in `..`: the parent of a missing directory is where that would be.
        (Some(parent), None) => real(parent).parent().map(Path::to_owned).unwrap_or(path),
        _ => path,
    }
}

/// Returns the path of a SQLite database; `None` for other databases, and for one in memory.
pub(super) fn sqlite_path(url: &str) -> Option<&str> {
    let (scheme, path) = url.split_once(':')?;
    let path = path.strip_prefix("//").unwrap_or(path);
    (scheme.eq_ignore_ascii_case("sqlite") && path != ":memory:").then_some(path)
}

/// Returns whether the two are, or for some caller may be, the same database.
#[must_use]
pub fn is_same(one: &DatabaseSpec, other: &DatabaseSpec) -> bool {
    match (sqlite_path(&one.url), sqlite_path(&other.url)) {
        (Some(a), Some(b)) => match (&one.of_caller, &other.of_caller) {
            (None, None) => is_same_file(a, b),
            (Some(_), None) => own::may_be(&templated(a), &real(Path::new(b)).to_string_lossy()),
            (None, Some(_)) => own::may_be(&templated(b), &real(Path::new(a)).to_string_lossy()),
            (Some(_), Some(_)) => templated(a) == templated(b),
        },
        (None, None) => match (server(one), server(other)) {
            (Some(a), Some(b)) => {
                one.kind == other.kind
                    && (a.hosts.iter().any(|host| b.hosts.contains(host)))
                    && a.options == b.options
                    && (own::may_be(&a.database, &b.database) || own::may_be(&b.database, &a.database))
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_same_file(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one), Path::new(other));
    real(one) == real(other) || file_id(one).is_some_and(|id| file_id(other) == Some(id))
}

/// Resolves the part of a path before `{caller.NAME}`.
fn templated(path: &str) -> String {
    let Some(at) = path.find('{') else { return path.to_owned() };
    let directory = path[..at].rfind('/').map_or("", |slash| &path[..=slash]);
    let before = if directory.is_empty() { Path::new(".") } else { Path::new(directory) };
    format!("{}/{}", real(before).display(), &path[directory.len()..])
}

/// Database on a server.
#[derive(Debug)]
struct Remote {
    /// Hosts with their ports. The local machine has one name.
    hosts: Vec<(String, String)>,
    database: String,
    /// Options that select a schema.
    options: String,
}

fn server(spec: &DatabaseSpec) -> Option<Remote> {
    let (_, rest) = spec.url.split_once("://")?;
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let parameter = |names: &[&str]| {
        let mut pairs = parameters.split('&').filter_map(|pair| pair.split_once('='));
        pairs.rfind(|(key, _)| names.contains(key)).map(|(_, value)| percent::decode(value))
    };
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = percent::decode(user.split(':').next().unwrap_or(user));
    let port_usual = if spec.kind == DatabaseKind::Mysql { "3306" } else { "5432" };
    let ports = parameter(&["port"]);
    let mut found: Vec<(String, String)> = Vec::new();
    let named = parameter(&["hostaddr"]).or_else(|| parameter(&["host"]));
    let hosts = match (hosts, named) {
        (_, Some(named)) if hosts.is_empty() || parameters.contains("hostaddr=") => named,
        _ => hosts.to_owned(),
    };
    for host in hosts.split(',') {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
                (name, Some(port))
            }
            _ => (host.trim_end_matches(':'), None),
        };
        let port = port.map(str::to_owned).or_else(|| ports.clone()).unwrap_or_else(|| port_usual.to_owned());
        found.push((this_machine(&percent::decode(name)), port));
    }
    if let Some(port) = found.first().map(|(_, port)| port.clone()).filter(|_| parameter(&["socket"]).is_some()) {
        found.push(("localhost".to_owned(), port));
    }
    let database = parameter(&["dbname"]).unwrap_or_else(|| percent::decode(path));
    let database = if database.is_empty() { user } else { database };
    let database = if spec.kind == DatabaseKind::Mysql { database.to_lowercase() } else { database };
    Some(Remote { hosts: found, database, options: parameter(&["options"]).unwrap_or_default() })
}

/// Returns `localhost` for every name of the local machine, and for its sockets.
fn this_machine(host: &str) -> String {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
    let is_own = host.is_empty()
        || host == "localhost"
        || host.ends_with(".localhost")
        || host.starts_with('/')
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        });
    if is_own { "localhost".to_owned() } else { host }
}

/// Returns whether access to the database is restricted for some callers.
pub(super) fn is_ruled(spec: &DatabaseSpec) -> bool {
    let serves_all = spec.tables.iter().any(|pattern| pattern == "*");
    !serves_all
        || !spec.rules.is_empty()
        || !spec.tenancy.is_empty()
        || spec.of_caller.is_some()
        || spec.customization.is_some()
}

/// Reports databases that are declared twice with different rules, since one would bypass the rules of the other.
pub(super) fn once(specs: &[(DatabaseSpec, &Table)], findings: &mut Findings) {
    for (at, (spec, table)) in specs.iter().enumerate() {
        let earlier = specs[..at].iter().find(|(other, _)| is_same(other, spec) && !is_alike(other, spec));
        if let Some((other, _)) = earlier {
            let message = format!("`{}` is the database that `{}` is, with other rules", spec.name, other.name);
            let hint = "declare it once: of two doors to one database, only the wider one would count";
            findings.mistake(Mistake::new(table.place_of("url"), message).with_hint(hint));
        }
    }
}

/// Returns whether the two grant the same access.
pub(super) fn is_alike(one: &DatabaseSpec, other: &DatabaseSpec) -> bool {
    let other = DatabaseSpec {
        name: one.name.clone(),
        url: one.url.clone(),
        connections_max: one.connections_max,
        statement_ms_max: one.statement_ms_max,
        refresh: one.refresh,
        init: one.init.clone(),
        ..other.clone()
    };
    *one == other
}

#[cfg(test)]
mod tests {
    use salver_model::Name;
    use salver_model::spec::{DatabaseKind, DatabaseSpec, own};

    use super::is_same;

    fn spec(url: &str) -> DatabaseSpec {
        let kind = DatabaseKind::of_url(url).unwrap();
        let of_caller = own::caller_in(url).unwrap().map(str::to_owned);
        DatabaseSpec { of_caller, ..DatabaseSpec::new(Name::new("a").unwrap(), kind, url) }
    }

    #[test]
    fn one_database_by_many_urls() {
        for (one, other, expected) in [
            ("postgres://u:p@localhost/app", "postgresql://v@127.0.0.1:5432/app?sslmode=disable", true),
            ("postgres://u:p@localhost/app", "postgres://u@[::1]/%61pp", true),
            ("postgres://u:p@localhost/app", "postgres://u@%2Fvar%2Frun%2Fpostgresql/app", true),
            ("postgres:///app?host=localhost", "postgres://u@LOCALHOST./app", true),
            ("postgres://app@db.example", "postgres://x@DB.example/app", true),
            ("postgres://u@a,b/app", "postgres://u@b/app", true),
            ("postgres://u@localhost/app", "postgres://u@localhost:5433/app", false),
            ("postgres://u@localhost/app", "postgres://u@localhost/App", false),
            ("postgres://u@localhost/app", "postgres://u@localhost/app?options=-csearch_path%3Dother", false),
            ("postgres://u@localhost/app", "mysql://u@localhost:5432/app", false),
            ("postgres://u@localhost/app_{caller.tenant}", "postgres://u@127.0.0.1/app_north", true),
            ("mysql://u:p@localhost/app", "mysql://u@127.0.0.1:3306/APP", true),
            ("mysql://u:p@localhost/app?socket=/run/mysqld.sock", "mysql://u@localhost/app", true),
            ("mysql://u:p@one/app", "mysql://u@two/app", false),
            ("sqlite:x/app.db", "sqlite://./x/../x/app.db", true),
            ("sqlite:x/{caller.tenant}.db", "sqlite:./x/north.db", true),
            ("sqlite:x/{caller.tenant}.db", "sqlite:y/north.db", false),
            ("sqlite::memory:", "sqlite::memory:", false),
        ] {
            assert_eq!(is_same(&spec(one), &spec(other)), expected, "{one} {other}");
            assert_eq!(is_same(&spec(other), &spec(one)), expected, "{other} {one}");
        }
    }
}
