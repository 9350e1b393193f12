//! Validates `[[stream]]`.

mod delta;
mod kafka;
mod route;

use std::path::{Path, PathBuf};
use std::time::Duration;

use salver_model::Name;
use salver_model::limits::{LOG_BYTES_MIN, SEGMENT_BYTES};
use salver_model::spec::{DatasetSpec, Pick, StreamSpec};
use salver_model::streams::Ack;

use super::{real_location, sources};
use crate::event_field;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Default directory of everything that must outlive the process.
pub(super) const DATA_DIR: &str = "salver-data";

/// Returns whether the stream creates an entry called `name`.
pub(super) fn has_entry(spec: &StreamSpec, name: &Name) -> bool {
    entries(&spec.name).iter().any(|entry| entry == name.as_str())
}

/// Returns whether a discovered dataset consists of the stream's own files.
pub(super) fn keeps(spec: &StreamSpec, found: &DatasetSpec) -> bool {
    let is_table = |path: &Path| {
        let table = spec.delta.as_ref().map(|delta| real_location::real(&delta.dir));
        table.is_some_and(|table| real_location::real(path).starts_with(table))
    };
    let is_own = |path: &Path| overlap(path, &spec.dir) || is_table(path);
    found.sources.iter().filter_map(|source| sources::as_path(source)).any(is_own)
}

/// Returns the directories that the stream writes to.
fn directories(spec: &StreamSpec) -> impl Iterator<Item = &Path> {
    [Some(spec.dir.as_path()), spec.delta.as_ref().map(|delta| delta.dir.as_path())].into_iter().flatten()
}

/// Returns the names of the entries that a stream called `name` creates: its events, and its quarantine.
fn entries(name: &Name) -> [String; 2] {
    [name.to_string(), format!("{name}_quarantine")]
}

pub(super) fn check_all(
    tables: &[Table],
    data_dir: Option<&Path>,
    datasets: &[DatasetSpec],
    findings: &mut Findings,
) -> Vec<StreamSpec> {
    let mut specs: Vec<StreamSpec> = Vec::new();
    for table in tables {
        let Some(spec) = check(table, data_dir, findings) else { continue };
        let taken = entries(&spec.name).into_iter().find(|entry| {
            datasets.iter().any(|other| other.name.as_str() == entry)
                || specs.iter().any(|other| entries(&other.name).contains(entry))
        });
        if let Some(taken) = taken {
            let message = format!("there is another dataset or stream called `{taken}`");
            let hint = "rename one; a stream `s` has the entries `s` and `s_quarantine`";
            findings.mistake(Mistake::new(table.place_of("name"), message).with_hint(hint));
            continue;
        }
        apart(table, &spec, &specs, findings);
        specs.push(spec);
    }
    specs
}

/// Reports names and directories that a stream would share with others.
fn apart(table: &Table, spec: &StreamSpec, others: &[StreamSpec], findings: &mut Findings) {
    if let Some(delta) = &spec.delta {
        delta::apart(table, spec, delta, others, findings);
    }
    let is_within = |other: &&StreamSpec| directories(other).any(|own| overlap(own, &spec.dir));
    if let Some(other) = others.iter().find(is_within) {
        let message = format!("the directory of `{}` would be in that of `{}`, or the same", spec.name, other.name);
        findings.mistake(Mistake::new(table.place_of("dir"), message).with_hint("give each stream its own `dir`"));
    }
    if let Some(other) = others.iter().find(|other| spec.route.is_some() && other.route == spec.route) {
        let message = format!("`{}` has the same `route`", other.name);
        findings.mistake(Mistake::new(table.place_of("route"), message).with_hint("give one of them another"));
    }
}

/// Returns whether one directory is the other, or inside of it.
fn overlap(one: &Path, other: &Path) -> bool {
    let (one, other) = (real_location::real(one), real_location::real(other));
    one.starts_with(&other) || other.starts_with(&one)
}

fn check(table: &Table, data_dir: Option<&Path>, findings: &mut Findings) -> Option<StreamSpec> {
    let name = name(table, findings);
    let kafka = kafka::check(table, name.as_ref().map(Name::as_str), findings);
    let (disk_bytes_max, segment_bytes) = sizes(table, findings);
    let name = name?;
    let dir = dir(table, &name, data_dir);
    Some(StreamSpec {
        kafka,
        ack: table.text("ack").and_then(Ack::named).unwrap_or_default(),
        key: place_in_event(table, "key", findings),
        id: place_in_event(table, "id", findings),
        time: place_in_event(table, "time", findings),
        dedupe: Duration::from_millis(table.count("dedupe")),
        schema: schema(table, findings),
        retain: retain(table, findings),
        disk_bytes_max,
        segment_bytes,
        delta: delta::check(table, findings),
        route: route::check(table, findings),
        ..StreamSpec::new(name, dir)
    })
}

