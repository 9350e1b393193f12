//! What of the next settings a reload applies. The table of settings says what it does not; that stays as it was.

use std::path::Path;

use salver_config::keys::{Effect, Setting};
use salver_config::{Checked, Server};
use salver_model::Limits;
use salver_model::spec::StreamSpec;

/// Settings to be applied, and what is left for the next start.
#[derive(Debug)]
pub(super) struct Applied {
    pub(super) checked: Checked,
    /// The names of what differs and is not applied.
    pub(super) pending: Vec<String>,
}

impl Applied {
    /// Returns what can be applied of the `next` settings while those of `before` are in force.
    pub(super) fn of(before: &Checked, next: Checked) -> Self {
        let differing = salver_config::differing(before, &next);
        let mut pending: Vec<String> =
            differing.into_iter().filter(|setting| setting.effect == Effect::Restart).map(Setting::path).collect();
        let has_moved = before.server.data_dir != next.server.data_dir;
        let streams = streams(&before.streams, &next.streams, has_moved, &mut pending);
        let server = kept_of_server(&before.server, next.server);
        let limits = kept_of_limits(&before.limits, next.limits);
        let (wire, cluster) = (before.wire.clone(), before.cluster.clone());
        Self { checked: Checked { server, wire, cluster, limits, streams, ..next }, pending }
    }
}

/// Returns `next` with what a running server keeps.
fn kept_of_server(before: &Server, next: Server) -> Server {
    let own = before.clone();
    Server {
        listen: own.listen,
        socket_mode: own.socket_mode,
        metrics_listen: own.metrics_listen,
        data_dir: own.data_dir,
        data_dir_in_use: own.data_dir_in_use,
        log_format: own.log_format,
        otlp_endpoint: own.otlp_endpoint,
        threads: own.threads,
        tls: own.tls,
        ssl_redirect: own.ssl_redirect,
        ..next
    }
}

/// Returns `next` with what is sized at the start.
fn kept_of_limits(before: &Limits, next: Limits) -> Limits {
    Limits {
        queries_max: before.queries_max,
        memory_bytes_max: before.memory_bytes_max,
        spill_bytes_max: before.spill_bytes_max,
        object_cache_bytes_max: before.object_cache_bytes_max,
        jobs_max: before.jobs_max,
        job_bytes_max: before.job_bytes_max,
        job_ttl_ms: before.job_ttl_ms,
        ..next
    }
}

/// Returns the streams to be served: one that is open stays as it was opened, and new ones wait where their directory
/// `has_moved` from that of the running server.
fn streams(before: &[StreamSpec], next: &[StreamSpec], has_moved: bool, pending: &mut Vec<String>) -> Vec<StreamSpec> {
    let mut streams = Vec::new();
    for spec in next {
        let own = before.iter().find(|own| own.name == spec.name);
        if own.map_or(has_moved, |own| differs(own, spec, has_moved)) {
            pending.push(format!("[[stream]] `{}`", spec.name));
        }
        match own {
            Some(own) => streams.push(own.clone()),
            None if has_moved => {}
            None => streams.push(spec.clone()),
        }
    }
    streams
}

