//! What `[[stream]]` means: defaults, directories, and every mistake word for word.

use std::path::{Path, PathBuf};
use std::time::Duration;

use salver_config::{Override, Sources, load};
use salver_model::Name;
use salver_model::spec::{DatasetSpec, Pick, StreamSpec};

use crate::{Written, meant, told};

fn stream(written: &Written) -> StreamSpec {
    let (checked, warnings) = load(&written.sources()).unwrap();
    assert_eq!(warnings, []);
    checked.streams.into_iter().next().unwrap()
}

#[track_caller]
fn check(settings: &str, expected: &str) {
    let text = format!("[[stream]]\nname = 's'\n{settings}");
    assert_eq!(told(&text), expected.trim_matches('\n'), "\n{text}");
}

#[test]
fn a_name_is_enough() {
    let written = Written::new("[[stream]]\nname = 'clicks'\n");
    let dir = written.path().join("salver-data/streams/clicks");
    assert_eq!(stream(&written), StreamSpec::new(Name::new("clicks").unwrap(), dir));
}

#[test]
fn the_log_is_where_it_is_found_again() {
    let beside = |text: &str| {
        let written = Written::new(text);
        stream(&written).dir.strip_prefix(written.path()).map(Path::to_owned).unwrap_or_default()
    };
    assert_eq!(beside("[[stream]]\nname = 'a b'\n"), Path::new("salver-data/streams/a b"));
    assert_eq!(beside("[server]\ndata_dir = 'data'\n[[stream]]\nname = 'a'\n"), Path::new("data/streams/a"));
    assert_eq!(beside("[server]\ndata_dir = 'data'\n[[stream]]\nname = 'a'\ndir = 'b'\n"), Path::new("b"));
    // What the command line says is relative to where it was typed.
    let written = Written::new("[[stream]]\nname = 'a'\n");
    let given = Override { key: "server.data_dir", value: "here".to_owned(), typed: "--data-dir here".to_owned() };
    let (checked, _) = load(&Sources { overrides: vec![given], ..written.sources() }).unwrap();
    assert_eq!(checked.streams[0].dir, PathBuf::from("here/streams/a"));
}

#[test]
fn every_setting() {
    let written = Written::new(
        "[[stream]]\nname = 'a'\nsink = 'kafka'\nbrokers = 'b1:9092'\nkey = '$.user.id'\nid = 'header:X-Id'\n\
         retain = '7d'\ndedupe = 0\ndisk_bytes_max = '80MiB'\nroute = '/'\nack = 'memory'\nschema = 'a.json'\n",
    );
    std::fs::write(written.path().join("a.json"), "\n{ \"type\": \"object\" }").unwrap();
    let spec = stream(&written);
    let kafka = spec.kafka.unwrap();
    assert_eq!((kafka.brokers, kafka.topic.as_str()), (vec!["b1:9092".to_owned()], "a"));
    assert_eq!(spec.key, Some(Pick::Member(vec!["user".to_owned(), "id".to_owned()])));
    assert_eq!(spec.id, Some(Pick::Header("X-Id".to_owned())));
    assert_eq!((spec.retain, spec.dedupe), (Some(Duration::from_secs(7 * 86_400)), Duration::ZERO));
    assert_eq!((spec.disk_bytes_max, spec.segment_bytes), (Some(80 << 20), 10 << 20));
    assert_eq!(spec.route.as_deref(), Some("/"));
    assert_eq!(spec.schema.as_deref(), Some("\n{ \"type\": \"object\" }"));
}

