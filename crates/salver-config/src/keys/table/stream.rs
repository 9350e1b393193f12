//! The settings of streams.

use super::{new_row, row};
use crate::keys::{Section, Setting, SettingKind};

/// Rows of the table.
#[rustfmt::skip]
pub(super) const ROWS: &[Setting] = &[
    row(Section::Stream, "name", SettingKind::Text, ["", r#""clicks""#],
        "The name of the stream and of its entry. What it does not take is the entry `NAME_quarantine`. Required.",
        &[]),
    row(Section::Stream, "sink", SettingKind::Choice(&["log", "kafka"]), [r#""log""#, r#""kafka""#],
        "Where events end: in the log on this server's disk, or, through it, in a topic of Kafka.",
        &["type", "backend"]),
    row(Section::Stream, "dir", SettingKind::Location, ["", r#""/var/lib/salver/clicks""#],
        "The directory of its log, which no other stream or server may use. Relative paths start at this file's \
            directory. Without it, `streams/NAME` in `server.data_dir`, or in `salver-data` beside this file.",
        &["directory", "path"]),
    row(Section::Stream, "brokers", SettingKind::Texts, ["", r#"["localhost:9092"]"#],
        "Kafka: some of the brokers, as `host:port`. Required there.",
        &["bootstrap_servers", "broker"]),
    row(Section::Stream, "topic", SettingKind::Text, ["", r#""web.clicks""#],
        "Kafka: the topic; the stream's name when not given.",
        &[]),
    row(Section::Stream, "kafka", SettingKind::Pairs, ["", r#"{ "security.protocol" = "ssl", "linger.ms" = "5" }"#],
        "Kafka: further settings of the client, as librdkafka names them.",
        &["properties", "options"]),
    row(Section::Stream, "id_header", SettingKind::Text, ["", r#""event-id""#],
        "Kafka: a header for the id of each event; none when not given.",
        &[]),
    row(Section::Stream, "ack", SettingKind::Choice(&["memory", "disk", "broker"]), [r#""disk""#, r#""broker""#],
        "What a request that does not say waits for: `memory` for nothing, `disk` for the events to be on this \
            server's disk, `broker` for Kafka to have them on all in-sync replicas.",
        &["acks"]),
    row(Section::Stream, "key", SettingKind::Text, ["", r#""$.user.id""#],
        "Where the key of an event is, by which Kafka chooses its partition: `$.member.member`, or `header:NAME` for \
            all events of a request. A key in the request itself comes first.",
        &["key_path", "partition_key"]),
    row(Section::Stream, "id", SettingKind::Text, ["", r#""$.id""#],
        "Where the event's own id is, by which a repeated event is known and not taken again; each gets a new one when \
            not given.",
        &["id_path"]),
    row(Section::Stream, "time", SettingKind::Text, ["", r#""$.at""#],
        "Where the time of an event is, as text (RFC 3339) or in milliseconds since 1970; the time of its arrival when \
            not given.",
        &["timestamp", "time_path"]),
    row(Section::Stream, "dedupe", SettingKind::Milliseconds, [r#""10m""#, r#""1h""#],
        "How long an id is remembered; 0 remembers none.",
        &["dedup", "dedupe_window"]),
    row(Section::Stream, "schema", SettingKind::Text, ["", r#"'{ "type": "object", "required": ["user"] }'"#],
        "A JSON Schema that events must satisfy, or the path of a file with one; others go to the quarantine. Relative \
            paths start at this file's directory.",
        &["json_schema"]),
    row(Section::Stream, "retain", SettingKind::Milliseconds, ["", r#""7d""#],
        "How long events are kept; for ever when not given.",
        &["retention", "ttl"]),
    row(Section::Stream, "disk_bytes_max", SettingKind::Bytes, ["", r#""20GiB""#],
        "Most bytes of events on disk; no bound when not given. Over it, the oldest events of a log go; while events \
            wait for Kafka, no more are taken (503).",
        &["retention_bytes", "disk_limit"]),
    row(Section::Stream, "segment_bytes", SettingKind::Bytes, ["", r#""64MiB""#],
        "When a file of the log is full; 128 MiB when not given, or an eighth of `disk_bytes_max` where that is less.",
        &["segment_size"]),
    new_row(Section::Stream, "delta", SettingKind::Location, ["", r#""lake/clicks""#],
        "A directory to publish the events in as a table of Delta Lake, which other programs read. Only this stream \
            may write there. Relative paths start at this file's directory. Not published when not given.",
        &["delta_table", "delta_dir", "lake"]),
    new_row(Section::Stream, "delta_every", SettingKind::Milliseconds, [r#""5m""#, r#""1m""#],
        "How often new events are added to the table of `delta`: each time makes a file. At least one second.",
        &["delta_interval"]),
    new_row(Section::Stream, "delta_keep", SettingKind::Milliseconds, [r#""7d""#, r#""1d""#],
        "How long files stay that are no longer part of the table of `delta`, for readers of its older versions.",
        &["delta_retention", "delta_retain"]),
    row(Section::Stream, "route", SettingKind::Text, ["", r#""/""#],
        "A path at which a POST takes one event, whatever its media type, and answers its id as plain text. It may be \
            `/`, but nothing else of the server's own.",
        &["endpoint"]),
];
