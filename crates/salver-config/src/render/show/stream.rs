//! The settings of a stream, in their written form.

use salver_model::spec::{Pick, StreamSpec};
use salver_model::streams::Ack;

use super::{absolute, masked_pairs, pairs_unless_empty, quoted, texts};
use crate::event_field;

/// Returns the value of a setting; `None` when it was not given.
pub(super) fn value(spec: &StreamSpec, key: &str) -> Option<String> {
    let place = |pick: &Option<Pick>| pick.as_ref().map(|pick| quoted(&event_field::render(pick)));
    let ms = |time: std::time::Duration| time.as_millis().to_string();
    let kafka = spec.kafka.as_ref();
    match key {
        "name" => Some(quoted(spec.name.as_str())),
        "sink" => Some(quoted(if kafka.is_some() { "kafka" } else { "log" })),
        "dir" => spec.dir.to_str().map(|path| quoted(&absolute(path))),
        "brokers" => kafka.map(|kafka| texts(&kafka.brokers)),
        "topic" => kafka.map(|kafka| quoted(&kafka.topic)),
        "kafka" => pairs_unless_empty(&masked_pairs(&kafka?.properties)),
        "id_header" => kafka?.id_header.as_deref().map(quoted),
        "ack" => Ack::ALL.iter().find(|(_, ack)| *ack == spec.ack).map(|(word, _)| quoted(word)),
        "key" => place(&spec.key),
        "id" => place(&spec.id),
        "time" => place(&spec.time),
        "dedupe" => Some(ms(spec.dedupe)),
        "schema" => spec.schema.as_deref().map(quoted),
        "retain" => spec.retain.map(ms),
        "disk_bytes_max" => spec.disk_bytes_max.map(|bytes| bytes.to_string()),
        "segment_bytes" => Some(spec.segment_bytes.to_string()),
        "delta" => spec.delta.as_ref()?.dir.to_str().map(|path| quoted(&absolute(path))),
        "delta_every" => spec.delta.as_ref().map(|delta| ms(delta.every)),
        "delta_keep" => spec.delta.as_ref().map(|delta| ms(delta.keep)),
        "route" => spec.route.as_deref().map(quoted),
        _ => None,
    }
}
