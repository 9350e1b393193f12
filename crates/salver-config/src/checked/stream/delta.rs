//! Validates where and how a stream is published as a table of Delta Lake.

use std::path::PathBuf;
use std::time::Duration;

use salver_model::limits::PUBLISH_MS_MIN;
use salver_model::spec::{PublishedTable, StreamSpec};

use super::{directories, overlap};
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;
use crate::setting_place::SettingPlace;

/// Settings that only count with `delta`.
const OTHERS: [&str; 2] = ["delta_every", "delta_keep"];

pub(super) fn check(table: &Table, findings: &mut Findings) -> Option<PublishedTable> {
    let Some(text) = table.text("delta") else {
        let is_written = |key: &&str| !matches!(table.place_of(key), SettingPlace::Default);
        for key in OTHERS.into_iter().filter(is_written) {
            let mistake = Mistake::new(table.place_of(key), format!("`{key}` needs `delta`"));
            findings.mistake(mistake.with_hint(format!("write delta = \"lake/clicks\", or remove `{key}`")));
        }
        return None;
    };
    if text.contains("://") {
        let message = format!("`{text}` is not a directory on this machine");
        let hint = "write delta = \"lake/clicks\", and copy the table from there to where it is read";
        findings.mistake(Mistake::new(table.place_of("delta"), message).with_hint(hint));
    }
    let every_ms = table.count("delta_every");
    if every_ms < PUBLISH_MS_MIN {
        let message = format!("`delta_every` is at least {PUBLISH_MS_MIN} milliseconds");
        let hint = "write delta_every = \"1m\"; each time with new events makes a file";
        findings.mistake(Mistake::new(table.place_of("delta_every"), message).with_hint(hint));
    }
    let (every, keep) = (Duration::from_millis(every_ms), Duration::from_millis(table.count("delta_keep")));
    Some(PublishedTable { dir: PathBuf::from(text), every, keep })
}

/// Reports a directory that the table would share with the log of its stream, or with another stream.
pub(super) fn apart(
    table: &Table,
    spec: &StreamSpec,
    delta: &PublishedTable,
    others: &[StreamSpec],
    findings: &mut Findings,
) {
    let shares_log = overlap(&delta.dir, &spec.dir);
    let owner = shares_log
        .then_some(spec)
        .or_else(|| others.iter().find(|other| directories(other).any(|own| overlap(own, &delta.dir))));
    if let Some(owner) = owner {
        let message =
            format!("the table of `{}` would be in a directory of `{}`, or the other way", spec.name, owner.name);
        let hint = "give the table a directory of its own";
        findings.mistake(Mistake::new(table.place_of("delta"), message).with_hint(hint));
    }
}