#[test]
fn what_is_not_the_settings_of_a_stream() {
    check(
        r#"sink = "kafak"
ack = "all"
key = "user"
id = "$."
time = "header:a b"
retain = 0
disk_bytes_max = "1MB"
segment_bytes = "2MB"
dedup = "10m"
"#,
        r#"
salver.toml:3:8: `sink` is one of "log", "kafka", not "kafak"
  hint: did you mean "kafka"?
salver.toml:4:7: `ack` is one of "memory", "disk", "broker", not "all"
  hint: for example ack = "broker"
salver.toml:5:7: `user` says not where the key of an event is: it begins neither with `$.` nor with `header:`
  hint: write "$.user", or "header:user"
salver.toml:6:6: `$.` says not where the id of an event is: a name in it is empty
  hint: write id = "$.user.id" or "header:X-Name"
salver.toml:7:8: `header:a b` says not where the time of an event is: `a b` is not the name of a header
  hint: write time = "$.user.time" or "header:X-Name"
salver.toml:8:10: `retain` is 0: no event would be kept
  hint: write retain = "7d", or remove it to keep them for ever
salver.toml:10:17: `segment_bytes` is more than `disk_bytes_max`, 1000000
  hint: make it an eighth of that, or leave it out
salver.toml:11:1: unknown key `dedup` in [[stream]]
  hint: it is called `dedupe` here: dedupe = "1h"
"#,
    );
    check(
        "segment_bytes = 100\n",
        "salver.toml:3:17: `segment_bytes` is at least 4096 bytes\n  hint: write segment_bytes = \"64MiB\"",
    );
    let unread = told("[[stream]]\nname = 's'\nschema = 'none.json'\n");
    assert!(unread.starts_with("salver.toml:3:10: `none.json` can't be read: No such file"), "{unread}");
}

#[test]
fn published_as_a_table() {
    let written = Written::new("[[stream]]\nname = 's'\ndelta = 'lake/s'\n");
    let delta = stream(&written).delta.unwrap();
    assert_eq!(delta.dir, written.path().join("lake/s"));
    assert_eq!((delta.every, delta.keep), (Duration::from_secs(300), Duration::from_secs(7 * 86_400)));
    check(
        "delta_every = '1m'\ndelta_keep = '1d'\n",
        "
salver.toml:3:15: `delta_every` needs `delta`
  hint: write delta = \"lake/clicks\", or remove `delta_every`
salver.toml:4:14: `delta_keep` needs `delta`
  hint: write delta = \"lake/clicks\", or remove `delta_keep`
",
    );
    check(
        "delta = 'lake'\ndelta_every = '100ms'\n",
        "salver.toml:4:15: `delta_every` is at least 1000 milliseconds\n  hint: write delta_every = \"1m\"; each time with \
         new events makes a file",
    );
    check(
        "delta = 's3://lake/clicks'\n",
        "salver.toml:3:9: `s3://lake/clicks` is not a directory on this machine\n  hint: write delta = \"lake/clicks\", \
         and copy the table from there to where it is read",
    );
    for shared in ["dir = 'a'\ndelta = 'a/table'\n", "dir = 'a/log'\ndelta = 'a'\n"] {
        let text = told(&format!("[[stream]]\nname = 's'\n{shared}"));
        assert!(text.starts_with("salver.toml:4:9: the table of `s` would be in a directory of `s`"), "{text}");
    }
    let text = told("[[stream]]\nname = 's'\ndelta = 'a'\n[[stream]]\nname = 't'\ndelta = 'a/b'\n");
    assert!(text.starts_with("salver.toml:6:9: the table of `t` would be in a directory of `s`"), "{text}");
    let text = told("[[stream]]\nname = 's'\ndelta = 'a'\n[[stream]]\nname = 't'\ndir = 'a/b'\n");
    assert!(text.starts_with("salver.toml:6:7: the directory of `t` would be in that of `s`"), "{text}");
}