/// Returns the name; that of its quarantine must be valid too.
fn name(table: &Table, findings: &mut Findings) -> Option<Name> {
    let name = super::name(table, "name", findings)?;
    for entry in entries(&name) {
        let proved = Name::new(&entry).map_err(|error| Mistake::from_error(table.place_of("name"), &error));
        findings.keep(proved)?;
    }
    Some(name)
}

/// Returns `dir`; else a directory in `data_dir`, which is the operator's or beside the configuration file, so that it
/// does not depend on the working directory; without either it does.
fn dir(table: &Table, name: &Name, data_dir: Option<&Path>) -> PathBuf {
    let own = || data_dir.unwrap_or(Path::new(DATA_DIR)).join("streams").join(name.as_str());
    table.text("dir").map_or_else(own, PathBuf::from)
}

fn place_in_event(table: &Table, key: &str, findings: &mut Findings) -> Option<Pick> {
    let text = table.text(key)?;
    findings.keep(event_field::parse(text).map_err(|why| {
        let message = format!("`{text}` says not where the {key} of an event is: {why}");
        let hint = match text.split_once(':') {
            None if !text.starts_with('$') && event_field::is_header(text) => {
                format!("write \"$.{text}\", or \"header:{text}\"")
            }
            _ => format!("write {key} = \"$.user.{key}\" or \"header:X-Name\""),
        };
        Mistake::new(table.place_of(key), message).with_hint(hint)
    }))
}

/// Returns the JSON Schema as text: inline, or read from the named file.
fn schema(table: &Table, findings: &mut Findings) -> Option<String> {
    let text = table.text("schema")?;
    if is_schema(text) {
        return Some(text.to_owned());
    }
    let place = table.place_of("schema");
    let read = std::fs::read(text).map_err(|error| format!("`{text}` can't be read: {error}"));
    let read = read.and_then(|bytes| String::from_utf8(bytes).map_err(|_| format!("`{text}` is not text in UTF-8")));
    let proved = read.and_then(|schema| match is_schema(&schema) {
        true => Ok(schema),
        false => Err(format!("`{text}` is not a JSON Schema: it does not begin with an object")),
    });
    let hint = "name a file with a JSON Schema, or write one: schema = '{ \"type\": \"object\" }'";
    findings.keep(proved.map_err(|why| Mistake::new(place, why).with_hint(hint)))
}

/// Returns whether the text is a JSON Schema and not the path of one.
pub(crate) fn is_schema(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
}

fn retain(table: &Table, findings: &mut Findings) -> Option<Duration> {
    let ms = table.get("retain").map(|_| table.count("retain"))?;
    if ms == 0 {
        let mistake = Mistake::new(table.place_of("retain"), "`retain` is 0: no event would be kept");
        findings.mistake(mistake.with_hint("write retain = \"7d\", or remove it to keep them for ever"));
    }
    Some(Duration::from_millis(ms))
}

/// Returns `disk_bytes_max`, and a `segment_bytes` of which several fit into it.
fn sizes(table: &Table, findings: &mut Findings) -> (Option<u64>, u64) {
    let given = |key| table.get(key).map(|_| table.count(key));
    let (disk, segment) = (given("disk_bytes_max"), given("segment_bytes"));
    for (key, bytes) in [("disk_bytes_max", disk), ("segment_bytes", segment)] {
        if bytes.is_some_and(|bytes| bytes < LOG_BYTES_MIN) {
            let message = format!("`{key}` is at least {LOG_BYTES_MIN} bytes");
            findings.mistake(Mistake::new(table.place_of(key), message).with_hint(format!("write {key} = \"64MiB\"")));
        }
    }
    if let (Some(disk), Some(segment)) = (disk, segment)
        && segment > disk
    {
        let message = format!("`segment_bytes` is more than `disk_bytes_max`, {disk}");
        let hint = "make it an eighth of that, or leave it out";
        findings.mistake(Mistake::new(table.place_of("segment_bytes"), message).with_hint(hint));
    }
    let fitting = disk.map_or(SEGMENT_BYTES, |disk| SEGMENT_BYTES.min((disk / 8).max(LOG_BYTES_MIN)));
    (disk, segment.unwrap_or(fitting))
}
