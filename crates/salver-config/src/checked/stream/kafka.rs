//! Validates the Kafka settings of a stream.

use salver_model::limits::TOPIC_CHARS_MAX;
use salver_model::spec::KafkaSpec;

use crate::mistake::{Findings, Mistake};
use crate::pick;
use crate::raw::Table;

/// Settings that only apply to `sink = "kafka"`.
const KEYS: [&str; 4] = ["brokers", "topic", "kafka", "id_header"];

/// Settings of the client that are reserved, with their replacements.
const OURS: [(&str, &str); 8] = [
    ("bootstrap.servers", "write brokers = [\"localhost:9092\"]"),
    ("metadata.broker.list", "write brokers = [\"localhost:9092\"]"),
    ("acks", "remove it; every record is acknowledged by all in-sync replicas"),
    ("request.required.acks", "remove it; every record is acknowledged by all in-sync replicas"),
    ("enable.idempotence", "remove it; the producer is idempotent"),
    ("enable.gapless.guarantee", "remove it; the stream's log sees to that"),
    ("partitioner", "remove it; keys choose partitions as Kafka's own clients do (murmur2_random)"),
    ("transactional.id", "remove it; there are no transactions"),
];

/// Returns the sink, if it is Kafka. `name` is the default topic.
pub(super) fn check(table: &Table, name: Option<&str>, findings: &mut Findings) -> Option<KafkaSpec> {
    if table.text("sink") != Some("kafka") {
        for key in KEYS.into_iter().filter(|key| table.get(key).is_some()) {
            let mistake = Mistake::new(table.place_of(key), format!("`{key}` needs sink = \"kafka\""));
            findings.mistake(mistake.with_hint(format!("add sink = \"kafka\", or remove `{key}`")));
        }
        return None;
    }
    let brokers = brokers(table, findings);
    let topic = table.text("topic").or(name).unwrap_or_default();
    if name.is_some() {
        check_topic(table, topic, findings);
    }
    let properties = table.pairs("kafka").unwrap_or_default().to_vec();
    for (key, _) in &properties {
        if let Some((_, instead)) = OURS.iter().find(|(ours, _)| ours == key) {
            let mistake = Mistake::new(table.place_of("kafka"), format!("`{key}` can't be set"));
            findings.mistake(mistake.with_hint(*instead));
        }
    }
    let id_header = table.text("id_header");
    if let Some(header) = id_header.filter(|header| !pick::is_header(header)) {
        let mistake = Mistake::new(table.place_of("id_header"), format!("`{header}` is not the name of a header"));
        findings.mistake(mistake.with_hint("write it like \"event-id\""));
    }
    Some(KafkaSpec { brokers, topic: topic.to_owned(), id_header: id_header.map(str::to_owned), properties })
}

fn brokers(table: &Table, findings: &mut Findings) -> Vec<String> {
    let brokers = table.texts("brokers").unwrap_or_default();
    let hint = "write brokers = [\"localhost:9092\"]";
    if brokers.is_empty() {
        let mistake = Mistake::new(table.place_of("brokers"), "sink = \"kafka\" needs `brokers`");
        findings.mistake(mistake.with_hint(hint));
    }
    for broker in brokers.iter().filter(|broker| !is_address(broker)) {
        let message = format!("`{broker}` is not the address of a broker");
        findings.mistake(Mistake::new(table.place_of("brokers"), message).with_hint(hint));
    }
    brokers.to_vec()
}

/// Returns whether the text is `host` or `host:port`.
fn is_address(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let letter = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c) || (bracketed && ":[]%".contains(c));
    !host.is_empty() && host.chars().all(letter) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|n| n > 0))
}

/// Checks a topic by Kafka's own rule for names.
fn check_topic(table: &Table, topic: &str, findings: &mut Findings) {
    let letter = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if matches!(topic, "" | "." | "..") || topic.len() > TOPIC_CHARS_MAX || !topic.chars().all(letter) {
        let place = if table.get("topic").is_some() { "topic" } else { "name" };
        let message = format!("`{topic}` can't be the name of a topic");
        let hint = format!("write topic = \"...\" with up to {TOPIC_CHARS_MAX} of a-z, A-Z, 0-9, `.`, `_` and `-`");
        findings.mistake(Mistake::new(table.place_of(place), message).with_hint(hint));
    }
}