#[test]
fn kafka() {
    check(
        "brokers = 'localhost'\ntopic = 't'\n",
        "
salver.toml:3:11: `brokers` needs sink = \"kafka\"
  hint: add sink = \"kafka\", or remove `brokers`
salver.toml:4:9: `topic` needs sink = \"kafka\"
  hint: add sink = \"kafka\", or remove `topic`
",
    );
    check(
        "sink = 'kafka'\ntopic = 'a b'\nid_header = 'a:'\nkafka = { acks = '1', 'linger.ms' = '5' }\n",
        "
salver.toml:1:1: sink = \"kafka\" needs `brokers`
  hint: write brokers = [\"localhost:9092\"]
salver.toml:4:9: `a b` can't be the name of a topic
  hint: write topic = \"...\" with up to 249 of a-z, A-Z, 0-9, `.`, `_` and `-`
salver.toml:5:13: `a:` is not the name of a header
  hint: write it like \"event-id\"
salver.toml:6:9: `acks` can't be set
  hint: remove it; every record is acknowledged by all in-sync replicas
",
    );
    for broker in ["kafka://localhost:9092", "localhost:port", "localhost:0", "a b", "", ":9092"] {
        let text = told(&format!("[[stream]]\nname = 's'\nsink = 'kafka'\nbrokers = ['{broker}']\n"));
        assert!(text.starts_with("salver.toml:4:11: `") && text.contains("is not the address of a broker"), "{text}");
    }
}

#[test]
fn routes() {
    for ours in
        ["/api", "/api/streams/x", "/health", "/topics/a", "/v3/clusters", "/v0/events", "/ready/", "/_api/cursor"]
    {
        let text = told(&format!("[[stream]]\nname = 's'\nroute = '{ours}'\n"));
        assert!(text.contains("can't be a route: what is below `/"), "{text}");
    }
    for wrong in ["", "track", "/a b", "/a//b", "/a/../b"] {
        let text = told(&format!("[[stream]]\nname = 's'\nroute = '{wrong}'\n"));
        assert!(text.contains("can't be a route: it "), "{text}");
    }
    for (written, meaning) in [("/", "/"), ("/track", "/track"), ("/a/b/", "/a/b"), ("/apis", "/apis")] {
        let (checked, _) = meant(&format!("[[stream]]\nname = 's'\nroute = '{written}'\n"));
        assert_eq!(checked.streams[0].route.as_deref(), Some(meaning));
    }
}

#[test]
fn what_streams_must_not_share() {
    let text = told(
        r#"[[dataset]]
name = "files"
source = "-"
[[stream]]
name = "files"
[[stream]]
name = "a"
route = "/x"
[[stream]]
name = "a_quarantine"
[[stream]]
name = "b"
dir = "salver-data/streams/a/below"
route = "/x"
[[stream]]
name = ".."
[[database]]
name = "a"
url = "sqlite:a.db"
"#,
    );
    assert_eq!(
        text,
        "salver.toml:5:8: there is another dataset or stream called `files`
  hint: rename one; a stream `s` has the entries `s` and `s_quarantine`
salver.toml:10:8: there is another dataset or stream called `a_quarantine`
  hint: rename one; a stream `s` has the entries `s` and `s_quarantine`
salver.toml:13:7: the directory of `b` would be in that of `a`, or the same
  hint: give each stream its own `dir`
salver.toml:14:9: `a` has the same `route`
  hint: give one of them another
salver.toml:16:8: `..` can't be a name: clients leave it out of an address
  hint: choose a name like `uk_cities`
salver.toml:18:8: there is another database, dataset or stream called `a`
  hint: rename one"
    );
}

#[test]
fn what_is_found_beside_a_stream_is_not_the_streams() {
    let written = Written::new("[[stream]]\nname = 'a'\n");
    let found = |name: &str, path: &str| {
        let path = written.path().join(path).to_str().unwrap().to_owned();
        DatasetSpec::new(Name::new(name).unwrap(), vec![path])
    };
    let discovered = vec![found("a", "a.csv"), found("b", "b.csv"), found("salver-data", "salver-data")];
    let (checked, warnings) = load(&Sources { discovered, ..written.sources() }).unwrap();
    let names: Vec<&str> = checked.datasets.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["b"]);
    let told: Vec<String> = warnings.iter().map(|warning| written.shown(warning)).collect();
    assert!(
        matches!(&told[..], [told] if told.starts_with("salver.toml:2:8: `a.csv` is left out: `a` is a name of the stream `a`")),
        "{told:?}"
    );
}