/// Returns whether a stream is declared otherwise. That it lies in the data directory is no difference where that
/// `has_moved`.
fn differs(own: &StreamSpec, spec: &StreamSpec, has_moved: bool) -> bool {
    let is_default = |spec: &StreamSpec| spec.dir.ends_with(Path::new("streams").join(spec.name.as_str()));
    if has_moved && is_default(own) && is_default(spec) {
        return StreamSpec { dir: own.dir.clone(), ..spec.clone() } != *own;
    }
    own != spec
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use salver_config::keys::{Effect, SETTINGS, Section, Setting};
    use salver_config::{Checked, Sources, load};
    use salver_model::spec::Secret;

    use super::Applied;

    /// What some settings need beside them, with a value; whether those of an authority need it, which is in place of a
    /// certificate in files.
    const NEEDED: [(&str, &str, bool); 5] = [
        ("reverse_proxy", "true", false),
        ("tls_certificate", "\"a.pem\"", false),
        ("tls_key", "\"b.pem\"", false),
        ("tls_client_ca", "\"c.pem\"", false),
        ("acme_domains", "[\"a.example.org\"]", true),
    ];

    /// A cluster, of which one setting needs the other.
    const CLUSTER: &str = "[cluster]\nengine = \"ballista\"\nscheduler = \"127.0.0.1:1\"\n";

    fn checked(text: String) -> Checked {
        let sources = Sources { text: Some(Secret::new(text.clone())), ..Sources::default() };
        let sources = Sources { file: Some("/etc/salver/salver.toml".into()), ..sources };
        match load(&sources) {
            Ok((checked, _)) => checked,
            Err(mistakes) => panic!("{text}: {mistakes:?}"),
        }
    }

    /// Settings in which `setting` has its default, or one that it needs, and others in which it has another value.
    fn pair(setting: &Setting) -> [Checked; 2] {
        if setting.section == Section::Cluster {
            let own = CLUSTER.replace("127.0.0.1:1", "127.0.0.1:50050");
            let other = format!("{CLUSTER}{} = {}\n", setting.key, setting.example);
            let next = if setting.key == "scheduler" { own } else { other };
            return [CLUSTER.to_owned(), next].map(checked);
        }
        let list = || NEEDED.iter().filter(|(.., by_acme)| *by_acme == setting.key.starts_with("acme_"));
        let needed = |own: Option<&str>| {
            let lines = list().map(|(key, value, _)| match own {
                Some(other) if *key == setting.key => format!("{key} = {other}\n"),
                _ => format!("{key} = {value}\n"),
            });
            format!("[server]\n{}", lines.collect::<String>())
        };
        let is_needed = setting.section == Section::Server && list().any(|(key, ..)| *key == setting.key);
        let other = if setting.key == "reverse_proxy" { "false" } else { setting.example };
        let line = format!("{} = {other}\n", setting.key);
        let text = match setting.section {
            Section::Server if is_needed => needed(Some(other)),
            Section::Server => format!("{}{line}", needed(None)),
            section => format!("{}{}\n{line}", needed(None), section.header()),
        };
        [needed(None), text].map(checked)
    }

    /// Each setting is applied as the table of settings says, and what is not applied is named.
    #[test]
    fn as_the_table_says() {
        let single = [Section::Server, Section::Wire, Section::Cluster, Section::Limits, Section::Compat];
        let paths = |list: Vec<&'static Setting>| list.into_iter().map(Setting::path).collect::<Vec<_>>();
        // There is one engine of clusters, so that this does not differ alone.
        let is_alone = |setting: &&Setting| single.contains(&setting.section) && setting.path() != "cluster.engine";
        for setting in SETTINGS.iter().filter(is_alone) {
            let path = setting.path();
            let [before, next] = pair(setting);
            assert_eq!(paths(salver_config::differing(&before, &next)), std::slice::from_ref(&path));
            let Applied { checked, pending } = Applied::of(&before, next);
            let applied = paths(salver_config::differing(&before, &checked));
            let (now, later) = match setting.effect {
                Effect::Reload => (vec![path], Vec::new()),
                Effect::Restart => (Vec::new(), vec![path]),
                Effect::ReloadOfNew => panic!("{path} is of no entry"),
            };
            assert_eq!((applied, pending), (now, later));
        }
        for setting in SETTINGS.iter().filter(|setting| !single.contains(&setting.section)) {
            let is_of_stream = setting.section == Section::Stream;
            let effect = if is_of_stream { Effect::ReloadOfNew } else { Effect::Reload };
            assert_eq!(setting.effect, effect, "{}", setting.path());
        }
    }

    #[test]
    fn a_cluster_waits_for_the_next_start() {
        let Applied { checked: applied, pending } = Applied::of(&checked(String::new()), checked(CLUSTER.to_owned()));
        assert!(applied.cluster.is_none());
        assert!(pending.contains(&"cluster.engine".to_owned()), "{pending:?}");
    }

    #[test]
    fn open_streams_stay_as_they_are() {
        let stream = |name: &str, more: &str| format!("[[stream]]\nname = \"{name}\"\n{more}");
        let before = checked(format!("{}{}", stream("a", ""), stream("b", "")));
        let next = format!("{}{}", stream("c", ""), stream("a", "segment_bytes = \"64KiB\"\n"));
        let Applied { checked: applied, pending } = Applied::of(&before, checked(next.clone()));
        assert_eq!(pending, ["[[stream]] `a`"]);
        let names: Vec<_> = applied.streams.iter().map(|spec| spec.name.to_string()).collect();
        assert_eq!(names, ["c", "a"]);
        assert_eq!(applied.streams[1], before.streams[0]);
        // Where the data directory is another, nothing new is opened in it.
        let moved = Applied::of(&before, checked(format!("[server]\ndata_dir = \"/elsewhere\"\n{next}")));
        assert_eq!(moved.pending, ["server.data_dir", "[[stream]] `c`", "[[stream]] `a`"]);
        assert_eq!(moved.checked.streams, before.streams[..1]);
        let elsewhere = format!("[server]\ndata_dir = \"/elsewhere\"\n{}", stream("b", "dir = \"/other\"\n"));
        let pending = |text: String| Applied::of(&before, checked(text)).pending;
        assert_eq!(pending(elsewhere.clone()), ["server.data_dir", "[[stream]] `b`"]);
        assert_eq!(pending(elsewhere.replace("dir = \"/other\"\n", "")), ["server.data_dir"]);
    }

    /// The page for operators names exactly those that need a restart.
    #[test]
    fn as_the_documentation_says() {
        let page = include_str!("../../../../docs/operate.md");
        let rows = page.lines().filter(|line| line.starts_with("| at a restart |"));
        let named: BTreeSet<String> = rows
            .flat_map(|row| row.split('`').skip(1).step_by(2))
            .filter(|name| name.contains('.'))
            .map(str::to_owned)
            .collect();
        let those = SETTINGS.iter().filter(|setting| setting.effect == Effect::Restart);
        assert_eq!(named, those.map(Setting::path).collect::<BTreeSet<_>>());
    }
}
